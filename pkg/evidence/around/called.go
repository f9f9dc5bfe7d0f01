package around

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Called is a process of a node that was called for a mount point of the volume and waits inside the kernel, as
// umount(8) of one that is frozen or whose server is silent; nil: none.
func Called(x *snapshot.Index, v *snapshot.Volume, node string) *probes.Process {
	return evidence.First(x.View(node).Processes(), func(p *probes.Process) bool {
		return p.State == "D" && slices.ContainsFunc(x.VolumeMounts(v, node), func(m snapshot.VolumeMount) bool { return slices.Contains(p.Cmdline, m.Mount.Point) })
	})
}
