package device

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// bareWWID reduces the ways in which one identity is written (naa.6…, eui.…, the
// leading 3 of scsi_id for NAA ids, wwn-0x…, dashes) to the digits themselves.
func bareWWID(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	for _, p := range []string{"mpath-", "wwn-0x", "0x", "naa.", "eui.", "scsi-", "uuid."} {
		s = strings.TrimPrefix(s, p)
	}
	s = strings.ReplaceAll(s, "-", "")
	if (len(s) == 33 || len(s) == 17) && (s[0] == '3' || s[0] == '2') {
		s = s[1:] // multipath prefixes the type of the page-83 descriptor (scsi_id(8))
	}
	return s
}

// mapWWID is the WWID of a multipath map, from its uuid.
func mapWWID(m *probes.BlockDevice) string { return bareWWID(strings.TrimPrefix(m.DM.UUID, "mpath-")) }

// volumeWWIDs are the identities that the PV states for its disk.
func volumeWWIDs(v *snapshot.Volume) []string {
	if v.PV == nil {
		return nil
	}
	var out []string
	take := func(s string) {
		if b := bareWWID(s); len(b) >= 16 && strings.Trim(b, "0123456789abcdef") == "" {
			out = append(out, b)
		}
	}
	if c := v.PV.Spec.CSI; c != nil {
		for _, k := range []string{"wwn", "wwid", "WWN", "WWID", "serial", "Serial", "serialNumber", "devicePath", "lunId", "naa", "volumeWWN"} {
			take(c.VolumeAttributes[k])
		}
		for _, part := range strings.FieldsFunc(c.VolumeHandle, func(r rune) bool { return strings.ContainsRune("#:/,;|@ ", r) }) {
			take(part)
		}
	}
	if fc := v.PV.Spec.FC; fc != nil {
		for _, w := range fc.WWIDs {
			take(w)
		}
	}
	for _, va := range v.Attachments {
		for _, value := range va.Status.AttachmentMetadata {
			take(value)
		}
	}
	return out
}

// mapOfVolume tells whether a map is the volume's, by WWID or because the volume's
// device is one of its slaves, and how that is known.
func mapOfVolume(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, m *probes.BlockDevice) (bool, string) {
	w := mapWWID(m)
	for _, o := range volumeWWIDs(v) {
		if o == w || len(o) >= 16 && strings.HasSuffix(w, o) || len(w) >= 16 && strings.HasSuffix(o, w) {
			return true, "the map's WWID is that of the volume (" + o + ")"
		}
	}
	if d, ok := p.DeviceOn(v, view.Name); ok {
		if d.Dev == m.Dev {
			return true, d.How
		}
		for _, leaf := range view.Leaves(m.Dev) {
			if leaf.Dev == d.Dev {
				return true, "the volume's disk " + leaf.Name + " is a slave of the map"
			}
		}
	}
	return false, ""
}

// ownedByOther tells whether a map belongs to another volume of the cluster.
func ownedByOther(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, m *probes.BlockDevice) bool {
	for _, o := range p.Index.Volumes {
		if o == v {
			continue
		}
		if mine, _ := mapOfVolume(p, o, view, m); mine {
			return true
		}
	}
	return false
}

// disksOutside are running disks with the map's WWID that are no slaves of it.
func disksOutside(view *snapshot.NodeView, m *probes.BlockDevice) []string {
	var out []string
	for i := range view.Facts.Block {
		b := &view.Facts.Block[i]
		if b.WWID != "" && bareWWID(b.WWID) == mapWWID(m) && usable(b) && !contains(m.Slaves, b.Name) && b.DM == nil {
			out = append(out, b.Name)
		}
	}
	return out
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
