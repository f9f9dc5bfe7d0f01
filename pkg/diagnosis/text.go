package diagnosis

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Text is something that a component said about a volume.
type Text = evidence.Text

// Texts returns everything that was said about a volume, newest first.
func (p *Pass) Texts(v *snapshot.Volume) []Text { return p.texts.of(v) }

// TextsOn returns what was said about the volumes of the question and speaks of a
// node, in the order of the volumes.
func (p *Pass) TextsOn(node string) []Text {
	if p.texts.byNode == nil {
		p.texts.byNode = map[string][]Text{}
		for _, v := range p.Volumes() {
			for _, t := range p.Texts(v) {
				if t.Node != "" {
					p.texts.byNode[t.Node] = append(p.texts.byNode[t.Node], t)
				}
				if t.OnNode != t.Node && t.OnNode != "" {
					p.texts.byNode[t.OnNode] = append(p.texts.byNode[t.OnNode], t)
				}
			}
		}
	}
	return p.texts.byNode[node]
}
