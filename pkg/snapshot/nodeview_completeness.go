package snapshot

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"

// Completeness tells whether tables of the node were read whole. Of a node that was
// not probed nothing was.
func (n *NodeView) Completeness(tables ...probes.Table) probes.Completeness {
	if n == nil {
		return (*probes.Facts)(nil).Completeness(tables...)
	}
	return n.Facts.Completeness(tables...)
}
