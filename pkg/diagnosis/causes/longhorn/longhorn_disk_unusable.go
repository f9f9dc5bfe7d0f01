package longhorn

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed longhorn_disk_unusable.md
var longhornDiskUnusableDoc string

// DiskUnusable finds replicas on a disk that Longhorn rejects or cannot write.
var DiskUnusable = &diagnosis.Rule{
	Name: "longhorn-disk-unusable", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("longhorn.io/nodes"), diagnosis.API("longhorn.io/replicas"), diagnosis.API("longhorn.io/volumes")},
	Explains: []string{"attach-failed", "volume-degraded", "pod-waiting-for-volume"},
	LeadsTo:  []string{"longhorn-volume-faulted", "longhorn-replica-unschedulable"},
	Doc:      longhornDiskUnusableDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if volumeOf(v) == nil {
				continue
			}
			for _, r := range placement(p, v) {
				if r.refused(v) {
					diskUnusable(p, v, r)
				}
			}
		}
	},
}

func diskUnusable(p *diagnosis.Pass, v *snapshot.Volume, r placed) {
	status, reason, message := r.condition("Ready")
	broken := status == "False" && reason != "NodeNotReady" && reason != "KubernetesNodeNotReady"
	proof, evidence := unusableOnNode(r)
	if !broken && proof == "" {
		return
	}
	c := report.Certain
	if proof == "" || !broken && r.otherDisk() != "" {
		c = report.Likely // Longhorn itself does not reject the disk
	}
	f := p.Find(c, diagnosis.NodeSubject(r.node.Name)).On(v).Located(r.node.Name)
	f.Fact(evidence...)
	if why := managerDown(p, r.node.Name); why != "" && broken {
		f.Missing("that the condition of the disk is of now: longhorn-manager on node " + r.node.Name + " is not ready (" + why + ")")
	}
	said := "Longhorn's own condition of the disk still says Ready."
	if broken {
		said = "Longhorn says: " + strings.TrimSpace(reason+" "+message) + "."
		f.Fact(diagnosis.FromAPI("Node.longhorn.io "+r.node.Name, "status.diskStatus["+r.disk.Name+"].conditions[Ready]", strings.TrimSpace("False "+reason+" "+message)))
	}
	if proof == "" {
		proof = "what is wrong with it on the node was not seen"
		p.Probed(r.node.Name)
		f.NotConfirmed = append(f.NotConfirmed, "the mount and longhorn-disk.cfg of "+r.disk.Path+" on node "+r.node.Name)
	}
	f.Sayf("The Longhorn disk %s on node %s cannot be used: %s. %s Its replica %s of volume %s is out of service.",
		r.disk.Path, r.node.Name, proof, said, r.replica.Name, v.Longhorn.Volume.Name)
	f.Unless("a disk that is mounted read-write at " + r.disk.Path + " and carries the recorded UUID")
	f.Advise(
		remedy.Words("Bring the right disk back at "+r.disk.Path+" on node "+r.node.Name+": mount it, or find out why its filesystem became read-only, check it while nothing uses it, and mount it read-write again. Longhorn then salvages by itself or in the UI."),
		remedy.Words("Delete no replica while this may be the last copy."),
	)
	p.Report(f)
}

// otherDisk tells whether the disk at the replica's path is another one than the
// replica was placed on: such as after its node was created again under its name.
func (r placed) otherDisk() string {
	if r.replica.DiskID == "" || r.disk.UUID == "" {
		return ""
	}
	for _, d := range r.node.Disks {
		if d.UUID == r.replica.DiskID {
			return ""
		}
	}
	return fmt.Sprintf("it has the UUID %s now, and the replica was placed on %s, which the node has no more", r.disk.UUID, r.replica.DiskID)
}

// unusableOnNode looks at the node for what makes the disk unusable: another UUID, a
// missing mount, a read-only filesystem.
func unusableOnNode(r placed) (string, []report.Evidence) {
	if line, ro := r.readOnly(); ro {
		return "its filesystem is read-only", []report.Evidence{diagnosis.FromNode(r.node.Name, "proc/1/mountinfo", line)}
	}
	file, name, ok := r.diskFile()
	if ok && file.Err == "" {
		var cfg struct {
			DiskUUID string `json:"diskUUID"`
		}
		if json.Unmarshal([]byte(file.Content), &cfg) == nil && cfg.DiskUUID != "" && r.disk.UUID != "" && cfg.DiskUUID != r.disk.UUID {
			return fmt.Sprintf("it carries the UUID %s, recorded is %s", cfg.DiskUUID, r.disk.UUID), []report.Evidence{diagnosis.FromNode(r.node.Name, name, strings.TrimSpace(file.Content))}
		}
	}
	if at := r.otherDisk(); at != "" {
		return at, []report.Evidence{diagnosis.FromAPI("Replica "+r.replica.Name, "spec.diskID", r.replica.DiskID),
			diagnosis.FromAPI("Node.longhorn.io "+r.node.Name, "status.diskStatus["+r.disk.Name+"].diskUUID", r.disk.UUID)}
	}
	_, reason, _ := r.condition("Ready")
	if m := r.mount(); reason == "DiskFilesystemChanged" && m != nil && m.Point != path.Clean(r.disk.Path) {
		return "nothing is mounted at its path, which lies on " + m.Point + " now", []report.Evidence{diagnosis.FromNode(r.node.Name, "proc/1/mountinfo", m.Raw)}
	}
	return "", nil
}
