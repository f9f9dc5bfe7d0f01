package launch

import (
	"cmp"
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Plan is what a run is going to do, before anything is asked of the cluster.
type Plan struct {
	Namespace string
	Targets   []Target
	Gaps      []snapshot.Gap // nodes that no pod can look at
}

// Target is one node with the images that may be tried there.
type Target struct {
	Node   string
	Arch   string   // node.status.nodeInfo.architecture; empty: asked in the pod
	Names  []string // of servers that pods on the node wait for, and that its resolver must know
	images []candidate
}

// NewPlan decides, from what the API said, which nodes are looked at and how.
func NewPlan(x *snapshot.Index, q Question, o Options) Plan {
	p := Plan{Namespace: namespaceOf(x, o)}
	for _, name := range Nodes(x, q) {
		if gap, out := unreachable(x, name); out {
			p.Gaps = append(p.Gaps, gap)
			continue
		}
		t := Target{Node: name, Names: serverNames(x, name), images: images(x, name, p.Namespace, o)}
		if n := x.Node(name); n != nil {
			t.Arch = n.Status.NodeInfo.Architecture
		}
		p.Targets = append(p.Targets, t)
	}
	sortGaps(p.Gaps)
	return p
}

// Image is the image that is tried first on a node.
func (t Target) Image() string {
	if len(t.images) == 0 {
		return DefaultImage
	}
	return t.images[0].Image
}

func sortGaps(gaps []snapshot.Gap) {
	slices.SortStableFunc(gaps, func(a, b snapshot.Gap) int { return cmp.Compare(a.Need, b.Need) })
}
