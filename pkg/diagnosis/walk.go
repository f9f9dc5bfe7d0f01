package diagnosis

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Scope says what a rule is asked about, once each. Scopes may be joined (|); a rule
// that names none is asked about every place.
type Scope int

// The scopes.
const (
	EachPlace     Scope = 1 << iota // a volume on a node where it is, was or is wanted
	EachVolume                      // a volume as a whole
	EachNode                        // a node as a whole
	EachSweptNode                   // a node as a whole, for questions about nodes only: what no volume suffers from
	EachPod                         // a pod of the question, with or without persistent volumes
	EachSweep                       // once a question about nodes; the node is that of the question, or none for the whole cluster
)

// walk asks a rule about everything in its scope.
func (p *Pass) walk(r *Rule) {
	var places []*evidence.Place
	p.survive(r.Name, func() { places = p.placed(r.Asks, func() []*evidence.Place { return p.places(r.Asks) }) })
	for some := range slices.Chunk(places, atOnce) {
		p.proofs = prove(r, some, p.proofs)
		for i, made := range p.proofs {
			p.lose(r.Name, made.err)
			p.survive(r.Name, func() {
				for _, proof := range made.proofs {
					if proof != nil {
						p.conclude(some[i], proof)
					}
				}
			})
		}
	}
}

// places are those of a scope that can have the running rule's cause. Each is made once:
// every rule is asked about the same ones.
func (p *Pass) places(s Scope) []*evidence.Place {
	var out []*evidence.Place
	if s&EachPod != 0 {
		out = append(out, p.placed(EachPod, p.podPlaces)...)
	}
	if s&EachVolume != 0 {
		for _, v := range p.Volumes() {
			out = append(out, p.placesOf(v).whole)
		}
	}
	if s&EachNode != 0 || s&EachSweptNode != 0 && p.sweepsNodes() {
		out = append(out, p.placed(EachNode, p.nodePlaces)...)
	}
	if s&EachSweep != 0 && p.sweepsNodes() {
		out = append(out, p.placed(EachSweep, p.sweepPlace)...)
	}
	if s&EachPlace != 0 || s == 0 {
		for _, v := range p.Volumes() {
			at := p.placesOf(v)
			for i, place := range at.nodes {
				if p.rule == nil || p.rule.can(at.kinds[i]) {
					out = append(out, place)
				}
			}
		}
	}
	return out
}

// placed keeps the places of a scope: they are the same for rules that are asked about the
// same volumes.
func (p *Pass) placed(s Scope, find func() []*evidence.Place) []*evidence.Place {
	of := placesFor{scope: s}
	if p.rule != nil && (s == 0 || s&(EachPod|EachVolume|EachPlace) != 0) {
		of.kinds, of.stored = p.rule.bears(), p.rule.Layer == Longhorn
	}
	places, ok := p.placesIn[of]
	if !ok {
		places = slices.Clip(find())
		for _, same := range p.placesIn { // a list for each kind of disk in a cluster of one kind is 27 times the same
			if slices.Equal(same, places) {
				places = same
				break
			}
		}
		p.placesIn[of] = places
	}
	return places
}

// placesFor are a scope and what decides which volumes it has.
type placesFor struct {
	scope  Scope
	kinds  volume.Kind
	stored bool
}

func (p *Pass) podPlaces() []*evidence.Place {
	var out []*evidence.Place
	for _, pod := range p.pods() {
		at, ok := p.podPlace[pod]
		if !ok {
			at = &evidence.Place{X: p.Index, Swept: p.sweepsNodes(), Pod: pod, Node: pod.Spec.NodeName, View: p.View(pod.Spec.NodeName)}
			at.Texts, at.Own = evidence.Heard(p.PodTexts(pod))
			p.podPlace[pod] = at
		}
		out = append(out, at)
	}
	return out
}

