package snapshot

import (
	"path"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// longToken is the length from which an id may stand inside a longer text; a
// shorter one (Hetzner's numbers, shortToken at least) must be a whole field.
const (
	longToken  = 12
	shortToken = 6
)

// cutSerials are the lengths at which a serial is cut off, so that it is the beginning of an id:
// virtio and NVMe keep 20 characters, QEMU's SCSI disks 20 or 36.
var cutSerials = []int{20, 36}

// handleKinds are what drivers put before an id to say what it is of; the hardware has the
// id alone (Alibaba: disk d-bp1… has the serial bp1…).
var handleKinds = []string{"pvc-", "d-", "vol-", "volume-", "disk-"}

// bareToken is the length from which such an id is taken without what stands before it.
const bareToken = 8

// Plain keeps letters and digits, in lower case: "vol-0ABC" is written "vol0abc" in a serial.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return -1
	}, s)
}

// tokens are the ids by which hardware may know a volume: the handle, its last
// element, and what stands behind separators of drivers (Linode "id-label",
// Seagate "name##iscsi##wwn").
func tokens(v *Volume) []string {
	if v.PV == nil || v.Handle == "" || (v.PV.Spec.CSI == nil && migratedDrivers[v.Driver] == "") {
		return nil
	}
	raw := []string{v.Handle, path.Base(v.Handle)}
	if _, after, ok := strings.Cut(v.Handle, "##"); ok {
		raw = append(raw, after[strings.LastIndex(after, "#")+1:])
	}
	if number, label, ok := strings.Cut(v.Handle, "-"); ok && Plain(label) == label && allDigits(number) {
		raw = append(raw, label)
	}
	for _, kind := range handleKinds {
		if bare, ok := strings.CutPrefix(path.Base(v.Handle), kind); ok && len(Plain(bare)) >= bareToken {
			raw = append(raw, bare)
		}
	}
	var out nodeList
	for _, r := range raw {
		if t := Plain(r); len(t) >= shortToken {
			out.add(t)
		}
	}
	for _, w := range v.WWIDs() {
		out.add(w)
	}
	return out
}

// Names tells whether something that a disk or a link says of itself names the volume.
func (v *Volume) Names(field string) bool {
	want := tokens(v)
	if t := Plain(v.PVName()); len(t) >= longToken {
		want = append(want, t)
	}
	return fieldNames(field, want)
}

func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// fieldNames tells whether a hardware field names one of the tokens.
func fieldNames(field string, tokens []string) bool {
	f := Plain(field)
	return f != "" && slices.ContainsFunc(tokens, func(t string) bool {
		switch {
		case f == t, slices.Contains(cutSerials, len(strings.TrimSpace(field))) && strings.HasPrefix(t, f):
			return true
		case len(t) < longToken || !strings.Contains(f, t):
			return false
		}
		return coded.MatchString(t) || standsIn(field, t)
	})
}

// coded is an id that nobody else's begins with: it has the digits of a UUID, a serial or a WWID.
var coded = pattern.MustCompile(`[0-9a-f]{12}`)

// standsIn tells whether a name that people chose stands in a text as a whole: "data-volume" is
// the beginning of "data-volume-1", and another one.
func standsIn(field, name string) bool {
	for i := range field {
		if i > 0 && Plain(field[i-1:i]) != "" {
			continue
		}
		for end := i + 1; end <= len(field) && strings.HasPrefix(name, Plain(field[i:end])); end++ {
			if Plain(field[i:end]) != name {
				continue
			}
			if end == len(field) || field[end] != '-' && Plain(field[end:end+1]) == "" {
				return true
			}
			break
		}
	}
	return false
}

// linkedDevice finds a disk whose serial, WWID or udev link names the volume, or
// a link in dev/disk that the PV or the VolumeAttachment names.
func (x *Index) linkedDevice(view *NodeView, v *Volume) (match, bool) {
	if v.IsLonghorn() {
		return match{}, false
	}
	if m, ok := x.namedLink(view, v); ok {
		return m, true
	}
	if m, ok := x.resourceLink(view, v); ok {
		return m, true
	}
	want := tokens(v)
	if len(want) == 0 {
		return match{}, false
	}
	var m match
	for _, b := range view.Blocks() {
		field := identityField(view, b, want)
		if field == "" || b.Partition > 0 || b.Dev.IsZero() || strings.HasPrefix(b.Name, "dm-") || x.wholly(view, v, b, want) {
			continue
		}
		m.addPath(b)
		if m.how == "" {
			if m.how, m.locator = field, "sys/class/block/"+b.Name; strings.HasPrefix(field, "udev") {
				m.locator = "run/udev/data/b" + b.Dev.String()
			}
		}
	}
	if len(m.paths) > 0 {
		return m.finish()
	}
	if m, ok := x.idLink(view, v, want); ok {
		return m, true
	}
	return x.nameLink(view, v)
}

