package symptom

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/filesystem"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// standsStill takes a device of the volume that lets nothing through: a mapping that is
// suspended (dmsetup suspend freezes the filesystem above it, too), or a multipath map
// without a path, which keeps what is written in a queue or refuses it. Nobody needs to
// have noticed yet.
func standsStill(p *diagnosis.Pass, v *snapshot.Volume) {
	for _, view := range p.Views() {
		d, ok := p.DeviceOn(v, view.Name)
		if !ok {
			continue
		}
		if pool, closed := filesystem.PoolBelow(view, d.Top()); closed && !pool.Past && (pool.Waits() || !pool.Spent()) {
			how := "has no data space left: what is written anew to %s waits."
			if !pool.Waits() {
				how = "takes no new blocks, and the kernel does not say why: what is written anew to %s fails."
			}
			s := onVolume(v, fmt.Sprintf("Thin pool %s (%s) on node %s "+how, pool.Block.Name, pool.Block.Dev, view.Name, name(v)))
			s.At(view.Name)
			s.Device(view.Name, pool.Block.Dev)
			s.Evidence = append(s.Evidence, pool.Shows(view.Name))
			p.AddSymptom(s)
		}
		for _, b := range stackOf(view, d) {
			how, at := blocked(view, b)
			if how == "" || at == "/slaves" && left(p, v, view.Name) {
				continue
			}
			s := onVolume(v, fmt.Sprintf("Device %s (%s) of %s on node %s %s.", b.Name, b.Dev, name(v), view.Name, how))
			s.At(view.Name)
			s.Device(view.Name, b.Dev)
			s.Evidence = append(s.Evidence, evidence.FromNode(view.Name, "sys/class/block/"+b.Name+at, how))
			p.AddSymptom(s)
		}
	}
}

// left tells whether a volume has nobody on a node who could wait for it there: what is left of it hangs for itself.
func left(p *diagnosis.Pass, v *snapshot.Volume, node string) bool {
	return v.AttachmentOn(node) == nil && volume.Deserted(&evidence.Place{X: p.Index, Volume: v, Node: node})
}

// stackOf are the volume's devices: the disk, its paths, and what rightly lies on it.
func stackOf(view *snapshot.NodeView, d snapshot.VolumeDevice) []*probes.BlockDevice {
	var out []*probes.BlockDevice
	for _, n := range append(d.Numbers(), d.Top()) {
		if b := view.Device(n); b != nil && !slices.Contains(out, b) {
			out = append(out, b)
		}
	}
	return out
}

func blocked(view *snapshot.NodeView, b *probes.BlockDevice) (how, at string) {
	switch {
	case strings.HasPrefix(b.Name, "nvme") && b.State == "connecting": // nvme_ctrl_state_name: what is asked of it waits, or for ctrl_loss_tmo
		return "has lost its controller, which tries to connect again: every access to it waits", "/device/state"
	case b.DM == nil:
		return "", ""
	case b.DM.Suspended:
		return "is suspended: every access to it waits", "/dm/suspended"
	case strings.HasPrefix(b.DM.UUID, "mpath-") && len(b.Slaves) > 0 && view.NoPath(b):
		return "is a multipath map of which no path works", "/slaves"
	}
	return "", ""
}
