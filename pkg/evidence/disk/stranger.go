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
// without its dash, a UUID, of which virtio keeps 20 characters, and the name that a provisioner gives.
var (
	amazonID = regexp.MustCompile(`^vol(?:[0-9a-f]{8}|[0-9a-f]{17})$`)
	dashedID = regexp.MustCompile(`^(?:pvc-)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f](?:[0-9a-f]{3}-[0-9a-f]{12})?$`)
)

// sameForm tells whether a disk is named as the one of a handle would be.
func sameForm(handle, name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	return amazonID.MatchString(snapshot.Plain(handle)) && amazonID.MatchString(name) || dashedID.MatchString(strings.ToLower(handle)) && dashedID.MatchString(name)
}

// strangerBelow is the disk of the backend below a mounted device that bears the name of
// another volume, in the form of this one's handle or of the WWID that is stated for it, and
// that name; nil when there is none, or anything about the disks below names the volume: a link does
// not where the volume's own disk is elsewhere on the node.
func strangerBelow(pl *evidence.Place, dev probes.Dev, elsewhere bool) (stranger *probes.BlockDevice, name string) {
	v, view := pl.Volume, pl.View
	var noted []string // what the attachment says: some drivers give the disk another name
	if va := v.AttachmentOn(pl.Node); va != nil {
		for _, value := range va.Status.AttachmentMetadata {
			noted = append(noted, snapshot.Plain(value))
		}
	}
	for _, b := range view.Leaves(dev) {
		serial, wwid := snapshot.Plain(b.Serial), snapshot.BareWWID(b.WWID)
		stated := Comparable(v.WWIDs(), wwid)
		switch {
		case v.Names(view.Serial(b)) || v.Names(b.Serial) || v.Names(b.WWID) || v.Names(b.VPD83) || !elsewhere && linked(v, view, b) || System(view, b) || slices.Contains(stated, wwid):
			return nil, ""
		case serial != "" && slices.ContainsFunc(noted, func(s string) bool { return strings.Contains(s, serial) }):
			return nil, ""
		case !Whole(b):
		case sameForm(path.Base(v.CSIHandle()), view.Serial(b)):
			stranger, name = b, strings.TrimSpace(view.Serial(b))
		case len(stated) > 0:
			stranger, name = b, b.WWID
		}
	}
	return stranger, name
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
