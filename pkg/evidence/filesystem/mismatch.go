package filesystem

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// The words of mount-utils (formatAndMountSensitive), of drivers that ask blkid themselves (hcloud: internal/volumes/mount.go), and
// of mount(8) for ENODEV.
var (
	alreadyContains = pattern.MustCompile(`(?:failed to mount the volume as \\?"|requested )([^"\\ ]+)(?:\\?", it already contains| volume, but (?:disk|device) \S+ (?:is )?already (?:is )?formatted with) \\?"?(unknown data, probably partitions|[A-Za-z0-9_]+)`)
	unknownType     = pattern.MustCompile(`unknown filesystem type '([A-Za-z0-9_]+)'`)
)

// noFilesystem are signatures that mount(8) passes on as a type although no kernel can
// mount them.
var noFilesystem = slices.Concat(noneRead, []string{"zfs_member", "ceph_bluestore", "bcache", "drbd", "DM_snapshot_cow", "ddf_raid_member", "isw_raid_member", "LVM1_member", "vmfs_volume_member", "BitLocker"})

// noneRead are those that the agent knows by the first bytes, as it knows the filesystems of disk.Filesystems.
var noneRead = []string{"crypto_LUKS", "LVM2_member", "linux_raid_member", "swap"}

// Mismatch is a device that holds something else than the filesystem that is asked for.
type Mismatch struct {
	Carrier Carrier
	Seen    bool
	Want    string // the type that is asked for; empty: none
	Holds   string // what the device holds, by a read or by the driver's words
	How     string // how the device is known to be the volume's
	Is      evidence.Answer
	Known   evidence.Answer // the device is the volume's beyond doubt
	Taken   evidence.Answer // mounted, away, or in other hands: its content is not what fails
}

// MismatchOf judges the device of a place by what it holds and by what was freshly said.
func MismatchOf(pl *evidence.Place) Mismatch {
	t, want, said := saidType(pl)
	out := Mismatch{Want: want, Holds: said, Is: evidence.No(), Taken: evidence.No()}
	out.Want = cmp.Or(out.Want, pl.Volume.FSType())
	if said == "crypto_LUKS" && pl.Volume.Encrypted() {
		return out
	}
	if out.Carrier, out.Seen = CarrierOf(pl); out.Seen {
		out.read(pl, t, said)
		return out
	}
	if said != "" && here(pl, t) && (t.Node != "" || !seenAnywhere(pl)) {
		out.Is, out.Known = evidence.Yes(t.Evidence()), notSeen(pl, "the identity and the content of the device")
		if l := pl.Volume.PV.Spec.Local; l != nil && slices.Contains(t.Devices, l.Path) && !mayBeAnother(l.Path, said) { // each is the volume by definition
			out.How, out.Known = "device "+l.Path, evidence.Yes(evidence.FromAPI("PersistentVolume "+pl.Volume.PVName(), "spec.local.path", l.Path))
		}
	} else if slices.ContainsFunc(pl.Refused(), func(t evidence.Text) bool { return t.Is(message.WrongFSType) }) && !seenAnywhere(pl) {
		out.Is = pl.Probed().Found() // not seen: not checked
	}
	return out
}

// mayBeAnother tells whether the disk behind a recorded path can be another one since the node started: the kernel
// gives its names anew, and a disk that was made for a volume does not become a member of a pool by itself.
func mayBeAnother(path, holds string) bool {
	return disk.KernelName(path) && slices.Contains(noFilesystem, holds) && holds != "crypto_LUKS"
}

func notSeen(pl *evidence.Place, why string) evidence.Answer {
	return evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node, Node: pl.Node, Why: why})
}

// saidType is what a fresh text says that the device holds, and what was asked for.
func saidType(pl *evidence.Place) (t evidence.Text, want, holds string) {
	for _, t := range pl.Refused() {
		if t.Node != "" && t.Node != pl.Node {
			continue
		}
		if m := alreadyContains.FindStringSubmatch(t.Raw); m != nil && m[2] != "mpath_member" {
			return t, m[1], m[2]
		}
		if m := unknownType.FindStringSubmatch(t.Raw); m != nil && slices.Contains(noFilesystem, m[1]) {
			return t, "", m[1]
		}
	}
	return evidence.Text{}, "", ""
}

