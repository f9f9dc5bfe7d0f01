package longhorn

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// GoneRef is a field of a Longhorn object that names a node whose Node object is gone.
type GoneRef struct {
	Node, Object, Field string
	Essential           bool // the volume cannot proceed without that node: not a mere replica
	Volume              *snapshot.Volume
}

// GoneRefs are those of the place's volume; of a missing node, who still names it.
func GoneRefs(pl *evidence.Place) []GoneRef {
	if pl.Volume != nil {
		return goneRefs(pl.X, pl.Volume)
	}
	var out []GoneRef
	for _, v := range pl.X.Volumes {
		out = append(out, evidence.Keep(goneRefs(pl.X, v), func(r GoneRef) bool { return r.Node == pl.Node })...)
	}
	return out
}

// goneRefs lists what of a Longhorn volume that is stuck points at missing nodes. A volume
// that is attached, or rests detached, is not held up by such a leftover.
func goneRefs(x *snapshot.Index, v *snapshot.Volume) []GoneRef {
	vol := v.LH()
	if vol == nil || !onItsWay(x, v) {
		return nil
	}
	var out []GoneRef
	note := func(node, object, field string, essential bool) {
		if node != "" && x.Node(node) == nil {
			out = append(out, GoneRef{node, object, field, essential, v})
		}
	}
	note(vol.NodeID, "Volume "+vol.Name, "spec.nodeID", true)
	note(vol.Status.CurrentNodeID, "Volume "+vol.Name, "status.currentNodeID", true)
	if reads, known := readsPendingNode(x.LonghornVersion()); reads || !known {
		note(vol.Status.PendingNodeID, "Volume "+vol.Name, "status.pendingNodeID", known)
	}
	note(vol.Status.OwnerID, "Volume "+vol.Name, "status.ownerID", true)
	for _, t := range v.Tickets() {
		note(t.NodeID, "VolumeAttachment.longhorn.io "+v.Longhorn.Attachment.Name, "spec.attachmentTickets["+t.ID+"].nodeID", true)
	}
	for _, e := range v.Longhorn.Engines {
		note(e.NodeID, "Engine "+e.Name, "spec.nodeID", true)
	}
	for _, r := range v.Longhorn.Replicas {
		if r.FailedAt == "" { // a failed replica is not started, so its node is not needed
			note(r.NodeID, "Replica "+r.Name, "spec.nodeID", onlyReplicaMissing(x, v, r))
		}
	}
	return out
}

// readsPendingNode tells whether Longhorn of a version may wait for status.pendingNodeID
// itself. In 1.5.0 to 1.5.4 the field blocks whichever node it names, and later nobody
// reads it: there the missing node is not what holds the volume up.
func readsPendingNode(version string) (reads, known bool) {
	var major, minor int
	if n, err := fmt.Sscanf(strings.TrimPrefix(version, "v"), "%d.%d", &major, &minor); n < 2 || err != nil {
		return false, false
	}
	return major < 1 || major == 1 && minor < 5, true
}

// onlyReplicaMissing tells whether a replica is wanted and does not run, while every
// other usable one on an existing node runs: then nothing else holds the volume up.
func onlyReplicaMissing(x *snapshot.Index, v *snapshot.Volume, r *snapshot.LHReplica) bool {
	if r.DesireState != "running" || r.CurrentState == "running" {
		return false
	}
	return !slices.ContainsFunc(v.Longhorn.Replicas, func(o *snapshot.LHReplica) bool {
		return o != r && o.FailedAt == "" && x.Node(o.NodeID) != nil && o.CurrentState != "running"
	})
}

// onItsWay tells whether the volume shall come or go and does not arrive.
func onItsWay(x *snapshot.Index, v *snapshot.Volume) bool {
	switch v.LH().Status.State {
	case "attaching", "detaching":
		return true
	case "attached":
		return x.Node(v.LH().Status.CurrentNodeID) == nil && len(v.Waiting()) > 0
	}
	for _, va := range v.Attachments {
		if va.Status.AttachError != nil || va.Status.DetachError != nil || va.DeletionTimestamp != nil {
			return true
		}
	}
	const patience = 2 * time.Minute
	return slices.ContainsFunc(v.Waiting(), func(c *snapshot.Consumer) bool {
		return c.Node() != "" && x.Age(c.Pod.CreationTimestamp.Time) > patience
	})
}

// Gone asks whether no Node has the name that the reference gives. Where that list was not read whole, Longhorn's own
// word for it counts, until the list is.
func (r GoneRef) Gone(x *snapshot.Index) (gone, listed evidence.Answer) {
	v := r.Volume.LH()
	facts := []report.Evidence{evidence.FromAPI(r.Object, r.Field, r.Node), evidence.FromAPI("Volume "+v.Name, "status.state", v.Status.State)}
	c, ok := r.condition(x)
	if ok {
		facts = append(facts, evidence.FromAPI("Node.longhorn.io "+r.Node, "status.conditions[Ready]", strings.TrimSpace(c.Status+" "+c.Reason+" "+c.Message)))
	}
	listed = evidence.Resource(x, "/nodes").Nothing(evidence.FromAPI("Nodes", "", "collected; none is named "+r.Node))
	if c.Reason == "KubernetesNodeGone" || listed.Yes() {
		return evidence.Yes(facts...), listed
	}
	return listed, listed
}

// Needed asks whether Longhorn waits for the object on the missing node. Which other
// replicas run tells it of a replica.
func (r GoneRef) Needed(x *snapshot.Index) evidence.Answer {
	if !r.Essential {
		return evidence.Unseen(evidence.Lack{Need: "that Longhorn waits for " + r.Object + " on the missing node", Node: r.Node, Why: "nothing says so"})
	}
	if strings.HasPrefix(r.Object, "Replica ") {
		return evidence.Resource(x, "longhorn.io/replicas").Nothing()
	}
	return evidence.Yes()
}

func (r GoneRef) condition(x *snapshot.Index) (snapshot.Condition, bool) {
	n := x.LHNode(r.Node)
	if n == nil {
		return snapshot.Condition{}, false
	}
	c, ok := n.Conditions.Get("Ready")
	return c, ok && c.Status != "True"
}

// Known says what Longhorn itself has of the node.
func (r GoneRef) Known(x *snapshot.Index) string {
	switch c, ok := r.condition(x); {
	case x.LHNode(r.Node) == nil && !evidence.Resource(x, "longhorn.io/nodes").Complete():
		return "Whether Longhorn has a node object of that name could not be read."
	case x.LHNode(r.Node) == nil:
		return "Longhorn has no node object of that name either."
	case ok && c.Reason == "KubernetesNodeGone":
		return "Longhorn's own object of the node still exists and says KubernetesNodeGone."
	}
	return "Longhorn's own object of the node still exists."
}

// Reconciler is who brings the volume up to date, in words.
func (r GoneRef) Reconciler(x *snapshot.Index) string {
	owner := r.Volume.LH().Status.OwnerID
	if x.Node(owner) == nil {
		return "the longhorn-manager pods, one of which takes over a volume whose owner is gone"
	}
	return "the longhorn-manager pod on node " + owner + ", which reconciles this volume"
}
