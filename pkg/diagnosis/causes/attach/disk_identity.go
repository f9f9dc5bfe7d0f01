package attach

import (
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// disks is the comparison of a node's disks with the identity of a volume.
type disks struct {
	Count     int
	Match     bool     // one carries the volume's identity
	Unclaimed string   // an unused disk of the volume's size without an identity of its own
	Stranger  string   // an unused disk of the volume's size with an identity that is not the volume's name
	Blank     []string // disks without any identity
	Evidence  []report.Evidence
}

// compareDisks looks at every whole disk that could come from a backend.
func compareDisks(v *snapshot.Volume, view *snapshot.NodeView) disks {
	var out disks
	ids := volumeIDs(v)
	for i := range view.Facts.Block {
		b := &view.Facts.Block[i]
		if !wholeDisk(b) {
			continue
		}
		out.Count++
		id, locator := diskIdentity(view, b)
		for _, want := range ids {
			out.Match = out.Match || strings.Contains(plain(id), want) || cutIdentity(plain(b.Serial), want)
		}
		switch {
		case id == "" && !system(view, b):
			out.Blank = append(out.Blank, b.Name)
		case id != "":
			out.Evidence = append(out.Evidence, diagnosis.FromNode(view.Name, locator, id))
		}
		switch fits := sizeOf(v) == b.Sectors*512 && idle(view, b); {
		case fits && out.Unclaimed == "" && !ownIdentity(view, b):
			out.Unclaimed = b.Name
		case fits && out.Stranger == "":
			out.Stranger = b.Name
		}
	}
	return out
}

// cutIdentity tells whether a serial is the beginning of the volume's name: hypervisors
// cut it to the 20 characters of a virtio serial.
func cutIdentity(serial, want string) bool {
	return len(serial) >= 12 && strings.HasPrefix(want, serial)
}

// wholeDisk leaves out partitions and what is made on the node itself.
func wholeDisk(b *probes.BlockDevice) bool {
	for _, prefix := range []string{"loop", "ram", "zram", "dm-", "md", "sr", "fd", "nbd", "zd"} {
		if strings.HasPrefix(b.Name, prefix) {
			return false
		}
	}
	return b.Partition == 0 && b.DM == nil
}

// diskIdentity is what names a disk independently of the node: serial, WWID, the
// by-id link, the session's target.
func diskIdentity(view *snapshot.NodeView, b *probes.BlockDevice) (id, locator string) {
	at := "sys/class/block/" + b.Name
	if s := view.SessionOfDisk(b.Name); s != nil {
		return s.Target, "sys/class/iscsi_session/" + s.Name + "/targetname"
	}
	for _, l := range view.Facts.DevLinks {
		if l.Dev == b.Dev && strings.HasPrefix(l.Path, "/dev/disk/by-id/") {
			return l.Path, strings.TrimPrefix(l.Path, "/")
		}
	}
	for _, x := range []struct{ value, name string }{{b.Serial, "/serial"}, {b.WWID, "/wwid"}, {b.VPD83, "/device/vpd_pg83"}} {
		if v := strings.TrimSpace(x.value); v != "" {
			return v, at + x.name
		}
	}
	return "", ""
}

// system tells whether the node itself lives on the disk: it or one of its
// partitions is mounted at the root of process 1's namespace.
func system(view *snapshot.NodeView, b *probes.BlockDevice) bool {
	for _, m := range view.MountsAt("/") {
		if m.Dev == b.Dev {
			return true
		}
		if d := view.Device(m.Dev); d != nil && d.Partition > 0 && (d.Parent == b.Name || strings.HasPrefix(d.Name, b.Name)) {
			return true
		}
	}
	return false
}

// idle tells whether nobody uses a disk: no mount, holder or partition.
func idle(view *snapshot.NodeView, b *probes.BlockDevice) bool {
	if len(view.Uses(b.Dev)) > 0 || len(b.Holders) > 0 {
		return false
	}
	for i := range view.Facts.Block {
		if o := &view.Facts.Block[i]; o.Partition > 0 && (o.Parent == b.Name || o.Parent == "" && strings.HasPrefix(o.Name, b.Name)) {
			return false
		}
	}
	return true
}

// volumeIDs are the forms in which a disk may carry the volume's identity, reduced to
// letters and digits.
func volumeIDs(v *snapshot.Volume) []string {
	handle := v.Handle
	if i := strings.LastIndexByte(handle, '/'); i >= 0 {
		handle = handle[i+1:]
	}
	var out []string
	for _, s := range []string{v.Handle, handle, v.PVName()} {
		if s = plain(s); len(s) >= 6 {
			out = append(out, s)
		}
	}
	return out
}

func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return -1
	}, s)
}

// sizeOf is the volume's size in bytes, or zero.
func sizeOf(v *snapshot.Volume) int64 {
	if v.PV == nil {
		return 0
	}
	q := v.PV.Spec.Capacity["storage"]
	return q.Value()
}

// removedDisks quotes the kernel lines that tell of disks which went away since.
func removedDisks(view *snapshot.NodeView, since time.Time) []report.Evidence {
	var out []report.Evidence
	for _, l := range view.KernelLines() {
		gone := strings.Contains(l.Text, "Synchronizing SCSI cache") || strings.Contains(l.Text, "detected capacity change") || strings.Contains(l.Text, "Stopping disk")
		if gone && !l.At.IsZero() && l.At.After(since.Add(-time.Minute)) {
			out = append(out, diagnosis.FromNode(view.Name, "@kmsg", l.Text))
		}
	}
	return out
}
