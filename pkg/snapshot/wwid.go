package snapshot

import (
	"encoding/hex"
	"strings"
)

// ONTAP's LUNs have a serial of twelve characters (page 0x80), and their NAA id is NetApp's
// number before those in hexadecimal; Trident notes the serial (core: iscsiLunSerial).
const (
	ontapSerial = 12
	ontapNAA    = "600a0980"
)

// BareWWID reduces the ways in which one identity is written (naa.6…, eui.…, the
// leading 3 of scsi_id for NAA ids, wwn-0x…, dashes) to the digits themselves.
func BareWWID(s string) string {
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

// WWIDs are the identities that the PV states for its disk, reduced to their digits:
// in attributes that drivers of arrays use for them, in the handle (a UUID is none),
// in an FC source, and in what the attacher noted.
func (v *Volume) WWIDs() []string {
	if v == nil || v.PV == nil {
		return nil
	}
	var out nodeList
	take := func(s string) {
		if b := BareWWID(s); len(b) >= 16 && strings.Trim(b, "0123456789abcdef") == "" {
			out.add(b)
		}
	}
	if c := v.PV.Spec.CSI; c != nil {
		for _, k := range []string{"wwn", "wwid", "WWN", "WWID", "devicePath", "lunId", "naa", "NAA", "volumeWWN", "volumeWwn", "lunWWN", "deviceWWN"} {
			take(c.VolumeAttributes[k])
		}
		for _, part := range strings.FieldsFunc(c.VolumeHandle, func(r rune) bool { return strings.ContainsRune("#:/,;|@ ", r) }) {
			if !strings.Contains(part, "-") {
				take(part)
			}
		}
	}
	for _, id := range v.namespaceUUIDs() {
		out.add(id)
	}
	if fc := v.PV.Spec.FC; fc != nil {
		for _, w := range fc.WWIDs {
			take(w)
		}
	}
	for _, va := range v.Attachments {
		for key, value := range va.Status.AttachmentMetadata {
			if strings.HasSuffix(strings.ToLower(key), "lunserial") && len(value) == ontapSerial {
				out.add(ontapNAA + hex.EncodeToString([]byte(value)))
			}
			parts := []string{value}
			if strings.HasPrefix(value, "{") { // JSON in a string (Huawei: publishInfo)
				parts = strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("{}[]\":,", r) })
			}
			for _, part := range parts {
				if !strings.Contains(part, "-") {
					take(part)
				}
			}
		}
	}
	return out
}
