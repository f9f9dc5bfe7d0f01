package longhorn

import (
	"path"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// placed is a replica with the disk of the node that it lies on.
type placed struct {
	replica *snapshot.LHReplica
	node    *snapshot.LHNode
	disk    *snapshot.LHDisk
	view    *snapshot.NodeView // nil: the node was not probed
}

// placement finds the disk of every replica that was scheduled.
func placement(p *diagnosis.Pass, v *snapshot.Volume) []placed {
	var out []placed
	for _, r := range v.Longhorn.Replicas {
		n := p.LHNode(r.NodeID)
		if n == nil {
			continue
		}
		for i := range n.Disks {
			d := &n.Disks[i]
			if d.UUID != "" && d.UUID == r.DiskID || d.Path != "" && r.DiskPath != "" && path.Clean(d.Path) == path.Clean(r.DiskPath) {
				out = append(out, placed{r, n, d, p.View(r.NodeID)})
				break
			}
		}
	}
	return out
}

// refused tells whether the replica is out of service: failed, or on a volume without
// any usable replica.
func (r placed) refused(v *snapshot.Volume) bool {
	return r.replica.FailedAt != "" || r.replica.CurrentState == "error" || v.Longhorn.Volume.Status.Robustness == "faulted"
}

// narrow keeps a lost replica to what it does to a volume that works with the others:
// it is degraded, and nothing waits for the disk.
func narrow(f *diagnosis.Finding, lh *snapshot.LHVolume) {
	if lh.Status.State == "attached" && lh.Status.Robustness == "degraded" {
		f.Severity = report.Degraded
		f.Explains = []string{"volume-degraded"}
	}
}

// condition returns the status and reason of a condition of the disk.
func (r placed) condition(kind string) (status, reason, message string) {
	c, _ := r.disk.Conditions.Get(kind)
	return c.Status, c.Reason, c.Message
}

// rejected tells whether Longhorn cannot use a disk for another reason than its space,
// by the condition Ready or, where only that one says so, Schedulable. A node that is
// not ready is another cause.
func rejected(d *snapshot.LHDisk) (kind, reason, message string, broken bool) {
	if c, ok := d.Conditions.Get("Ready"); ok && c.Status == "False" && c.Reason != "NodeNotReady" && c.Reason != "KubernetesNodeNotReady" {
		return "Ready", c.Reason, c.Message, true
	}
	if c, ok := d.Conditions.Get("Schedulable"); ok && c.Status == "False" {
		switch c.Reason {
		case "DiskFilesystemChanged", "NoDiskInfo", "DiskNotReady", "DiskServiceUnreachable":
			return "Schedulable", c.Reason, c.Message, true
		}
	}
	return "", "", "", false
}

// mount is the mount that carries the disk's path, from init's table.
func (r placed) mount() *probes.Mount {
	if r.view == nil {
		return nil
	}
	return r.view.Containing(path.Clean(r.disk.Path))
}

// readOnly tells whether the filesystem of the disk cannot be written, and how that
// shows.
func (r placed) readOnly() (string, bool) {
	m := r.mount()
	switch {
	case m == nil:
		return "", false
	case m.HasOption("ro"), m.HasSuper("ro"), m.HasSuper("emergency_ro"):
		return m.Raw, true
	}
	return "", false
}

// diskFile is longhorn-disk.cfg on the disk, which carries its UUID.
func (r placed) diskFile() (probes.File, string, bool) {
	if r.view == nil {
		return probes.File{}, "", false
	}
	name := strings.TrimPrefix(path.Join(r.disk.Path, "longhorn-disk.cfg"), "/")
	f, ok := r.view.Facts.Files[name]
	return f, name, ok
}
