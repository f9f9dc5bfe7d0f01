package diagnosis

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// WantedHere tells whether somebody waits for the volume's device on a node.
func (p *Pass) WantedHere(v *snapshot.Volume, node string) bool {
	return volume.Awaited(p.Index, v, node)
}

// WantedReleased tells whether a node should let the volume go, and why.
func (p *Pass) WantedReleased(v *snapshot.Volume, node string) (bool, string) {
	a, why := volume.Released(p.Index, v, node)
	return a.Yes(), why
}

// JustReleased tells whether a node has a volume only because its last pod there ended
// a moment ago.
func (p *Pass) JustReleased(v *snapshot.Volume, node string) bool {
	return volume.JustReleased(p.Index, v, node)
}
