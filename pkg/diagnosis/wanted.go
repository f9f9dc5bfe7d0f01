package diagnosis

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// WantedReleased tells whether a node should let the volume go, and why.
func (p *Pass) WantedReleased(v *snapshot.Volume, node string) (bool, string) {
	a, why := volume.Released(p.Index, v, node)
	return a.Yes(), why
}
