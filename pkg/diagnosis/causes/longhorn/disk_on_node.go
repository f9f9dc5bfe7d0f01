package longhorn

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

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
	if ok && file.Err == "" {
		return "", nil // the recorded disk lies there
	}
	_, reason, _, broken := rejected(r.disk)
	m := r.mount()
	if !broken || m == nil {
		return "", nil
	}
	facts := []report.Evidence{diagnosis.FromNode(r.node.Name, "proc/1/mountinfo", m.Raw)}
	if line := r.fstab(m.Point); line != "" {
		return "etc/fstab mounts a filesystem there, which is not mounted: the path lies on " + m.Point + " now", append(facts, diagnosis.FromNode(r.node.Name, "etc/fstab", line))
	}
	if reason == "DiskFilesystemChanged" && slices.Contains(systemMounts, m.Point) {
		return "nothing is mounted at its path, which lies on " + m.Point + " now", facts
	}
	return "", nil
}

// systemMounts are filesystems of the machine itself: a disk of its own that lies on
// one of them now was not mounted.
var systemMounts = []string{"/", "/var", "/var/lib", "/mnt", "/data", "/srv"}

// fstab is the line that mounts a filesystem at the disk's path or above it, but below
// the mount that carries the path now.
func (r placed) fstab(carrier string) string {
	at := path.Clean(r.disk.Path)
	for _, line := range strings.Split(r.view.Facts.Files["etc/fstab"].Content, "\n") {
		f := strings.Fields(line)
		if len(f) < 3 || strings.HasPrefix(f[0], "#") || !path.IsAbs(f[1]) {
			continue
		}
		if point := path.Clean(f[1]); len(point) > len(carrier) && (at == point || strings.HasPrefix(at, point+"/")) {
			return line
		}
	}
	return ""
}

// looksRight says what was seen of a disk on its node that explains nothing.
func (r placed) looksRight() string {
	file, _, ok := r.diskFile()
	m := r.mount()
	switch {
	case ok && file.Err == "" && m != nil:
		return "on the node it carries the recorded UUID and is writable, so the condition may be an old one"
	case m != nil:
		return "no longhorn-disk.cfg was seen at its path, which lies on the filesystem of " + m.Point
	}
	return "its mount was not seen on the node"
}

// diskGone finds a failed replica whose disk its node does not have any more, under no
// UUID and no path: such as after the node was created again under its name.
func diskGone(p *diagnosis.Pass, v *snapshot.Volume, r *snapshot.LHReplica) {
	n := p.LHNode(r.NodeID)
	if n == nil || r.DiskID == "" || len(n.Disks) == 0 {
		return
	}
	var have []string
	for _, d := range n.Disks {
		if d.UUID == "" || d.UUID == r.DiskID || r.DiskPath != "" && path.Clean(d.Path) == path.Clean(r.DiskPath) {
			return
		}
		have = append(have, d.UUID+" ("+d.Path+")")
	}
	f := p.Find(report.Likely, diagnosis.NodeSubject(n.Name)).On(v).Located(n.Name)
	again := ""
	if k := p.Node(n.Name); k != nil && k.CreationTimestamp.After(n.CreationTimestamp.Time) && !n.CreationTimestamp.IsZero() {
		again = " The Node object is younger than Longhorn's: the machine was registered again under its name."
		f.Fact(diagnosis.FromAPI("Node "+n.Name, "metadata.creationTimestamp", k.CreationTimestamp.UTC().Format(time.RFC3339)))
	}
	f.Sayf("The Longhorn disk %s (%s), on which replica %s of volume %s lies, is none of the disks of node %s any more, which are %s.%s",
		r.DiskID, none(r.DiskPath), r.Name, v.Longhorn.Volume.Name, n.Name, strings.Join(have, ", "), again)
	f.Fact(diagnosis.FromAPI("Replica "+r.Name, "spec.diskID", r.DiskID), diagnosis.FromAPI("Node.longhorn.io "+n.Name, "status.diskStatus[].diskUUID", strings.Join(have, ", ")))
	p.Probed(n.Name)
	f.NotConfirmed = append(f.NotConfirmed, "where the replica's directory lies on node "+n.Name+" now")
	f.Unless("a disk of node " + n.Name + " with the UUID " + r.DiskID)
	f.Advise(
		remedy.Words("Look on node "+n.Name+" for the replica's directory "+none(r.DataDirectory)+". Where it still lies under a disk path, restore the old UUID in longhorn-disk.cfg of that path and add the disk again; else let the replicas be rebuilt from the others."),
		remedy.Words("Delete no replica while this may be the last copy."),
	)
	narrow(f, v.Longhorn.Volume)
	p.Report(f)
}
