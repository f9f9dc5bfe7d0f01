package disk

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Held is one way in which a node or a process of it keeps a device.
type Held struct {
	Kind    string // target, swap, mount, exclusive, busy, open, openDevice, stranger, loop, child, peer
	Node    string // where it is, if not on the place's node
	Subject probes.Dev
	Dev     probes.Dev // what is mounted or open
	Path    string     // of the target, the swap area or the loop's file, or the mount point
	Entry   string     // of /etc/fstab; the loop
	Why     string     // what makes it a fault, where it is not that the node should let go
	Holder  *Holder
	Is      evidence.Answer
	Last    evidence.Answer
	AtMost  report.Certainty
}

// HeldBy finds who keeps the device, in the order of how surely it blocks: the node itself,
// whoever has it open exclusively while it is awaited, whoever has it open while it should
// be released. Fails is whether a step of the volume fails at all.
func (t *Tower) HeldBy(released, awaited, fails evidence.Answer) []Held {
	concerned, dev := evidence.Any(awaited, released), t.Device.Dev
	if path, is := t.backstore(); is.Yes() {
		return []Held{{Kind: "target", Subject: dev, Dev: dev, Path: path, Is: evidence.All(is, concerned), Last: evidence.Yes()}}
	}
	if path, is := t.swapOn(); is.Yes() {
		return []Held{{Kind: "swap", Subject: dev, Dev: dev, Path: path, Is: evidence.All(is, concerned), Last: evidence.Yes()}}
	}
	if m := t.mountedByHost(); m.Is.Yes() {
		return []Held{{Kind: "mount", Subject: m.Subject, Dev: m.Dev, Path: m.Point, Entry: m.Entry, Is: evidence.All(m.Is, concerned), Last: m.Alone}}
	}
	if awaited.Yes() && t.pl.View.Facts.Claims[dev] != "free" && t.idle() {
		return t.exclusively(fails)
	}
	if released.No() {
		return t.inTheWay()
	}
	var out []Held
	for _, h := range t.blockingRelease() {
		kind := "open"
		if h.Descriptor.Device {
			kind = "openDevice"
		}
		out = append(out, Held{Kind: kind, Subject: dev, Dev: dev, Holder: &h, Is: evidence.All(h.Is(), released), Last: pods.Placed(t.pl.X, h.Who)})
	}
	if h, point, dev, ok := t.Stranger(); ok && len(out) == 0 { // a file that it has open in the volume was not seen
		out = append(out, Held{Kind: "stranger", Subject: dev, Dev: dev, Path: point, Holder: &h, Is: evidence.All(h.Is(), released), Last: pods.Placed(t.pl.X, h.Who), AtMost: report.Likely})
	}
	return append(out, t.inside(released)...)
}

// Kept are the processes, loops and mounts that keep a volume without a disk of its own (a dataset of ZFS, a
// share, a FUSE mount) from being unmounted: what they have open lies below a mount of it.
// Volumes of one export have one device number, so that the path decides.
func Kept(pl *evidence.Place, released evidence.Answer) []Held {
	var out []Held
	if pl.View == nil || !released.Yes() {
		return nil
	}
	for i, m := range pl.X.VolumeMounts(pl.Volume, pl.Node) {
		t := &Tower{pl: pl, Found: true, Device: snapshot.VolumeDevice{Node: pl.Node, View: pl.View, Dev: m.Mount.Dev}}
		if i == 0 {
			out = t.inside(released)
		}
		if !m.Init || !m.Mount.Dev.Anonymous() || t.mountedByHost().Is.Yes() {
			continue
		}
		for _, h := range t.blockingRelease() {
			if probes.Within(h.Descriptor.Target, m.Mount.Point) {
				out = append(out, Held{Kind: "open", Subject: m.Mount.Dev, Dev: m.Mount.Dev, Holder: &h, Is: evidence.All(h.Is(), released), Last: pods.Placed(pl.X, h.Who)})
			}
		}
	}
	return out
}

// inTheWay is a container of a pod that is gone, whose mount the driver names as its reason to
// refuse the volume to the next pod of the same node.
func (t *Tower) inTheWay() []Held {
	h, point, dev, ok := t.Stranger()
	if !ok {
		return nil
	}
	named := t.pl.Refused().Say(func(x evidence.Text) bool {
		return strings.HasPrefix(x.Op, "MountVolume") && strings.Contains(x.Raw, "/pods/"+h.Process.PodUID+"/volumes/")
	})
	return []Held{{Kind: "stranger", Subject: dev, Dev: dev, Path: point, Holder: &h, Is: evidence.All(h.Is(), named), Last: pods.Placed(t.pl.X, h.Who),
		AtMost: report.Likely, Why: "the next pod wants it and the driver refuses because of that mount"}}
}

// exclusively are those who have the idle device open while it is awaited. The kernel does
// not show O_EXCL for all openers: without it the device must be claimed, and more than one
// opener leaves open which.
func (t *Tower) exclusively(fails evidence.Answer) []Held {
	var out []Held
	dev, all := t.Device.Dev, t.ofDevice()
	claimed := Claimed(t.pl, dev)
	for _, h := range all {
		held := Held{Kind: "exclusive", Subject: dev, Dev: dev, Holder: &h, Is: h.Is().With(claimed.Facts()...), Last: pods.Placed(t.pl.X, h.Who)}
		if !h.Exclusive {
			held.Kind, held.Is, held.AtMost = "busy", evidence.All(h.Is(), claimed, fails), report.Likely
			if len(all) > 1 {
				held.AtMost = report.Possible
			}
		}
		out = append(out, held)
	}
	return out
}
