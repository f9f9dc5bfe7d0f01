package longhorn

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// bytes writes a size as a claim would, with the exact number.
func bytes(n int64) string {
	return fmt.Sprintf("%s (%d bytes)", resource.NewQuantity(n, resource.BinarySI).String(), n)
}

// sizesOnNode are the sizes of disk, mapper and filesystem, where a node of the volume
// was probed.
func sizesOnNode(p *diagnosis.Pass, v *snapshot.Volume, lh *snapshot.LHVolume) []report.Evidence {
	have := v.Claim.Status.Capacity[corev1.ResourceStorage]
	var out []report.Evidence
	for _, node := range p.DeviceNodes(v) {
		pl := &evidence.Place{X: p.Index, Volume: v, Node: node, View: p.View(node)}
		out = append(out, disk.SizesOf(pl, have.Value(), lh.Size).Facts...)
	}
	return out
}
