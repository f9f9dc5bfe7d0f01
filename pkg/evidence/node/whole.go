// Package node says how completely a node was looked at, for steps that change it:
// every argument that something is not on a node goes through it.
package node

import (
	"fmt"
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Whole says whether tables of a node were read whole. It is stricter than what a
// diagnosis wants: of the mounts, a namespace that only a bind mount or a descriptor
// keeps alive is missing, too, because the kernel shows its table nowhere; and no hole
// is small enough to act over it.
func Whole(x *snapshot.Index, node string, tables ...probes.Table) evidence.Reading {
	whole, view := evidence.Tables(x, node, tables...), x.View(node)
	if view == nil || !slices.Contains(tables, probes.Mounts) {
		return whole
	}
	need := "node/" + node + "/" + string(probes.Mounts)
	switch unread := view.Unread(); {
	case view.Init == nil:
		return whole.And(evidence.Partial(evidence.Lack{Need: need, Node: node, Why: "the mount table of process 1 was not read"}))
	case unread > 0:
		return whole.And(evidence.Partial(evidence.Lack{Need: need, Node: node, Why: fmt.Sprintf("the tables of %d mount namespaces could not be read", unread)}))
	}
	return whole
}
