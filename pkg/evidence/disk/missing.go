package disk

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// missing is how drivers say that they do not find the disk which they were told is
// attached.
var missing = pattern.MustCompile(`(?i)no device path for device|find disk by lun|findDiskByLun\(\d+\) failed within timeout|re-link disk|non[- ]?existent (disk|device)|not attached to (this )?(node|instance|vm|host)|` +
	`(disk|device|volume)\b[^:]{0,80}\bnot found|devicenotfound\b|(could not|couldn't|cannot|can't|unable to|failed to) (find|locate|get|discover) [^:]{0,60}(disk|device|lun|path)|` +
	`hasn't been attached|no such device|device path .*(does not|doesn't) exist|timed? ?out waiting for (the )?(disk|device)|` +
	`The file \S+ does not exist and no size was specified|(disk|device|hot-?plug(ged)? volume)\b[^:]{0,60}\bis not ready`)

// unnamed is how drivers and kubelet say that a disk does not appear under the name that
// they expect.
var unnamed = pattern.MustCompile(`(?i)waiting for device node to appear|special device /dev/(?:longhorn/|xvd)\S* does not exist|/dev/(?:longhorn/|xvd)\S*: can.t lookup blockdev|(failed|could not|unable) to find (attached|device path)|find disk (on|by) lun|not attached to node`)

// aboutMap is said of a multipath map, which is no disk.
var aboutMap = pattern.MustCompile(`(?i)multipath|for DM to appear|\bdm[ -]device`)

// SaysNoMap tells whether a text says that a multipath map is not there.
func SaysNoMap(t evidence.Text) bool {
	return aboutMap.MatchString(t.Raw) && (missing.MatchString(t.Raw) || unnamed.MatchString(t.Raw))
}

// ofAnother tells whether a text speaks of a multipath map, which says nothing about the disks
// below, or of a loop device, which is made over the disk.
func ofAnother(t evidence.Text) bool {
	return aboutMap.MatchString(t.Raw) || t.Is(message.NoLoopDevice)
}

// saysMissing tells whether a text says that a disk is not there.
func saysMissing(t evidence.Text) bool { return missing.MatchString(t.Raw) && !ofAnother(t) }

// SaysUnnamed tells whether a text says that a disk does not appear under a name.
func SaysUnnamed(t evidence.Text) bool {
	return (missing.MatchString(t.Raw) || unnamed.MatchString(t.Raw)) && !ofAnother(t)
}

// NamesNoLink tells whether a text names a link below /dev/disk that the node does not have,
// in whatever words: mount(8) calls it a special device that does not exist, a driver may only
// quote ENOENT.
func NamesNoLink(view *snapshot.NodeView, t evidence.Text) bool {
	return view != nil && slices.ContainsFunc(t.Devices, func(path string) bool {
		found, there := atPath(view, path)
		return strings.HasPrefix(path, "/dev/disk/") && len(found) == 0 && !there
	})
}

// SaidMissing asks for a fresh text of the place that says that the disk is not there, in
// whatever words: one that names a device which the node does not have says it, too.
func SaidMissing(pl *evidence.Place, told Told) evidence.Answer {
	if said := pl.Refused().Say(saysMissing); said.Yes() {
		return said
	}
	if absent := told.AbsentNamed(pl); absent.Yes() {
		return absent
	}
	if pl.View == nil {
		return pl.Probed().Nothing()
	}
	return evidence.Unseen(evidence.Lack{Need: "the driver's own word that it does not find the disk", Node: pl.Node, Why: "there is none"})
}

