package diagnosis

import (
	"slices"
	"strings"
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

// elsewhere tells whether something that nothing explains belongs to another node
// than the asked one: a volume may be well here and ill there.
func (p *Pass) elsewhere(k *Keys) bool {
	if p.Question.Kind != "node" || k.touches(p.Question.Name) {
		return false
	}
	return len(k.at.list) > 0 || p.onlyStored(k)
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
