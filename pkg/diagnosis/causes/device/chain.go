package device

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/crypt"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// stack is a volume's device on one node with everything that lies on it.
type stack struct {
	volume *snapshot.Volume
	view   *snapshot.NodeView
	device snapshot.VolumeDevice
	found  bool                  // the volume's own device was identified
	loops  []*probes.BlockDevice // kubelet's loops of the block volume
	above  []snapshot.Holder     // holders of the device and of the loops, nearest first
}

// stacks returns the volume's device on every probed node that matters. Nodes
// without a probe are noted as not checked.
func stacks(p *diagnosis.Pass, v *snapshot.Volume) []stack {
	var out []stack
	for _, node := range nodesOf(p, v) {
		view, ok := p.Probed(node)
		if !ok {
			continue
		}
		s := stack{volume: v, view: view}
		s.device, s.found = p.DeviceOn(v, node)
		s.found = s.found && !mistaken(v, view, s.device)
		s.loops = kubeletLoops(view, v)
		s.climb()
		if s.found || len(s.loops) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// mistaken tells whether what has the volume's name is another disk: then who holds it
// is beside the point (device-is-not-the-volume).
func mistaken(v *snapshot.Volume, view *snapshot.NodeView, d snapshot.VolumeDevice) bool {
	return v.Longhorn != nil && !isV2(v) && !d.Proven && d.Block != nil && foreignTo(view, v, d.Block) != ""
}

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

// climb collects the holders of the device and of kubelet's loops.
func (s *stack) climb() {
	seen := map[string]bool{}
	take := func(list []snapshot.Holder) {
		for _, h := range list {
			if h.Device != nil && !seen[h.Device.Name] {
				seen[h.Device.Name] = true
				s.above = append(s.above, h)
			}
		}
	}
	if s.found {
		take(s.view.HoldersOf(s.device.Dev))
		// A claim of a partition is one of its whole disk (bd_prepare_to_claim, block/bdev.c).
		for _, part := range s.view.PartitionsOf(s.device.Dev) {
			for _, h := range s.view.HoldersOf(part.Dev) {
				if s.device.Block != nil {
					h.Chain = append([]string{s.device.Block.Name}, h.Chain...)
				}
				take([]snapshot.Holder{h})
			}
		}
	}
	if m := crypt.Mapping(s.view, s.volume); s.found && m != nil {
		take(s.view.HoldersOf(m.Dev)) // also above a mapper that is not over D any more
	}
	for _, l := range s.loops {
		for _, h := range s.view.HoldersOf(l.Dev) {
			if len(h.Chain) == 0 || h.Chain[0] != l.Name {
				h.Chain = append([]string{l.Name}, h.Chain...)
			}
			take([]snapshot.Holder{h})
		}
	}
}

// kubeletLoops finds the loops that kubelet keeps on a block volume:
// R/plugins/kubernetes.io/csi/volumeDevices/<pv>/dev/<pod uid>.
func kubeletLoops(view *snapshot.NodeView, v *snapshot.Volume) []*probes.BlockDevice {
	var out []*probes.BlockDevice
	if v.PVName() == "" {
		return nil
	}
	for i := range view.Facts.Block {
		b := &view.Facts.Block[i]
		if b.LoopFile != "" && strings.Contains(b.LoopFile, "/volumeDevices/"+v.PVName()+"/dev/") {
			out = append(out, b)
		}
	}
	return out
}

// bottom is the device that a holder claims: kubelet's loop when the chain goes
// through one, else the volume's own device.
func (s *stack) bottom(h snapshot.Holder) *probes.BlockDevice {
	for i := len(h.Chain) - 1; i >= 0; i-- {
		if h.Device != nil && h.Chain[i] == h.Device.Name {
			continue
		}
		if d := s.view.ByName(h.Chain[i]); d != nil && d.LoopFile != "" {
			return d
		}
	}
	if s.device.Block != nil {
		return s.device.Block
	}
	if len(s.loops) > 0 {
		return s.loops[0]
	}
	return nil
}

// hasPrefix tells whether a device is a device-mapper device with such a uuid.
func hasPrefix(d *probes.BlockDevice, prefix string) bool {
	return d != nil && d.DM != nil && strings.HasPrefix(d.DM.UUID, prefix)
}

// chainText prints a holder chain from the disk upwards.
func chainText(h snapshot.Holder) string {
	names := slices.Clone(h.Chain)
	if h.Device != nil && (len(names) == 0 || names[len(names)-1] != h.Device.Name) {
		names = append(names, h.Device.Name)
	}
	return strings.Join(names, " → ")
}

// usedByConsumer tells whether a process of a pod of the claim has one of the holders
// open: then somebody built it on purpose (an OSD on a block volume, a guest's disk).
func (s *stack) usedByConsumer(p *diagnosis.Pass, holders []snapshot.Holder) bool {
	for _, h := range holders {
		for _, o := range s.view.Openers(h.Device.Dev) {
			if p.IsConsumerProcess(s.volume, s.view.Name, p.WhoIs(s.view, o.Process)) {
				return true
			}
		}
	}
	return false
}