func (p *Pass) nodePlaces() []*evidence.Place {
	var out []*evidence.Place
	for _, n := range p.Nodes() {
		out = append(out, &evidence.Place{X: p.Index, Swept: p.sweepsNodes(), Node: n, View: p.View(n)})
		at := out[len(out)-1]
		at.Texts, at.Own = evidence.Heard(p.TextsOn(n))
	}
	return out
}

func (p *Pass) sweepPlace() []*evidence.Place {
	place := &evidence.Place{X: p.Index}
	if p.Question.Kind == "node" {
		place.Node, place.View = p.Question.Name, p.View(p.Question.Name)
	}
	return []*evidence.Place{place}
}

// volumePlaces are the places of a volume: as a whole, and on each of its nodes with what
// it is there.
type volumePlaces struct {
	whole *evidence.Place
	nodes []*evidence.Place
	kinds []volume.Kind
}

func (p *Pass) placesOf(v *snapshot.Volume) *volumePlaces {
	at, ok := p.placesBy[v]
	if !ok {
		at = &volumePlaces{whole: &evidence.Place{X: p.Index, Swept: p.sweepsNodes(), Asked: p.InScope, Volume: v}}
		if pod := p.Pod(p.Question.Namespace, p.Question.Name); p.Question.Kind == "pod" && pod != nil {
			at.whole.Near = pod.Spec.NodeName
		}
		at.whole.Texts, at.whole.Own = evidence.Heard(p.Texts(v))
		for _, n := range p.findNodes(v) {
			at.nodes = append(at.nodes, at.whole.On(n))
			at.kinds = append(at.kinds, p.kindOf(v).At(p.Index, v, n))
		}
		p.placesBy[v] = at
	}
	return at
}

// findNodes lists the nodes on which a volume is, was or is wanted, the nearest to the fault
// first, and last those of which only what was probed tells: a pod that was deleted by force
// leaves a device or a mount and no trace of it in the API. For a question about a node it
// is only that one.
func (p *Pass) findNodes(v *snapshot.Volume) []string {
	nodes := append(slices.Clone(p.DeviceNodes(v)), p.OtherNodes(v)...)
	for _, c := range v.Consumers {
		if n := c.Pod.Spec.NodeName; n != "" && !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(p.NodeViews)) {
		if slices.Contains(nodes, n) || p.Question.Kind == "node" && n != p.Question.Name {
			continue
		}
		if d, ok := p.DeviceOn(v, n); ok && d.Proven || len(p.VolumeMounts(v, n)) > 0 || len(p.MapsOf(v, n)) > 0 {
			nodes = append(nodes, n)
		}
	}
	if p.Question.Kind == "node" {
		if !slices.Contains(nodes, p.Question.Name) && p.Traced(v, p.Question.Name) {
			nodes = append(nodes, p.Question.Name) // a mount that was left there, of which the API knows nothing
		}
		nodes = slices.DeleteFunc(nodes, func(n string) bool { return n != p.Question.Name })
	}
	return nodes
}

// pods are those of the question, each once: consumers of its volumes, the asked pod,
// and in a sweep every pod of the nodes.
func (p *Pass) pods() []*corev1.Pod {
	var out []*corev1.Pod
	seen := map[*corev1.Pod]bool{}
	put := func(list ...*corev1.Pod) {
		for _, pod := range list {
			if pod != nil && !seen[pod] {
				seen[pod] = true
				out = append(out, pod)
			}
		}
	}
	for _, v := range p.inQuestion() { // what a pod suffers from may be of another volume's kind
		for _, c := range v.Consumers {
			put(c.Pod)
		}
	}
	switch p.Question.Kind {
	case "pod":
		put(p.Pod(p.Question.Namespace, p.Question.Name))
	case "node":
		put(p.PodsOn(p.Question.Name)...)
	case "cluster":
		if ns := p.Question.Namespace; ns != "" {
			put(p.PodsIn(ns)...)
		} else {
			put(p.Cluster.Pods...)
		}
	}
	return out
}
