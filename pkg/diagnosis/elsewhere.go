package diagnosis

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// keepToNode leaves out of a node question what is wrong with a volume that only has
// a replica there, unless it is wrong on that node.
func (p *Pass) keepToNode() {
	if p.Question.Kind != "node" || len(p.scope.stored) == 0 {
		return
	}
	p.findings = slices.DeleteFunc(p.findings, func(f *Finding) bool {
		return !f.touches(p.Question.Name) && p.onlyStored(&f.Keys)
	})
}

// keepHere leaves out of a question about a node what other nodes lack for pods of theirs: a
// volume may be ill there and well here.
func (p *Pass) keepHere() {
	node := p.Question.Name
	if p.Question.Kind != "node" {
		return
	}
	p.findings = slices.DeleteFunc(p.findings, func(f *Finding) bool {
		return f.Subject.Kind == "Node" && len(f.at.list) > 0 && !f.touches(node) && p.othersOnly(&f.Keys, node)
	})
}

// othersOnly tells whether keys name pods, all of them on other nodes, and no volume that a
// pod of this node waits for or is being deleted with. Longhorn's volumes are served by other
// nodes.
func (p *Pass) othersOnly(k *Keys, node string) bool {
	pods := false
	for _, o := range k.objects.list {
		pods = pods || strings.HasPrefix(o, "pod/")
		i, ok := p.scope.byKey[o]
		if !ok {
			continue
		}
		v := p.scope.volumes[i]
		if v.IsLonghorn() || slices.ContainsFunc(v.Consumers, func(c *snapshot.Consumer) bool {
			return c.Node() == node && (c.Waiting() || c.Terminating() || k.objects.has("pod/"+c.Pod.Namespace+"/"+c.Pod.Name))
		}) {
			return false
		}
	}
	return pods
}

// elsewhere tells whether something that nothing explains belongs to another node
// than the asked one: a volume may be well here and ill there.
func (p *Pass) elsewhere(k *Keys) bool {
	return p.Question.Kind == "node" && !k.touches(p.Question.Name) && (len(k.at.list) > 0 || p.onlyStored(k))
}

func (k *Keys) touches(node string) bool {
	return k.at.has(node) || k.nodes.has(node)
}

// onlyStored tells whether all volumes of the keys have no more than a replica on
// the asked node.
func (p *Pass) onlyStored(k *Keys) bool {
	some := false
	for _, o := range k.objects.list {
		if !strings.HasPrefix(o, "volume/") {
			continue
		}
		if !p.scope.stored[o] {
			return false
		}
		some = true
	}
	return some
}
