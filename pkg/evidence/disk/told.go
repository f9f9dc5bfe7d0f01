package disk

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Told are whole disks of a node that a fresh text about the place's volume names, each
// with the facts that tie it to the text.
type Told struct {
	Disks  []*probes.BlockDevice
	Absent []string // device paths and identities that the texts name and the node does not have
	Facts  []report.Evidence
}

// calledDevice is a word that a text calls a device or disk; only one that the node has counts.
var calledDevice = pattern.MustCompile(`(?i)\b(?:device|disk)[ :='"]+([a-z]{2,9}-?\d*[a-z]*\d*)\b`)

// identityLength is that of the shortest NAA identity, and of what is taken for one in a
// text: a number or a name of that many hexadecimal digits is nothing else.
const identityLength = 16

// ToldOn resolves every device path, WWN and serial in the fresh texts of a place against
// the disks of its node. An identity that stands in the names of the volume itself is no
// word of the driver about a disk.
func ToldOn(pl *evidence.Place) Told {
	var out Told
	if pl.View == nil {
		return out
	}
	for _, t := range pl.Refused() {
		for _, path := range t.Devices {
			if found, there := atPath(pl.View, path); len(found) > 0 || !there {
				out.resolve(pl, t, path, found)
			}
		}
		for _, m := range calledDevice.FindAllStringSubmatch(t.Raw, -1) {
			if b := pl.View.ByName(m[1]); b != nil {
				out.resolve(pl, t, m[1], []*probes.BlockDevice{b})
			}
		}
		for _, w := range identitiesIn(t.Raw) {
			if strings.Contains(snapshot.Plain(pl.Volume.Handle+" "+pl.Volume.PVName()), w.id) {
				continue
			}
			if found := withIdentity(pl.View, w.id); len(found) > 0 || w.called {
				out.resolve(pl, t, w.id, found)
			}
		}
	}
	return out
}

func (o *Told) resolve(pl *evidence.Place, t evidence.Text, name string, found []*probes.BlockDevice) {
	if len(found) == 0 {
		if !slices.Contains(o.Absent, name) {
			o.Absent = append(o.Absent, name)
		}
		return
	}
	for _, b := range found {
		if slices.Contains(o.Disks, b) || pl.View.NamesOther(pl.Volume, b) {
			continue
		}
		o.Disks = append(o.Disks, b)
		o.Facts = append(o.Facts, t.Evidence(), evidence.FromNode(pl.Node, "sys/class/block/"+b.Name, strings.TrimSpace(b.Dev.String()+" "+b.WWID+b.Serial)))
	}
}

// Present asks whether the node has a disk that the driver's fresh words name.
func (o Told) Present() evidence.Answer { return evidence.Reading{}.Found(o.Facts...) }

// atPath is the disk behind a path, the whole one for a partition, and whether the path
// leads to a device at all: its disk need not have been read.
func atPath(view *snapshot.NodeView, path string) (found []*probes.BlockDevice, there bool) {
	dev, ok := view.NumberAt(path)
	b := view.Device(dev)
	if !ok || b == nil {
		return nil, ok
	}
	if b.Partition > 0 && view.ByName(b.Parent) != nil {
		b = view.ByName(b.Parent)
	}
	return []*probes.BlockDevice{b}, true
}

// AttachedAt is when the kernel made a disk under its present name, in microseconds
// since boot; 0 when the log does not reach back so far.
func AttachedAt(view *snapshot.NodeView, b *probes.BlockDevice) int64 {
	if l := evidence.Last(view.KernelLines(kmsg.SCSIAttached), func(l probes.KernelLine) bool { return strings.Contains(l.Text, "["+b.Name+"]") }); l != nil {
		return l.Micros
	}
	return 0
}

// withIdentity are the disks with a serial or WWID, one for each path.
func withIdentity(view *snapshot.NodeView, id string) []*probes.BlockDevice {
	return evidence.Keep(view.Blocks(), func(b *probes.BlockDevice) bool {
		return b.Partition == 0 && b.DM == nil && (snapshot.Plain(snapshot.BareWWID(b.WWID)) == id || snapshot.Plain(b.Serial) == id || strings.Contains(strings.ToLower(b.VPD83), id))
	})
}

// identity is a hexadecimal word as long as an identity of a disk; called tells whether
// the word before it calls it one.
type identity struct {
	id     string
	called bool
}

// calls are the words that drivers put before an identity of a disk.
var calls = []string{"wwn", "wwid", "serial", "number", "naa", "eui", "nguid", "uid", "vpd", "page83"}

// identitiesIn are the words of a text that may be identities of disks. UUIDs are none:
// they have dashes.
func identitiesIn(text string) []identity {
	var out []identity
	before := ""
	for _, w := range strings.FieldsFunc(strings.ToLower(text), notInWord) {
		bare := snapshot.BareWWID(strings.Trim(w, "."))
		long := len(bare) >= identityLength && len(bare) <= 2*identityLength
		if long && strings.Count(w, "-") < 4 && strings.Trim(bare, "0123456789abcdef") == "" {
			if i := (identity{bare, slices.Contains(calls, before)}); !slices.Contains(out, i) {
				out = append(out, i)
			}
		}
		before = w
	}
	return out
}

func notInWord(r rune) bool {
	return r != '-' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
}
