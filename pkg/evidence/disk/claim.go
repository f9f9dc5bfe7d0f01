package disk

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// Claimed asks whether an exclusive open of a device failed because somebody claims it.
func Claimed(pl *evidence.Place, dev probes.Dev) evidence.Answer {
	switch claim := pl.View.Facts.Claims[dev]; claim {
	case "":
		return evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node + "/claim", Node: pl.Node, Why: "no exclusive open was tried"})
	default:
		return evidence.When(claim == "EBUSY", evidence.FromNode(pl.Node, "@claim/"+dev.String(), claim))
	}
}

// Rightly asks whether a pod that runs on the node uses the volume raw: its own exclusive
// open is rightful, seen or not.
func (t *Tower) Rightly() evidence.Answer {
	if t.pl.Volume.Block() {
		for _, c := range t.pl.Volume.Running() {
			if c.Node() == t.pl.Node {
				return evidence.Yes(evidence.FromPod(c.Pod, "status.phase", "Running"))
			}
		}
		return t.pl.Consumers().Found()
	}
	return evidence.No()
}

// Odd is a holder of a kind that no known cause covers; ok is false when a known one, or
// the volume's own mapper, lies on the device.
func (t *Tower) Odd() (odd *probes.BlockDevice, ok bool) {
	for _, h := range t.Above {
		if t.Device.Above(h.Device.Dev) || covered(h.Device) && !t.strange(h.Device) {
			return nil, false
		}
		odd = h.Device
	}
	return odd, true
}

// Under asks whether a device lies on the tower's: the kernel lists as holders only those that have opened it
// exclusively (bd_link_disk_holder in block/holder.c), which the agent then does not try. A loop device is none.
func (t *Tower) Under(above *probes.BlockDevice) evidence.Answer {
	if above == nil || !slices.Contains(t.Device.Block.Holders, above.Name) {
		return evidence.No()
	}
	return evidence.Yes(evidence.FromNode(t.pl.Node, "sys/class/block/"+t.Device.Block.Name+"/holders", Title(above)))
}

// strange tells whether a mapping is of dm-crypt, and the volume below holds a filesystem of its own: nobody who
// serves the volume made it.
func (t *Tower) strange(d *probes.BlockDevice) bool {
	return IsMapped(d, "CRYPT-") && !t.pl.Volume.Encrypted() && slices.Contains(Filesystems, t.pl.View.Facts.Contents[t.Device.Dev].Type) && Mapping(t.pl.View, t.pl.Volume, t.Device.Dev) != d
}

// covered tells whether another cause speaks about this kind of holder.
func covered(d *probes.BlockDevice) bool {
	if slices.ContainsFunc([]string{"mpath-", "LVM-", "CRYPT-", "part"}, func(prefix string) bool { return IsMapped(d, prefix) }) {
		return true
	}
	return IsArray(d) || strings.HasPrefix(d.Name, "drbd")
}