// NoneOf asks whether no disk of the place's node is its volume, by any identity. Disks
// that went away since a moment are quoted.
func NoneOf(pl *evidence.Place, since time.Time) (Comparison, evidence.Answer) {
	whole := evidence.Ended(pl.X, pl.Node, probes.Block).And(pl.Probed())
	if pl.View != nil && !pl.View.AllDisks() { // the one that was not read can be it
		whole = whole.And(pl.Tables(probes.Block))
	}
	if pl.Volume.PV == nil && pl.Volume.LH() == nil { // its names stand there
		whole = whole.And(evidence.Partial(evidence.Lack{Need: "api/persistentvolumes", Why: "the PersistentVolume, by whose names a disk is known, was not read"}))
	}
	if !whole.Complete() {
		return Comparison{}, whole.Nothing()
	}
	if len(pl.View.Facts.Block) == 0 {
		return Comparison{}, evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node + "/" + string(probes.Block), Node: pl.Node, Why: "no block device was read"})
	}
	c := Compare(pl.Volume, pl.View)
	if d, found := pl.X.DeviceOn(pl.Volume, pl.Node); found {
		return c, evidence.No(evidence.FromNode(pl.Node, d.Locator, d.How))
	}
	if c.Match {
		return c, evidence.No(c.Evidence...)
	}
	if by := SessionOf(pl); by != "" { // no other disk can be it, whatever it looks like
		c.Blank, c.Stranger, c.Unclaimed = nil, "", ""
		c.Evidence = append(c.Evidence, evidence.FromNode(pl.Node, "sys/class/iscsi_session/"+by+"/state", "LOGGED_IN"))
	}
	return c, evidence.Yes(append(c.Evidence, gone(pl.View, since)...)...)
}

// SessionOf is a session of the node, logged in, to a target of which the volume names a LUN: its disk is
// that LUN there, or none. A target alone, which an array has for all its volumes, tells no disk apart.
func SessionOf(pl *evidence.Place) string {
	targets, lun := pl.Volume.ISCSITargets(pl.Node)
	for _, s := range pl.View.Facts.ISCSI.Sessions {
		if lun != "" && s.State == "LOGGED_IN" && slices.Contains(targets, s.Target) {
			return s.Name
		}
	}
	return ""
}

// gone quotes the kernel lines that tell of disks which went away since.
func gone(view *snapshot.NodeView, since time.Time) []report.Evidence {
	went := evidence.Keep(view.KernelLines(), func(l probes.KernelLine) bool {
		return evidence.ContainsAny(l.Text, "Synchronizing SCSI cache", "detected capacity change", "Stopping disk") && !l.At.IsZero() && l.At.After(since.Add(-time.Minute))
	})
	return evidence.Each(went, func(l probes.KernelLine) report.Evidence { return evidence.FromNode(view.Name, "@kmsg", l.Text) })
}

// NamesDisks asks whether it is known how the driver of the place's volume names its
// disks: another volume of it was found on some node by more than its mount. Drivers that
// map or log in when they stage a volume show nothing of this kind before.
func NamesDisks(pl *evidence.Place) evidence.Answer {
	views := slices.Sorted(maps.Keys(pl.X.NodeViews))
	slices.SortStableFunc(views, func(a, b string) int { return here(b, pl.Node) - here(a, pl.Node) })
	for _, name := range views {
		for _, o := range pl.X.Volumes {
			if o == pl.Volume || o.Driver != pl.Volume.Driver {
				continue
			}
			if d, ok := pl.X.DeviceOn(o, name); ok && d.Proven && d.Block != nil && attachedDisk(pl.X.View(name), d.Block) {
				return evidence.Yes(evidence.FromNode(name, "sys/class/block/"+d.Block.Name, "volume "+o.PVName()+" of driver "+o.Driver+" is there: "+d.How))
			}
		}
	}
	if pl.View == nil {
		return pl.Probed().Nothing()
	}
	return evidence.Unseen(evidence.Lack{Need: "how driver " + pl.Volume.Driver + " names its disks", Node: pl.Node, Why: "no other volume of it was recognised on a node"})
}

