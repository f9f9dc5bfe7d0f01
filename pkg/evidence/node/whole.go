// Package node says how completely a node was looked at. Every argument that
// something is not on a node goes through it.
package node

import (
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Seen says whether a node was looked at.
func Seen(x *snapshot.Index, node string) evidence.Reading {
	if x.View(node) != nil {
		return evidence.Reading{}
	}
	lack := evidence.Lack{Need: "node/" + node, Node: node, Why: snapshot.NotRequested}
	if g, ok := x.NodeGap(node); ok {
		lack.Why = g.Reason
	}
	return evidence.Partial(lack)
}

// Whole says whether tables of a node were read whole. Of the mounts, a namespace
// that only a bind mount or a descriptor keeps alive is missing, too: no process is
// in it, so the kernel shows its table nowhere.
func Whole(x *snapshot.Index, node string, tables ...probes.Table) evidence.Reading {
	view := x.View(node)
	if view == nil {
		return Seen(x, node)
	}
	var lacks []evidence.Lack
	for _, t := range tables {
		need := "node/" + node + "/" + string(t)
		switch c := view.Completeness(t); {
		case !c.Complete():
			lacks = append(lacks, evidence.Lack{Need: need, Node: node, Why: c.Why()})
		case t == probes.Mounts && view.Init == nil:
			lacks = append(lacks, evidence.Lack{Need: need, Node: node, Why: "the mount table of process 1 was not read"})
		case t == probes.Mounts && len(view.Unread()) > 0:
			lacks = append(lacks, evidence.Lack{Need: need, Node: node, Why: fmt.Sprintf("the tables of %d mount namespaces could not be read", len(view.Unread()))})
		}
	}
	return evidence.Partial(lacks...)
}
