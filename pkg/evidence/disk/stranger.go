package disk

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Forms in which backends write a volume's handle into the serial of its disk: Amazon's id
// without its dash, and a UUID, of which virtio keeps 20 characters.
var (
	amazonID = regexp.MustCompile(`^vol(?:[0-9a-f]{8}|[0-9a-f]{17})$`)
	dashedID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f](?:[0-9a-f]{3}-[0-9a-f]{12})?$`)
)

// sameForm tells whether a serial is written as the serial of a handle would be.
func sameForm(handle, serial string) bool {
	serial = strings.ToLower(strings.TrimSpace(serial))
	return amazonID.MatchString(snapshot.Plain(handle)) && amazonID.MatchString(serial) || dashedID.MatchString(strings.ToLower(handle)) && dashedID.MatchString(serial)
}

// strangerBelow is the disk of the backend below a mounted device that bears the name of
// another volume in the form of this one's handle; nil when there is none, or anything about
// the disks below names the volume.
func strangerBelow(pl *evidence.Place, dev probes.Dev) *probes.BlockDevice {
	v, view := pl.Volume, pl.View
	var own []string // what the attachment says: some drivers give the disk another name
	if va := v.AttachmentOn(pl.Node); va != nil {
		for _, value := range va.Status.AttachmentMetadata {
			own = append(own, snapshot.Plain(value))
		}
	}
	var out *probes.BlockDevice
	for _, b := range view.Leaves(dev) {
		serial := snapshot.Plain(b.Serial)
		switch {
		case v.Names(b.Serial) || v.Names(b.WWID) || v.Names(b.VPD83) || linked(v, view, b) || System(view, b):
			return nil
		case serial != "" && slices.ContainsFunc(own, func(s string) bool { return strings.Contains(s, serial) }):
			return nil
		case sameForm(path.Base(v.CSIHandle()), b.Serial) && Whole(b):
			out = b
		}
	}
	return out
}

// linked tells whether a persistent link of a disk names the volume.
func linked(v *snapshot.Volume, view *snapshot.NodeView, b *probes.BlockDevice) bool {
	return slices.ContainsFunc(view.Facts.DevLinks, func(l probes.DevLink) bool { return l.Dev == b.Dev && v.Names(path.Base(l.Path)) })
}

// direct tells whether a device is a disk, a partition of one, or an encryption of these:
// what else is made of disks (volume groups, arrays) has a name of its own.
func direct(view *snapshot.NodeView, b *probes.BlockDevice) bool {
	if b.DM != nil {
		return strings.HasPrefix(b.DM.UUID, "CRYPT-")
	}
	return b.LoopFile == "" && !strings.HasPrefix(b.Name, "md") && !strings.HasPrefix(b.Name, "drbd")
}
