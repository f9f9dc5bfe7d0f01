package longhorn

import (
	_ "embed"
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
				if r.refused(v) || doesNotStart(p, v, r) {
					diskUnusable(p, v, r)
				}
			}
			for _, r := range v.Longhorn.Replicas {
				if r.FailedAt != "" || volumeOf(v).Status.Robustness == "faulted" {
					diskGone(p, v, r)
				}
			}
		}
	},
}

// doesNotStart tells whether a replica on a rejected disk has been wanted for longer
// than a start takes: it need not be called failed.
func doesNotStart(p *diagnosis.Pass, v *snapshot.Volume, r placed) bool {
	_, _, _, broken := rejected(r.disk)
	return broken && r.replica.DesireState == "running" && r.replica.CurrentState != "running" && wantedFor(p, v) > patience
}

func diskUnusable(p *diagnosis.Pass, v *snapshot.Volume, r placed) {
	kind, reason, message, broken := rejected(r.disk)
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
		f.Fact(diagnosis.FromAPI("Node.longhorn.io "+r.node.Name, "status.diskStatus["+r.disk.Name+"].conditions["+kind+"]", strings.TrimSpace("False "+reason+" "+message)))
	}
	if proof == "" {
		proof = "what is wrong with it on the node was not seen"
		if _, ok := p.Probed(r.node.Name); ok {
			proof = r.looksRight()
		}
		f.NotConfirmed = append(f.NotConfirmed, "another UUID in longhorn-disk.cfg, a missing mount, or a read-only one at "+r.disk.Path+" on node "+r.node.Name)
	}
	f.Sayf("The Longhorn disk %s on node %s cannot be used: %s. %s Its replica %s of volume %s is out of service.",
		r.disk.Path, r.node.Name, proof, said, r.replica.Name, v.Longhorn.Volume.Name)
	f.Unless("a disk that is mounted read-write at " + r.disk.Path + " and carries the recorded UUID")
	f.Advise(
		remedy.Words("Bring the right disk back at "+r.disk.Path+" on node "+r.node.Name+": mount it, or find out why its filesystem became read-only, check it while nothing uses it, and mount it read-write again. Longhorn then salvages by itself or in the UI."),
		remedy.Words("Delete no replica while this may be the last copy."),
	)
	narrow(f, v.Longhorn.Volume)
	p.Report(f)
}