func (m *Mismatch) read(pl *evidence.Place, t evidence.Text, said string) {
	c := m.Carrier
	x, _ := c.Content()
	holds := c.holds(x)
	silent := holds == "" || holds == "none" && !slices.Contains(noneRead, said) && !slices.Contains(disk.Filesystems, said)
	switch {
	case m.contradicts(pl.Volume, holds):
		m.Holds = holds
	case said == "" || !silent || !c.means(t.Devices...):
		return
	}
	facts := []report.Evidence{}
	if fs := pl.Volume.FSType(); fs != "" {
		facts = append(facts, evidence.FromAPI("PersistentVolume "+pl.Volume.PVName(), "fsType", fs))
	}
	switch table := x.Extra["PTTYPE"]; {
	case x.Type == "none" && table != "":
		facts = append(facts, c.Shows("PTTYPE="+table))
	case x.Type != "":
		facts = append(facts, c.Shows("TYPE="+x.Type, "UUID="+x.UUID))
	}
	if t.Raw != "" {
		facts = append(facts, t.Evidence())
	}
	m.Is, m.How = evidence.Yes(append(facts, evidence.FromNode(pl.Node, c.Device.Locator, c.Device.How))...), c.Device.How
	l := pl.Volume.PV.Spec.Local
	m.Known = c.unread(probes.Block, "that "+c.Block.Name+" is the volume's disk (serial, WWID or target)")
	if c.Device.Proven || l != nil && strings.HasPrefix(c.Device.How, "device "+l.Path) && !mayBeAnother(l.Path, m.Holds) {
		m.Known = evidence.Yes()
	}
	m.Taken = evidence.Any(c.Mounted(), c.held(), evidence.When(c.gone()))
}

// holds is what lies on the device by the first bytes of it: with libblkid's name, or a table of
// partitions. That of a PC is known by its last two bytes alone, which some filesystems have, too:
// it counts where the kernel found its partitions; and these alone, where mount(8) found no filesystem.
func (c Carrier) holds(x probes.Content) string {
	table, parts := x.Extra["PTTYPE"], c.Place.View.PartitionsOf(c.Block.Dev)
	whole := func(t evidence.Text) bool { return t.Is(message.WrongFSType) }
	switch {
	case x.Type != "none":
	case len(parts) > 0 && (table != "" || slices.ContainsFunc(c.Place.Refused(), whole)):
		return "a partition table with " + parts[0].Name
	case table == "gpt":
		return "a partition table (gpt)"
	}
	return x.Type
}

// held asks whether something lies on the device, or it is swapped to.
func (c Carrier) held() evidence.Answer {
	pl, facts := c.Place, []report.Evidence(nil)
	for _, h := range pl.View.HoldersOf(c.Block.Dev) {
		facts = append(facts, evidence.FromNode(pl.Node, "sys/class/block/"+c.Block.Name+"/holders", h.Device.Name))
	}
	if s := pl.View.Swap(c.Block.Dev); s != nil {
		facts = append(facts, evidence.FromNode(pl.Node, "proc/swaps", s.Path))
	}
	return pl.Tables(probes.Block, probes.Swaps).Found(facts...)
}

// contradicts tells whether content that was read is not what the PV asks for. ext2 to ext4
// are one family to the kernel's driver; what was never formatted, belongs to a map, or is
// encrypted by design contradicts nothing; a driver that was told the filesystem in
// attributes of its own overrules fsType.
func (m Mismatch) contradicts(v *snapshot.Volume, holds string) bool {
	switch {
	case holds == "" || holds == "none" || holds == "mpath_member" || holds == m.Want:
		return false
	case slices.Contains(noFilesystem, holds):
		return !(holds == "crypto_LUKS" && v.Encrypted())
	case strings.HasPrefix(holds, "a partition table"):
		return !v.OfPartition()
	case holds == v.FSType() && !slices.Contains(attributes(v), m.Want): // a text asked for another
		return false
	case m.Want == "" || strings.HasPrefix(m.Want, "ext") && strings.HasPrefix(holds, "ext"):
		return false
	case v.PV.Spec.CSI == nil:
		return true
	}
	return !slices.Contains(attributes(v), holds)
}

// attributes are the values of those that a volume's driver was told.
func attributes(v *snapshot.Volume) []string {
	if v.PV == nil || v.PV.Spec.CSI == nil {
		return nil
	}
	return slices.Collect(maps.Values(v.PV.Spec.CSI.VolumeAttributes))
}

// Mountable tells whether what the device holds is a filesystem that a PV can name.
func (m Mismatch) Mountable() bool { return slices.Contains(disk.Filesystems, m.Holds) }