// NamesByHandle asks whether a disk of the place's node, of another volume, has a serial of the form of the
// volume's handle, as EBS gives them ("vol0a1b…" for vol-0a1b…): then the volume's own disk would have one, too.
// It is less than a volume of the driver that was recognised.
func NamesByHandle(pl *evidence.Place) evidence.Answer {
	written := lastPart(pl.Volume.CSIHandle())
	handle, word := plainID(written), len(written)-len(strings.TrimLeft(written, "abcdefghijklmnopqrstuvwxyz"))
	if pl.View == nil || word < 3 || len(handle) < 12 {
		return evidence.No()
	}
	for i := range pl.View.Facts.Block {
		b := &pl.View.Facts.Block[i]
		if s := plainID(b.Serial); len(s) == len(handle) && s != handle && s[:word] == handle[:word] && attachedDisk(pl.View, b) {
			return evidence.Yes(evidence.FromNode(pl.Node, "sys/class/block/"+b.Name+"/device/serial", b.Serial+", an identifier of the same form, of another volume"))
		}
	}
	return evidence.No()
}

// plainID is an identifier without what backends leave out in a serial.
func plainID(id string) string { return strings.ReplaceAll(lastPart(id), "-", "") }

func lastPart(id string) string {
	id = strings.ToLower(strings.TrimSpace(id))
	return id[strings.LastIndexAny(id, "/:#")+1:]
}

func here(name, node string) int {
	if name == node {
		return 1
	}
	return 0
}

// attachedDisk tells whether a disk is one that attaching makes: not mapped or logged in
// by the node.
func attachedDisk(view *snapshot.NodeView, b *probes.BlockDevice) bool {
	for _, made := range []string{"rbd", "nbd", "drbd", "loop", "dm-"} {
		if strings.HasPrefix(b.Name, made) {
			return false
		}
	}
	return view.SessionOfDisk(b.Name) == nil && (b.Transport == "" || b.Transport == "pcie")
}

// AbsentNamed asks whether a path or identity of a disk that a fresh text names is not on
// the node. Names of maps are made on the node itself and say nothing of disks.
func (o Told) AbsentNamed(pl *evidence.Place) evidence.Answer {
	whole := pl.Tables(probes.Block, probes.DeviceNodes)
	for _, name := range o.Absent {
		if strings.HasPrefix(name, "/dev/mapper/") || strings.HasPrefix(name, "/dev/dm-") {
			continue
		}
		return whole.Nothing(evidence.FromNode(pl.Node, strings.TrimPrefix(name, "/"), "not there, and the driver's fresh words name it"))
	}
	return evidence.Unseen(evidence.Lack{Need: "a path or identity of the disk in the driver's words", Node: pl.Node, Why: "it names none that is missing"})
}

// OtherByLink asks whether a disk of the place's node has a by-id link of the form of one that a fresh text names and that is
// not there, "wwn-0x" and as many digits: udev makes such links of what the disk itself says, so it is most likely another one. Where
// the identifier is the slot's and no volume's (csi.proxmox.sinextra.dev, drive-scsi1 of QEMU) it may be the volume in the wrong slot.
func (o Told) OtherByLink(pl *evidence.Place, name string) evidence.Answer {
	b := pl.View.ByName(name)
	if b == nil {
		return evidence.No()
	}
	var facts []report.Evidence
	for _, l := range pl.View.Facts.DevLinks {
		alike := func(absent string) bool { return form(absent) == form(l.Path) }
		if l.Dev == b.Dev && strings.HasPrefix(l.Path, byID) && slices.ContainsFunc(o.Absent, alike) {
			facts = append(facts, evidence.FromNode(pl.Node, strings.TrimPrefix(l.Path, "/"), "leads to "+b.Name))
		}
	}
	return evidence.When(len(facts) > 0, facts...)
}

const byID = "/dev/disk/by-id/"

// form is a name with each digit, of hexadecimal numbers too, as a nought.
func form(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("0123456789abcdef", r) {
			return '0'
		}
		return r
	}, name)
}
