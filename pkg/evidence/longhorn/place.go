package longhorn

import (
	"path"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// OnDisk is a Longhorn disk of a node, with the replica of the volume that lies on it, or
// without one where a replica of it could go there.
type OnDisk struct {
	Replica *snapshot.LHReplica
	Node    *snapshot.LHNode
	Disk    *snapshot.LHDisk
	View    *snapshot.NodeView // nil: the node was not probed
	x       *snapshot.Index
}

// Placement finds the disk of every replica of a volume that was scheduled.
func Placement(x *snapshot.Index, v *snapshot.Volume) []OnDisk {
	var out []OnDisk
	for _, r := range v.Longhorn.Replicas {
		n := x.LHNode(r.NodeID)
		if n == nil {
			continue
		}
		for i := range n.Disks {
			d := &n.Disks[i]
			if d.UUID != "" && d.UUID == r.DiskID || d.Path != "" && r.DiskPath != "" && path.Clean(d.Path) == path.Clean(r.DiskPath) {
				out = append(out, OnDisk{r, n, d, x.View(r.NodeID), x})
				break
			}
		}
	}
	return out
}

// DisksOf are the disks of a node, whoever uses them.
func DisksOf(x *snapshot.Index, node string) []OnDisk {
	n := x.LHNode(node)
	if n == nil {
		return nil
	}
	var out []OnDisk
	for i := range n.Disks {
		out = append(out, OnDisk{Node: n, Disk: &n.Disks[i], View: x.View(node), x: x})
	}
	return out
}

// OutOfService asks whether the replica on a disk failed, is on a volume without any
// usable one, or has been wanted for longer than a start takes and does not run.
func (o OnDisk) OutOfService(x *snapshot.Index, v *snapshot.Volume) evidence.Answer {
	r, name := o.Replica, "Replica "+o.Replica.Name
	switch {
	case r.FailedAt != "":
		return evidence.Yes(evidence.FromAPI(name, "spec.failedAt", r.FailedAt))
	case r.CurrentState == "error" || v.LH().Status.Robustness == "faulted":
		return evidence.Yes(evidence.FromAPI(name, "status.currentState", OrNone(r.CurrentState)+", volume "+OrNone(v.LH().Status.Robustness)))
	case o.rejected() && r.DesireState == "running" && r.CurrentState != "running" && WantedFor(x, v) > patience:
		return evidence.Yes(evidence.FromAPI(name, "status.currentState", OrNone(r.CurrentState)+", wanted is running"))
	}
	return evidence.No()
}

func (o OnDisk) rejected() bool { return o.Rejected().Yes() }

// rejection is the condition by which Longhorn cannot use a disk for another reason than
// its space: Ready or, where only that one says so, Schedulable. A node that is not ready
// is another cause.
func rejection(d *snapshot.LHDisk) (snapshot.Condition, bool) {
	if c, ok := d.Conditions.Get("Ready"); ok && c.Status == "False" && c.Reason != "NodeNotReady" && c.Reason != "KubernetesNodeNotReady" {
		return c, true
	}
	if c, ok := d.Conditions.Get("Schedulable"); ok && c.Status == "False" {
		switch c.Reason {
		case "DiskFilesystemChanged", "NoDiskInfo", "DiskNotReady", "DiskServiceUnreachable":
			return c, true
		}
	}
	return snapshot.Condition{}, false
}

// Rejected asks whether Longhorn rejects the disk.
func (o OnDisk) Rejected() evidence.Answer {
	c, ok := rejection(o.Disk)
	return evidence.When(ok, o.condition(c))
}

// Says is the reason and message of the condition by which the disk is rejected, or empty.
func (o OnDisk) Says() string {
	c, _ := rejection(o.Disk)
	return strings.TrimSpace(c.Reason + " " + c.Message)
}

// Pressed asks whether Longhorn holds the disk for too full.
func (o OnDisk) Pressed() evidence.Answer {
	c, _ := o.Disk.Conditions.Get("Schedulable")
	return evidence.When(c.Status == "False" && c.Reason == "DiskPressure", o.condition(c))
}

func (o OnDisk) condition(c snapshot.Condition) report.Evidence {
	return evidence.FromAPI("Node.longhorn.io "+o.Node.Name, "status.diskStatus["+o.Disk.Name+"].conditions["+c.Type+"]", strings.TrimSpace(c.Status+" "+c.Reason+" "+c.Message))
}

// Current asks whether what Longhorn says of the disks of a node is of now: its manager
// there writes it.
func (o OnDisk) Current() evidence.Answer {
	if c, ok := o.Node.Conditions.Get("Ready"); ok && c.Status == "False" {
		return evidence.Unseen(evidence.Lack{Need: "api/longhorn.io/nodes", Node: o.Node.Name,
			Why: "that the condition of the disk is of now: longhorn-manager on node " + o.Node.Name + " is not ready (" + c.Reason + ")"})
	}
	return evidence.Yes()
}
