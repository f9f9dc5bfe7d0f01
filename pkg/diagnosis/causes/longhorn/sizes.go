package longhorn

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// bytes writes a size as a claim would, with the exact number.
func bytes(n int64) string {
	return fmt.Sprintf("%s (%d bytes)", resource.NewQuantity(n, resource.BinarySI).String(), n)
}

// sizesOnNode are the sizes of the device and of the filesystem on it, where a node
// of the volume was probed.
func sizesOnNode(p *diagnosis.Pass, v *snapshot.Volume) []report.Evidence {
	var out []report.Evidence
	for _, node := range p.DeviceNodes(v) {
		view := p.View(node)
		d, ok := p.DeviceOn(v, node)
		if view == nil || !ok {
			continue
		}
		if b := view.Device(d.Dev); b != nil {
			out = append(out, diagnosis.FromNode(node, "sys/class/block/"+b.Name+"/size", fmt.Sprintf("%d sectors of 512 bytes", b.Sectors)))
		}
		for _, m := range p.VolumeMounts(v, node) {
			if st, ok := view.Statfs(m.Mount.Point); ok && st.Err == "" {
				out = append(out, diagnosis.FromNode(node, "@statfs"+m.Mount.Point, fmt.Sprintf("%d blocks of %d bytes", st.Blocks, st.BlockSize)))
				break
			}
		}
	}
	return out
}
