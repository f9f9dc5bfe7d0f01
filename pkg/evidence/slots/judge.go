package slots

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// hidden is how many places of a machine its network interfaces usually take.
const hidden = 3

// Full is the judgement whether a node has a place left for a volume.
type Full struct {
	Taken Taken
	Limit string // as published, or "absent"
	How   string // told | others | published | shared | disks | nearly | unpublished
	Is    evidence.Answer
	Sure  evidence.Answer // the backend's word, or the driver's own attachments reach its limit
}

// FullFor weighs the places of a node that are taken, by source, against the limit that
// the driver publishes there, and what the backend says.
func FullFor(pl *evidence.Place, node string) Full {
	x, driver := pl.X, Driver(pl.Volume)
	t := On(x, driver, node, pl.Volume)
	limit, published, fact := Limit(x, driver, node)
	out := Full{Taken: t, Limit: fact.Text, Sure: saidNone(pl, node)}
	whole := evidence.Resources(x, "storage.k8s.io/csinodes", "storage.k8s.io/volumeattachments")
	facts := append([]report.Evidence{fact}, t.Facts()...)
	hangs := Hangs(pl, node).Yes() && t.Count() > 0
	switch own := len(t.Attached); {
	case out.Sure.Yes() && t.Count() > 0:
		out.How = "told"
		if published && t.Count() < limit {
			out.Sure = evidence.All(out.Sure, attacherAgrees(pl, node))
		}
	case published && own >= limit:
		out.How, out.Sure = "published", evidence.Yes(fact)
		if said := saidOther(pl, node); said.Yes() { // the limit may have been lowered under volumes that are attached
			out.Sure = evidence.Unseen(evidence.Lack{Need: "the backend's own word that no place is left", Node: node, Why: "it says something else"})
		}
	case published && t.Count() >= limit:
		out.How = "shared"
	case published && hangs && t.Disks >= limit:
		out.How = "disks"
	case published && hangs && (t.Count() == limit-1 || t.Count() >= limit-hidden && crowded(x, t)):
		out.How = "nearly"
	case !published && hangs && whole.Complete() && crowded(x, t) && t.reaches(x):
		out.How = "unpublished"
	case out.Sure.Yes() && slices.ContainsFunc(out.Sure.Facts(), func(f report.Evidence) bool { return numbered.MatchString(f.Text) }):
		out.How, facts = "others", append(facts, out.Sure.Facts()...)
		out.Sure = evidence.Unseen(evidence.Lack{Need: "what takes the places of node " + node, Node: node, Why: "no volume of the driver is attached there"})
	case !published && saidOther(pl, node).Yes() && crowded(x, t) && t.reaches(x): // a refusal may come without its reason (vsphere-csi-driver issue 2800)
		out.Is = evidence.Unseen(evidence.Lack{Need: "whether node " + node + " has a place left", Node: node,
			Why: fmt.Sprintf("%d volumes of the driver are there, and no limit is published", t.Count())}).With(t.Facts()...)
		return out
	case out.Sure.Yes():
		out.Is = evidence.Unseen(evidence.Lack{Need: "what takes the places of node " + node, Node: node, Why: "no volume of the driver is attached there"}).With(out.Sure.Facts()...)
		return out
	default:
		out.Is = evidence.Not(whole.Nothing())
		return out
	}
	if hangs {
		facts = append(facts, Hangs(pl, node).Facts()...)
	}
	out.Is = evidence.Yes(facts...)
	return out
}

// Room is the judgement on the nodes that a pod without a node could use.
type Room struct {
	Full   []Taken
	Counts []int // besides the volumes that the pod needs
	Limits []int
	How    string // unplaced | uncounted
	Said   evidence.Answer
	Is     evidence.Answer // that the volumes there reach the limits; not seen while they were not all read
	Others evidence.Answer // that no other node is left; not seen while some are
	need   []*snapshot.Volume
}

// RoomFor compares, on every node that the pod and its volume allow, the volumes that are
// or shall be attached there with the published limit. The scheduler counts by itself: where
// the attachments were not read, its word stands for them.
func RoomFor(pl *evidence.Place, pod *corev1.Pod) Room {
	out := Room{How: "unplaced"}
	whole := evidence.Resources(pl.X, "storage.k8s.io/csinodes", "storage.k8s.io/volumeattachments")
	words := ""
	out.need, words, out.Said = without(pl, pod)
	if !out.Said.Yes() {
		return out
	}
	driver := Driver(pl.Volume)
	var facts []report.Evidence
	var other []string
	for _, n := range pl.X.Cluster.Nodes {
		if n == nil || pods.Excludes(pod, n) != "" || !pods.VolumeAllows(pl.Volume, n) {
			continue
		}
		t := On(pl.X, driver, n.Name, out.need...)
		limit, published, fact := Limit(pl.X, driver, n.Name)
		wanted := t.Count() + len(t.Pending)
		short := wanted+len(out.need) <= limit
		if !published || short && whole.Complete() {
			other = append(other, n.Name) // it has room, or does not say
			continue
		}
		out.Full, out.Counts, out.Limits = append(out.Full, t), append(out.Counts, wanted), append(out.Limits, limit)
		if short {
			out.How = "uncounted"
		}
		fact.Text += "; volumes of the driver there: " + fmt.Sprint(wanted)
		facts = append(append(facts, fact), t.Facts()...)
	}
	out.Is, out.Others = evidence.Yes(facts...), evidence.Yes()
	if out.How == "uncounted" {
		out.Is = whole.Nothing(facts...)
	}
	if len(other) > 0 {
		if !severalReasons(words) {
			out.Full = nil
		}
		out.Others = evidence.Unseen(evidence.Lack{Need: fmt.Sprintf("why the scheduler does not take %v", other), Why: "this limit does not exclude them, read its message"})
	}
	return out
}

// Names are the full nodes.
func (r Room) Names() []string {
	return evidence.Each(r.Full, func(t Taken) string { return t.Node })
}

// What the pod needs there, in words.
func (r Room) What(v *snapshot.Volume) string {
	switch _, claim := v.ClaimRef(); {
	case len(r.need) > 1:
		return fmt.Sprintf("%d volumes of it that are not there", len(r.need))
	case v.PVName() == "":
		return "a volume for claim " + claim
	}
	return "volume " + v.PVName()
}