func identityField(view *NodeView, b *probes.BlockDevice, want []string) string {
	switch {
	case fieldNames(b.Serial, want):
		return "serial " + strings.TrimSpace(b.Serial)
	case fieldNames(b.WWID, want):
		return "wwid " + strings.TrimSpace(b.WWID)
	case fieldNames(b.VPD83, want):
		return "identification page 0x83 of " + b.Name
	case fieldNames(view.Serial(b), want):
		return "udev's serial " + udevSerial(view, b.Dev)
	}
	return ""
}

// namedLink follows what the PV's attributes or the VolumeAttachment say:
// "/dev/disk/by-id/…" is an identity, a kernel name is none and is not followed.
func (x *Index) namedLink(view *NodeView, v *Volume) (match, bool) {
	var paths []string
	if v.PV != nil && v.PV.Spec.CSI != nil {
		paths = linkValues(v.PV.Spec.CSI.VolumeAttributes)
	}
	if va := v.AttachmentOn(view.Name); va != nil && va.Status.Attached {
		paths = append(paths, linkValues(va.Status.AttachmentMetadata)...)
		if lun := va.Status.AttachmentMetadata["LUN"]; lun != "" && v.CSIName() == "disk.csi.azure.com" {
			// The udev rules of the Azure agent name data disks by the VM's LUN.
			paths = append(paths, "/dev/disk/azure/scsi1/lun"+lun, "/dev/disk/azure/data/by-lun/"+lun)
		}
	}
	if disk := path.Base(v.CSIHandle()); v.CSIName() == "pd.csi.storage.gke.io" && v.CSIHandle() != "" {
		// The driver attaches a disk under its own name, the udev rules of the guest link it.
		paths = append(paths, "/dev/disk/by-id/google-"+disk)
	}
	for _, p := range paths {
		if dev, ok := view.NumberAt(p); ok && !x.contested(view, v, dev) {
			return match{dev: dev, proven: true, how: "link " + p, locator: p[1:]}, true
		}
	}
	return match{}, false
}

func linkValues(m map[string]string) []string {
	var out []string
	for _, v := range m {
		if strings.HasPrefix(v, "/dev/disk/by-id/") || strings.HasPrefix(v, "/dev/disk/by-path/") {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

// idLink finds a link below dev/disk/by-id, or one that a storage stack makes
// (dev/drbd/by-res/<res>/0, dev/zvol/<pool>/<vol>, dev/<vg>/<lv>), for the volume.
func (x *Index) idLink(view *NodeView, v *Volume, want []string) (match, bool) {
	for _, l := range view.Facts.DevLinks {
		if strings.Contains(l.Path, "-part") || !linkNames(l.Path, want) {
			continue
		}
		if dev, ok := view.NumberAt(l.Path); ok && !x.contested(view, v, dev) {
			return match{dev: dev, proven: true, how: "link " + l.Path, locator: l.Path[1:]}, true
		}
	}
	return match{}, false
}

// resourceLink finds the device of a DRBD resource: LINSTOR's handle is the name of its resource, however short.
func (x *Index) resourceLink(view *NodeView, v *Volume) (match, bool) {
	link := "/dev/drbd/by-res/" + v.Handle + "/0"
	if dev, ok := view.NumberAt(link); ok && v.CSIName() == "linstor.csi.linbit.com" && !x.contested(view, v, dev) {
		return match{dev: dev, proven: true, how: "link " + link, locator: link[1:]}, true
	}
	return match{}, false
}

// nameLink finds the link by id of a disk whose cloud gave the volume the name of its
// PersistentVolume, and has another id for it (DigitalOcean: scsi-0DO_Volume_pvc-…). A mapper
// that is called so lies above the disk.
func (x *Index) nameLink(view *NodeView, v *Volume) (match, bool) {
	name := Plain(v.PVName())
	for _, l := range view.Facts.DevLinks {
		id, ok := strings.CutPrefix(l.Path, "/dev/disk/by-id/")
		if !ok || len(name) < longToken || strings.Contains(id, "-part") || !fieldNames(id, []string{name}) {
			continue
		}
		dev, ok := view.NumberAt(l.Path)
		if b := view.Device(dev); ok && b != nil && b.DM == nil && !x.contested(view, v, dev) {
			return match{dev: dev, proven: true, how: "link " + l.Path, locator: l.Path[1:]}, true
		}
	}
	return match{}, false
}

func linkNames(link string, want []string) bool {
	parts := strings.Split(strings.TrimPrefix(link, "/dev/"), "/")
	if name, ok := strings.CutPrefix(link, "/dev/disk/by-id/"); ok {
		return fieldNames(name, want) || fieldNames(name[strings.LastIndexAny(name, "_")+1:], want)
	}
	if parts[0] == "disk" || parts[0] == "mapper" {
		return false
	}
	return slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(want, Plain(p)) })
}
