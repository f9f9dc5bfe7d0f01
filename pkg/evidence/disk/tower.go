package disk

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Tower is a volume's device on the place's node with everything that lies on it.
type Tower struct {
	pl     *evidence.Place
	Device snapshot.VolumeDevice
	Found  bool                  // the volume's own device was identified
	Loops  []*probes.BlockDevice // kubelet's loops of the block volume
	Above  []snapshot.Holder     // holders of the device and of the loops, nearest first
}

// TowerOf finds the device and what lies on it; false when neither it nor a loop of
// kubelet over it is there. What has the volume's name and is another disk is left to
// device-is-not-the-volume: who holds it is beside the point.
func TowerOf(pl *evidence.Place) (*Tower, bool) {
	if pl.View == nil {
		return nil, false
	}
	t := &Tower{pl: pl}
	t.Device, t.Found = pl.X.DeviceOn(pl.Volume, pl.Node)
	t.Found = t.Found && !Mistaken(pl, t.Device)
	t.Loops = kubeletLoops(pl)
	t.climb()
	return t, t.Found || len(t.Loops) > 0
}

// climb collects the holders of the device and of kubelet's loops.
func (t *Tower) climb() {
	take := func(below string, list ...snapshot.Holder) {
		for _, h := range list {
			if h.Device == nil || slices.ContainsFunc(t.Above, func(o snapshot.Holder) bool { return o.Device.Name == h.Device.Name }) {
				continue
			}
			if below != "" && (len(h.Chain) == 0 || h.Chain[0] != below) {
				h.Chain = append([]string{below}, h.Chain...)
			}
			t.Above = append(t.Above, h)
		}
	}
	view := t.pl.View
	if t.Found {
		name := ""
		if t.Device.Block != nil {
			name = t.Device.Block.Name
		}
		take("", view.HoldersOf(t.Device.Dev)...)
		// A claim of a partition is one of its whole disk (bd_prepare_to_claim, block/bdev.c).
		for _, part := range view.PartitionsOf(t.Device.Dev) {
			take(name, view.HoldersOf(part.Dev)...)
		}
		if m := Mapping(view, t.pl.Volume, t.Device.Dev); m != nil {
			take("", view.HoldersOf(m.Dev)...) // also above a mapper that is not over the disk any more
		}
	}
	for _, l := range t.Loops {
		take(l.Name, view.HoldersOf(l.Dev)...)
	}
}

// kubeletLoops finds the loops that kubelet keeps on a block volume:
// R/plugins/kubernetes.io/csi/volumeDevices/<pv>/dev/<pod uid>.
func kubeletLoops(pl *evidence.Place) []*probes.BlockDevice {
	pv := pl.Volume.PVName()
	return evidence.Keep(pl.View.Blocks(), func(b *probes.BlockDevice) bool {
		return pv != "" && strings.Contains(b.LoopFile, "/volumeDevices/"+pv+"/dev/")
	})
}

// Bottom is the device that a holder claims: kubelet's loop when the chain goes
// through one, else the volume's own device.
func (t *Tower) Bottom(h snapshot.Holder) *probes.BlockDevice {
	for i := len(h.Chain) - 1; i >= 0; i-- {
		if h.Device != nil && h.Chain[i] == h.Device.Name {
			continue
		}
		if d := t.pl.View.ByName(h.Chain[i]); d != nil && d.LoopFile != "" {
			return d
		}
	}
	if t.Device.Block != nil {
		return t.Device.Block
	}
	if len(t.Loops) > 0 {
		return t.Loops[0]
	}
	return nil
}

// Numbers are the device numbers under which the volume's filesystem may be open.
func (t *Tower) Numbers() []probes.Dev {
	out := []probes.Dev{t.Device.Dev}
	if m := t.Device.Mapper; m != nil && m.Dev != t.Device.Dev {
		out = append(out, m.Dev)
	}
	return out
}

// OpenedByUser asks whether a process of a pod of the claim has one of the holders open:
// then somebody built it on purpose (an OSD on a block volume, a guest's disk).
func (t *Tower) OpenedByUser(holders ...*probes.BlockDevice) evidence.Answer {
	for _, h := range holders {
		for _, o := range t.pl.View.Openers(h.Dev) {
			if t.pl.X.IsConsumerProcess(t.pl.Volume, t.pl.Node, t.pl.X.WhoIs(t.pl.View, o.Process)) {
				return evidence.Yes(evidence.FromNode(t.pl.Node, o.Descriptor.Path, o.Descriptor.Target))
			}
		}
	}
	return t.pl.Open().Found()
}

