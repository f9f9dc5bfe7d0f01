package multipath

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// MapOn is the multipath map that claims a disk directly, or nil.
func MapOn(view *snapshot.NodeView, dev probes.Dev) *probes.BlockDevice {
	return evidence.First(view.Above(dev), func(b *probes.BlockDevice) bool { return disk.IsMapped(b, "mpath-") })
}

// Claim is the disk of the place's volume that multipath has, had, or may have.
type Claim struct {
	pl   *evidence.Place
	Disk snapshot.VolumeDevice
	Map  *probes.BlockDevice // nil: none is there now
}

// ClaimOf finds the volume's disk on a node that should have it.
func ClaimOf(pl *evidence.Place) (Claim, bool) {
	if pl.View == nil || !slices.Contains(pl.X.DeviceNodes(pl.Volume), pl.Node) {
		return Claim{}, false
	}
	d, ok := pl.X.DeviceOn(pl.Volume, pl.Node)
	if !ok || d.Block == nil || disk.Mistaken(pl, d) {
		return Claim{}, false
	}
	return Claim{pl, d, MapOn(pl.View, d.Dev)}, true
}

// Lies asks whether the map lies over the disk, and quotes how both are known.
func (c Claim) Lies() evidence.Answer {
	at := "sys/class/block/" + c.Map.Name
	return evidence.Yes(
		evidence.FromNode(c.pl.Node, "sys/class/block/"+c.Disk.Block.Name+"/holders", strings.Join(c.Disk.Block.Holders, " ")),
		evidence.FromNode(c.pl.Node, at+"/dm/uuid", c.Map.DM.UUID), evidence.FromNode(c.pl.Node, at+"/dm/name", c.Map.DM.Name),
		evidence.FromNode(c.pl.Node, c.Disk.Locator, c.Disk.How))
}

// Identified asks whether the disk is known to be the volume's by its identity.
func (c Claim) Identified() evidence.Answer {
	if c.Disk.Proven {
		return evidence.Yes()
	}
	return evidence.Unseen(evidence.Lack{Need: "the identity of " + c.Disk.Block.Name, Node: c.pl.Node, Why: "no session, serial or WWID ties it to the volume"})
}

// Mounted asks whether the disk, the map, or what lies on it is mounted.
func (c Claim) Mounted() evidence.Answer {
	if c.Map == nil {
		return disk.MountedOver(c.pl, c.Disk.Dev)
	}
	return evidence.Any(disk.MountedOver(c.pl, c.Disk.Dev), disk.MountedOver(c.pl, c.Map.Dev))
}

// Dead asks whether no path of the map can carry I/O.
func (c Claim) Dead() evidence.Answer {
	return evidence.When(c.pl.View.NoPath(c.Map), evidence.FromNode(c.pl.Node, "sys/class/block/"+c.Map.Name+"/slaves", pathStates(c.pl.View, c.Map)))
}

// Meant asks whether the driver stages the map itself: the in-tree iSCSI and FC plugins
// look for it, PVs with several portals need it, and with an unknown driver a map of
// several paths with one identity is how a SAN is meant to be used.
func (c Claim) Meant() evidence.Answer {
	v := c.pl.Volume
	if v.Longhorn != nil || v.PV == nil {
		return evidence.No()
	}
	if v.PV.Spec.ISCSI != nil || v.PV.Spec.FC != nil {
		return evidence.Yes(evidence.FromAPI("PersistentVolume "+v.PVName(), "spec", "in-tree iSCSI or Fibre Channel"))
	}
	if s := v.PV.Spec.CSI; s != nil {
		for _, k := range []string{"portals", "targetPortals", "iscsiPortals", "targetIQNs", "portal"} {
			if value := s.VolumeAttributes[k]; strings.Contains(value, ",") {
				return evidence.Yes(evidence.FromAPI("PersistentVolume "+v.PVName(), "spec.csi.volumeAttributes."+k, value))
			}
		}
	}
	if staged := StagesMaps(c.pl.X, v); staged.Yes() {
		return staged
	}
	if said := c.pl.Texts.Say(Asks); said.Yes() {
		return said
	}
	if told := disk.ToldOn(c.pl); slices.Contains(told.Disks, c.Map) { // it works with the map, whatever fails then
		return told.Present()
	}
	// Drivers of arrays address their disks by WWN.
	if _, said := SaysBusy(c.pl); !said.Yes() && len(v.WWIDs()) > 0 {
		return evidence.Yes(evidence.FromAPI("PersistentVolume "+v.PVName(), "spec", strings.Join(v.WWIDs(), ", ")))
	}
	paths := slices.DeleteFunc(slices.Clone(c.Map.Slaves), func(name string) bool { return c.pl.View.ByName(name) == nil })
	return evidence.When(len(paths) > 1, // one identity: a SAN's paths; several: device-lun-reused
		evidence.FromNode(c.pl.Node, "sys/class/block/"+c.Map.Name+"/slaves", strings.Join(paths, " ")))
}

