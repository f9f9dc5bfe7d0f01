package evidence

import (
	"maps"
	"slices"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Place is one volume on one node: what the engine walks and a cause is asked about.
// Node is empty for a volume as a whole (provisioning, binding), Volume is nil for a
// node or a pod as a whole.
type Place struct {
	X      *snapshot.Index
	Volume *snapshot.Volume
	Pod    *corev1.Pod // what is asked about, for a rule that walks pods
	Node   string
	View   *snapshot.NodeView          // nil: the node was not probed
	Near   string                      // the node of the asked pod, if the question is about one
	Swept  bool                        // the question is about nodes: each of them has a cause of its own
	Asked  func(*snapshot.Volume) bool // whether another volume belongs to the question; nil: any may
	Texts  Texts                       // about the volume, newest first; of a Place with a node: those of that node and those of none
	Own    Texts                       // what containers print that have the volume: their owner chose it, so only Felt hears it

	refused  Texts    // of Texts, made when first asked for
	unprobed *Reading // the same for every rule and every place of the node
}

// IsAsked tells whether another volume belongs to the question, so that steps may name its
// pods.
func (p *Place) IsAsked(v *snapshot.Volume) bool { return p.Asked == nil || p.Asked(v) }

// Probed says whether the node of the place was looked at.
func (p *Place) Probed() Reading {
	if p.View != nil {
		return Reading{}
	}
	return p.notProbed()
}

// notProbed is the Reading of a node that was not looked at.
func (p *Place) notProbed() Reading {
	if p.unprobed == nil {
		p.unprobed = p.X.Memo("unprobed/"+p.Node, func() any {
			return &Reading{lacks: []Lack{notProbed(p.X, p.Node)}, made: &[2]atomic.Value{}}
		}).(*Reading)
	}
	return *p.unprobed
}

// AtConsumers are the places of a volume on the nodes of its live pods.
func (p *Place) AtConsumers() []*Place {
	var out []*Place
	seen := map[string]bool{"": true}
	for _, c := range p.Volume.Live() {
		if n := c.Node(); !seen[n] {
			seen[n] = true
			out = append(out, p.On(n))
		}
	}
	return out
}

// AtNodes are the places of a volume on the nodes that were looked at and have or had it, those
// first on which a pod of it waits or ends, and before them that of the asked pod.
func (p *Place) AtNodes() []*Place {
	var first, rest []*Place
	for _, n := range slices.Sorted(maps.Keys(p.X.NodeViews)) {
		if !p.X.Traced(p.Volume, n) {
			continue
		}
		at := p.On(n)
		if n == p.Near {
			first = slices.Insert(first, 0, at)
		} else if slices.ContainsFunc(p.Volume.LiveConsumersOn(n), func(c *snapshot.Consumer) bool { return c.Waiting() || c.Terminating() }) {
			first = append(first, at)
		} else {
			rest = append(rest, at)
		}
	}
	return append(first, rest...)
}

// Nodes are the places on nodes that a question about this one is about: of a volume, unless the question is about
// nodes, all where it is or was.
func (p *Place) Nodes() []*Place {
	if p.Volume != nil && !p.Swept {
		return p.AtNodes()
	}
	return []*Place{p}
}

// On is the place of the volume on a node, without what was said about others.
func (p *Place) On(node string) *Place {
	return &Place{X: p.X, Volume: p.Volume, Node: node, View: p.X.View(node), Near: p.Near, Swept: p.Swept, Asked: p.Asked, Texts: p.Texts.At(node), Own: p.Own.At(node)}
}

// NodePlace is a node as a whole, apart from what was said about it.
func NodePlace(x *snapshot.Index, node string) *Place {
	return &Place{X: x, Node: node, View: x.View(node)}
}

// Refused are the fresh texts of the place that say that a step failed, whatever their words.
func (p *Place) Refused() Texts {
	if p.refused == nil {
		if p.refused = p.Texts.only(func(t Text) bool { return t.Fresh }); p.refused == nil {
			p.refused = Texts{}
		}
	}
	return p.refused
}

// Felt are the fresh texts of the place with what its containers print of the files that they have.
func (p *Place) Felt() Texts {
	own := p.Own.only(func(t Text) bool { return t.Fresh })
	if len(own) == 0 {
		return p.Refused()
	}
	all := slices.Concat(p.Refused(), own)
	slices.SortStableFunc(all, func(a, b Text) int { return b.At.Compare(a.At) })
	return all
}

// Heard parts what was said from what containers print.
func Heard(all Texts) (said, own Texts) {
	if !slices.ContainsFunc(all, func(t Text) bool { return t.OwnWord }) {
		return all, nil
	}
	return all.only(func(t Text) bool { return !t.OwnWord }), all.only(func(t Text) bool { return t.OwnWord })
}

// Published tells whether the node of a consumer shows the mount of the place's volume for it.
func (p *Place) Published(c *snapshot.Consumer) bool {
	return slices.ContainsFunc(p.X.VolumeMounts(p.Volume, c.Node()), func(m snapshot.VolumeMount) bool {
		return snapshot.SameUID(m.Path.PodUID, string(c.Pod.UID))
	})
}

// LogFrom says whether the kernel log of the place's node holds what was said before a moment:
// the ring forgets what is older than its first record, and what led to it.
func (p *Place) LogFrom(at time.Time) Reading {
	r := p.Tables(probes.KernelLog)
	if !r.Complete() || at.IsZero() || slices.ContainsFunc(p.View.Facts.Kernel, func(l probes.KernelLine) bool { return l.At.Before(at) }) {
		return r
	}
	return Partial(Lack{Need: "node/" + p.Node + "/" + string(probes.KernelLog), Node: p.Node, Why: "the kernel log begins after " + at.UTC().Format(time.RFC3339)})
}

// Lacking tells whether a pod waits for the place's volume that no node shows mounted for it.
func (p *Place) Lacking() bool {
	return slices.ContainsFunc(p.Volume.Waiting(), func(c *snapshot.Consumer) bool { return !p.Published(c) })
}

// Resources says whether several resources were read whole.
func Resources(x *snapshot.Index, resources ...string) Reading {
	var out Reading
	for _, r := range resources {
		out = out.And(Resource(x, r))
	}
	return out
}

// VolumePaths are the mounts of the place's volume on its node. Of a place that is a pod,
// they are those of volumes that stand in its own spec; of a place that is a node, those of
// no volume and of no pod that the API knows: who is known is asked as one.
func (p *Place) VolumePaths() []snapshot.VolumeMount {
	switch {
	case p.View == nil:
		return nil
	case p.Volume != nil:
		return p.X.VolumeMounts(p.Volume, p.Node)
	}
	return slices.DeleteFunc(slices.Clone(p.View.VolumePaths()), func(m snapshot.VolumeMount) bool {
		switch {
		case p.X.VolumeOfPath(p.Node, m.Mount.Point) != nil:
			return true
		case p.Pod != nil:
			return !snapshot.SameUID(m.Path.PodUID, string(p.Pod.UID))
		}
		return p.X.PodByUID(m.Path.PodUID) != nil
	})
}
