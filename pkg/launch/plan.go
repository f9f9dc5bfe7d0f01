package launch

import (
	"cmp"
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Plan is what a run is going to do, before anything is asked of the cluster.
type Plan struct {
	Place   Place // where the pods run, and why there
	Targets []Target
	Gaps    []snapshot.Gap // nodes that no pod can look at
}

// Target is one node with the images that may be tried there.
type Target struct {
	Node    string
	Arch    string  // node.status.nodeInfo.architecture; empty: asked in the pod
	Servers         // of volumes that pods on the node wait for
	Images  []Image // best first
}

// NewPlan decides, from what the API said, which nodes are looked at and how.
func NewPlan(x *snapshot.Index, q Question, o Options) Plan {
	place, refused := placeOf(x, o)
	p := Plan{Place: place}
	asked := volumesOf(x, q)
	for _, name := range Nodes(x, q) {
		if gap, out := unreachable(x, name); out {
			p.Gaps = append(p.Gaps, gap)
			continue
		}
		if refused != nil {
			p.Gaps = append(p.Gaps, snapshot.Gap{Need: "node/" + name, Reason: snapshot.PodRejected, Detail: clean("no probe pod is made: " + refused.Error())})
			continue
		}
		t := Target{Node: name, Servers: servers(x, name, asked), Images: images(x, name, place.Namespace, o)}
		if len(t.Images) == 0 {
			p.Gaps = append(p.Gaps, snapshot.Gap{Need: "node/" + name, Reason: snapshot.ImagePull, Detail: noImage})
			continue
		}
		if n := x.Node(name); n != nil {
			t.Arch = n.Status.NodeInfo.Architecture
		}
		p.Targets = append(p.Targets, t)
	}
	sortGaps(p.Gaps)
	return p
}

const noImage = "no image is known by its digest that belongs to the cluster's own storage and runs on this node, " +
	"and this build names no default image by its digest (way out: --probe-image)"

func sortGaps(gaps []snapshot.Gap) {
	slices.SortStableFunc(gaps, func(a, b snapshot.Gap) int { return cmp.Compare(a.Need, b.Need) })
}