// MountedOver asks whether a device, or anything that is built on it, is mounted in a
// namespace of the place's node.
func MountedOver(pl *evidence.Place, dev probes.Dev) evidence.Answer {
	return mountedOver(pl, dev, nil)
}

// MountedOnPurpose asks the same of the host, and of pods of the claim. What any other
// namespace alone still mounts is a copy that was left there: it explains no holder.
func MountedOnPurpose(pl *evidence.Place, dev probes.Dev) evidence.Answer {
	known := evidence.No()
	out := mountedOver(pl, dev, func(u snapshot.Use) bool {
		if u.Init || u.NS.ID == pl.View.Facts.Kubelet.MntNS {
			return false
		}
		in := pl.View.ProcessesIn(u.NS.ID)
		if len(in) == 0 || slices.ContainsFunc(in, func(p *probes.Process) bool { return p.Cgroup == "" }) {
			known = evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node + "/" + string(probes.Processes), Node: pl.Node, Why: "whose namespace has " + u.Mount.Source + " mounted"})
		}
		return !slices.ContainsFunc(in, func(p *probes.Process) bool {
			return pl.X.IsConsumerProcess(pl.Volume, pl.Node, pl.X.WhoIs(pl.View, p))
		})
	})
	return evidence.Any(out, known)
}

// MountedByOthers asks the same of mounts that are not the volume's own.
func MountedByOthers(pl *evidence.Place, dev probes.Dev) evidence.Answer {
	own := pl.X.VolumeMounts(pl.Volume, pl.Node)
	return mountedOver(pl, dev, func(u snapshot.Use) bool {
		return slices.ContainsFunc(own, func(m snapshot.VolumeMount) bool { return m.Mount.Raw == u.Mount.Raw })
	})
}

func mountedOver(pl *evidence.Place, dev probes.Dev, but func(snapshot.Use) bool) evidence.Answer {
	if pl.View == nil {
		return evidence.Unseen(pl.Probed().Lacks()...)
	}
	uses := slices.Clone(pl.View.Uses(dev))
	for _, h := range pl.View.HoldersOf(dev) {
		uses = append(uses, pl.View.Uses(h.Device.Dev)...)
	}
	for _, u := range uses {
		if but == nil || !but(u) {
			return evidence.Yes(evidence.FromNode(pl.Node, "proc/*/mountinfo", u.Mount.Raw))
		}
	}
	return pl.Tables(probes.Mounts).Found()
}

// Chain prints a chain of holders from the disk upwards.
func Chain(h snapshot.Holder) string {
	names := slices.Clone(h.Chain)
	if h.Device != nil && (len(names) == 0 || names[len(names)-1] != h.Device.Name) {
		names = append(names, h.Device.Name)
	}
	return strings.Join(names, " → ")
}

// IsArray tells whether a device is an md array.
func IsArray(d *probes.BlockDevice) bool {
	return d != nil && (d.MDState != "" || len(d.Name) > 2 && strings.HasPrefix(d.Name, "md") && d.Name[2] >= '0' && d.Name[2] <= '9')
}

// IsMapped tells whether a device is one of the device mapper with such a uuid.
func IsMapped(d *probes.BlockDevice, prefix string) bool {
	return d != nil && d.DM != nil && strings.HasPrefix(d.DM.UUID, prefix)
}

// Content quotes what the first bytes of a device say that it is, or is empty.
func Content(pl *evidence.Place, dev probes.Dev) report.Evidence {
	c := pl.View.Facts.Contents[dev]
	if c.Type == "" {
		return report.Evidence{}
	}
	return evidence.FromNode(pl.Node, "@content/"+dev.String(), "TYPE="+c.Type)
}

// Title is a device as a sentence names it: "sdc (8:32)".
func Title(b *probes.BlockDevice) string { return b.Name + " (" + b.Dev.String() + ")" }

// OrUnknown is a word, or that it is not known.
func OrUnknown(s string) string {
	return cmp.Or(s, "unknown")
}
