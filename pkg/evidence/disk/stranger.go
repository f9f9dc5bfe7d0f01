package disk

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Forms in which backends write a volume's handle into the serial of its disk: Amazon's id
// without its dash, and a UUID, of which virtio keeps 20 characters; and the WWID of an array or of VMware.
var (
	amazonID = regexp.MustCompile(`^vol(?:[0-9a-f]{8}|[0-9a-f]{17})$`)
	naaID    = regexp.MustCompile(`^6[0-9a-f]{31}$`) // NAA type 6: the vendor's number in six digits, then the vendor's own
	dashedID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f](?:[0-9a-f]{3}-[0-9a-f]{12})?$`)
)

// sameForm tells whether a disk is named as the one of a handle would be.
func sameForm(handle, name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	plain, other := snapshot.Plain(handle), strings.TrimPrefix(name, "naa.")
	return amazonID.MatchString(plain) && amazonID.MatchString(name) || dashedID.MatchString(strings.ToLower(handle)) && dashedID.MatchString(name) ||
		naaID.MatchString(plain) && naaID.MatchString(other) && plain[:7] == other[:7]
}

// strangerBelow is the disk of the backend below a mounted device that bears the name of
// another volume in the form of this one's handle, or of the name that its attachment gives the
// disk, and that name; nil when there is none, or anything about the disks below names the volume.
func strangerBelow(pl *evidence.Place, dev probes.Dev) (stranger *probes.BlockDevice, name string) {
	v, view := pl.Volume, pl.View
	own := []string{path.Base(v.CSIHandle())}
	if va := v.AttachmentOn(pl.Node); va != nil {
		own = slices.AppendSeq(own, maps.Values(va.Status.AttachmentMetadata)) // some drivers give the disk another name
	}
	for _, b := range view.Leaves(dev) {
		if linked(v, view, b) || System(view, b) {
			return nil, ""
		}
		for _, called := range []string{b.Serial, b.WWID, b.VPD83} {
			is := func(s string) bool {
				return called != "" && strings.Contains(snapshot.Plain(s), snapshot.Plain(strings.TrimPrefix(strings.TrimSpace(called), "naa.")))
			}
			if v.Names(called) || slices.ContainsFunc(own[1:], is) {
				return nil, ""
			}
			if Whole(b) && slices.ContainsFunc(own, func(s string) bool { return sameForm(s, called) }) {
				stranger, name = b, strings.TrimSpace(called)
			}
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