// InTheWay asks whether nothing that failed lately speaks of something else than a disk that is
// taken: of a driver of a SAN it is not known whether it wants the map.
func (c Claim) InTheWay(busy evidence.Answer) evidence.Answer {
	if busy.Yes() || c.pl.Volume.IsLonghorn() || !Failing(c.pl).Yes() {
		return evidence.Yes()
	}
	return evidence.Unseen(evidence.Lack{Need: "a word that " + c.Disk.Block.Name + " is taken", Node: c.pl.Node, Why: "what failed says something else"})
}

// Others names other disks below the map, with their targets.
func (c Claim) Others() []string {
	var out []string
	for _, s := range c.Map.Slaves {
		b := c.pl.View.ByName(s)
		if b == nil || b.Name == c.Disk.Block.Name {
			continue
		}
		target := "unknown target"
		if session := c.pl.View.SessionOfDisk(b.Name); session != nil {
			target = session.Target
		}
		out = append(out, fmt.Sprintf("%s (%s, %s)", b.Name, b.Dev, target))
	}
	return out
}

// Vendor is the vendor that multipathd sees: the kernel has none for NVMe disks, and
// libmultipath puts a word of its own there (discovery.c, nvme_sysfs_pathinfo).
func (c Claim) Vendor() string {
	if vendor := strings.TrimSpace(c.Disk.Block.Vendor); vendor != "" || !strings.HasPrefix(c.Disk.Block.Name, "nvme") {
		return vendor
	}
	return "NVME"
}

// Path is the name that tools print for the disk.
func (c Claim) Path() string {
	return cmp.Or(c.Disk.NodePath, "/dev/"+c.Disk.Block.Name)
}

// Remembered asks whether udev still marks the disk as a path of a map while the daemon
// runs, nothing lies on the disk, and nobody claims it: the map is gone.
func (c Claim) Remembered() evidence.Answer {
	view := c.pl.View
	if len(c.Disk.Block.Holders) > 0 || !view.Facts.Multipath.Active() || view.Facts.Claims[c.Disk.Dev] == "EBUSY" {
		return evidence.No()
	}
	for _, line := range view.Facts.Udev[c.Disk.Dev] {
		if strings.Contains(line, "DM_MULTIPATH_DEVICE_PATH=1") {
			return evidence.Yes(evidence.FromNode(c.pl.Node, "run/udev/data/b"+c.Disk.Dev.String(), line))
		}
	}
	return evidence.No()
}

// OpenedByDaemon asks whether multipathd has the disk open while something that was not
// seen claims it: a plain descriptor claims nothing.
func (c Claim) OpenedByDaemon() (pid int, a evidence.Answer) {
	view := c.pl.View
	if len(c.Disk.Block.Holders) > 0 || !view.Facts.Multipath.Active() || view.Facts.Claims[c.Disk.Dev] != "EBUSY" {
		return 0, evidence.No()
	}
	for _, o := range view.Openers(c.Disk.Dev) {
		if slices.Contains(view.Facts.Daemons("multipathd"), o.Process) {
			return o.Process.PID, evidence.Yes(evidence.FromNode(c.pl.Node, o.Descriptor.Path, o.Descriptor.Target))
		}
	}
	return 0, evidence.No()
}

// SaysBusy asks for a fresh statement that the volume's device is busy. By itself it
// makes no holder even possible; marked tells whether the mount tool read the disk as a
// member of a map.
func SaysBusy(pl *evidence.Place) (marked bool, a evidence.Answer) {
	for _, t := range pl.Refused() {
		if t.Is(message.AlreadyMountedBusy) || t.Is(message.InUseBySystem) || t.Is(message.CryptsetupInUse) || t.Is(message.MpathMember) {
			return t.Is(message.MpathMember), evidence.Yes(t.Evidence())
		}
	}
	return false, evidence.No()
}

// Reported asks whether Longhorn's node says that multipathd runs there.
func Reported(pl *evidence.Place) evidence.Answer {
	n := pl.X.LHNode(pl.Node)
	if n == nil || pl.Volume.Longhorn == nil {
		return evidence.No()
	}
	c, ok := n.Conditions.Get("Multipathd")
	return evidence.When(ok && c.Status == "False", evidence.FromAPI("Node.longhorn.io "+pl.Node, "status.conditions[Multipathd]", strings.TrimSpace("False "+c.Reason+" "+c.Message)))
}

// pathStates prints the disks below a map with their states.
func pathStates(view *snapshot.NodeView, m *probes.BlockDevice) string {
	var out []string
	for _, s := range m.Slaves {
		state := view.DeadPath(s)
		if state == "" {
			state = disk.OrUnknown(view.ByName(s).State)
		}
		out = append(out, s+"="+state)
	}
	if len(out) == 0 {
		return "(empty)"
	}
	return strings.Join(out, " ")
}
