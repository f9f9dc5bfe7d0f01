package diagnosis

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Scope says what a rule is asked about, once each.
type Scope int

// The scopes.
const (
	EachPlace  Scope = iota // a volume on a node where it is, was or is wanted
	EachVolume              // a volume as a whole
	EachNode                // a node as a whole
)

// walk asks a rule about everything in its scope.
func (p *Pass) walk(r *Rule) {
	for _, place := range p.places(r.Asks) {
		for _, proof := range r.Prove(place) {
			if proof != nil {
				p.conclude(place, proof)
			}
		}
	}
}

func (p *Pass) places(s Scope) []*evidence.Place {
	var out []*evidence.Place
	switch s {
	case EachVolume:
		for _, v := range p.Volumes() {
			out = append(out, &evidence.Place{X: p.Index, Volume: v, Texts: p.Texts(v)})
		}
	case EachNode:
		for _, n := range p.Nodes() {
			out = append(out, &evidence.Place{X: p.Index, Node: n, View: p.View(n), Texts: p.TextsOn(n)})
		}
	case EachPlace:
		for _, v := range p.Volumes() {
			for _, n := range p.nodesOf(v) {
				out = append(out, &evidence.Place{X: p.Index, Volume: v, Node: n, View: p.View(n), Texts: textsAt(p.Texts(v), n)})
			}
		}
	}
	return out
}

// nodesOf are the nodes on which a volume is, was or is wanted, the nearest to the
// fault first; for a question about a node only that one.
func (p *Pass) nodesOf(v *snapshot.Volume) []string {
	nodes := append(slices.Clone(p.DeviceNodes(v)), p.OtherNodes(v)...)
	for _, c := range v.Consumers {
		if n := c.Pod.Spec.NodeName; n != "" && !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
	}
	if p.Question.Kind == "node" {
		nodes = slices.DeleteFunc(nodes, func(n string) bool { return n != p.Question.Name })
	}
	return nodes
}

// textsAt leaves out what was said about another node.
func textsAt(all []Text, node string) []Text {
	var out []Text
	for _, t := range all {
		if t.Node == "" || t.Node == node || t.OnNode == node {
			out = append(out, t)
		}
	}
	return out
}
