package transport

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/iscsi"
)

// longhornIQN begins the name of every target of Longhorn's v1 engine.
const longhornIQN = "iqn.2019-10.io.longhorn:"

// iscsiTexts are the fresh texts of a node that speak of iSCSI, newest first.
func iscsiTexts(p *diagnosis.Pass, node string) []diagnosis.Text {
	return iscsi.Said(&evidence.Place{X: p.Index, Node: node, View: p.View(node), Texts: slices.Clone(p.TextsOn(node))})
}
