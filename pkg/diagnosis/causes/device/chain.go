package device

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// nodesOf are the nodes that have or had the volume's device.
func nodesOf(p *diagnosis.Pass, v *snapshot.Volume) []string {
	out := slices.Clone(p.DeviceNodes(v))
	for _, n := range p.OtherNodes(v) {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}
