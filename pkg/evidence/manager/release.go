package manager

import (
	"slices"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// release: a node is silent and declared out of service, and the volume is still attached there. The manager ends the
// pods that are to go there (gcTerminating in pkg/controller/podgc, every 20 s) and detaches without waiting for the
// node (pkg/controller/volume/attachdetach/reconciler). A pod with a finalizer stays, and keeps its volume.
func release(pl *evidence.Place) (Idle, bool) {
	waits := slices.IndexFunc(pl.Volume.Waiting(), func(c *snapshot.Consumer) bool {
		return c.Node() != "" && pl.X.Age(c.Pod.CreationTimestamp.Time) >= patience
	})
	if pl.Volume.Claim == nil || waits < 0 || pl.X.Server != "" && !node.ServerAtLeast(pl.X, 1, 26) {
		return Idle{}, false
	}
	for _, va := range pl.Volume.Attachments {
		n := pl.X.Node(va.Spec.NodeName)
		taint, r := node.Taint(n, node.OutOfService), pl.X.NodeReady(va.Spec.NodeName)
		if va.DeletionTimestamp != nil || !va.Status.Attached || taint == nil || !r.Known || r.Ready || pl.X.Age(r.Since) < patience || !released(pl, n.Name) {
			continue
		}
		i := Idle{Says: "release", Node: n.Name, Pod: pl.Volume.Waiting()[waits].Pod, Undated: taint.TimeAdded == nil}
		if !i.Undated {
			if i.Age = pl.X.Age(taint.TimeAdded.Time); i.Age < patience {
				continue
			}
		}
		i.State = []evidence.Answer{
			pl.Consumers().Nothing(),
			evidence.Yes(evidence.FromAPI("Node "+n.Name, "spec.taints", node.OutOfService),
				evidence.FromAPI("Node "+n.Name, "status.conditions[Ready]", r.Status()+" since "+r.Since.UTC().Format(time.RFC3339)),
				evidence.FromAPI("VolumeAttachment "+va.Name, "spec.nodeName", n.Name)),
		}
		return i, true
	}
	return Idle{}, false
}

// released tells whether nothing on a silent node keeps the manager from taking the volume: every pod of it there was told
// to end, has had its time and two minutes more, and has no finalizer.
func released(pl *evidence.Place, on string) bool {
	return !slices.ContainsFunc(pl.Volume.LiveConsumersOn(on), func(c *snapshot.Consumer) bool {
		return len(c.Pod.Finalizers) > 0 || !pods.Overdue(pl.X, c.Pod) || pl.X.Age(c.Pod.DeletionTimestamp.Time) < patience
	})
}
