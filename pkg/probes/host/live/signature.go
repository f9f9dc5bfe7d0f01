package live

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// signatureBytes reaches past the btrfs superblock, the farthest one looked for.
const signatureBytes = 0x11000

// ext4 and xfs on disk: Documentation/filesystems/ext4/super.rst and
// fs/xfs/libxfs/xfs_format.h.
const (
	extSuper         = 0x400
	extMagic         = extSuper + 0x38
	extState         = extSuper + 0x3A
	extCompat        = extSuper + 0x5C
	extIncompat      = extSuper + 0x60
	extROCompat      = extSuper + 0x64
	extUUID          = extSuper + 0x68
	extErrorCount    = extSuper + 0x194
	extNeedsRecovery = 0x4
	extHasJournal    = 0x4
	extExtents       = 0x40
	xfsUUID          = 32
	xfsVersion       = 100
	xfsIncompat      = 0xD8
	xfsNeedsRepair   = 0x10
)

// Signature names what the first bytes of a device are, with libblkid's names.
// "none" means that no known signature is there, not that the device is empty.
func Signature(head []byte) probes.Content {
	for _, known := range []func([]byte) (probes.Content, bool){luks, lvm, raid, xfs, ext, btrfs, swap} {
		if c, ok := known(head); ok {
			return c
		}
	}
	c := probes.Content{Type: "none"}
	switch {
	case at(head, 0x200, "EFI PART"), at(head, 0x1000, "EFI PART"):
		c.Extra = map[string]string{"PTTYPE": "gpt"}
	case at(head, 0x1FE, "\x55\xAA"):
		c.Extra = map[string]string{"PTTYPE": "dos"}
	}
	return c
}

func at(head []byte, offset int, magic string) bool {
	return len(head) >= offset+len(magic) && string(head[offset:offset+len(magic)]) == magic
}

func uuid(b []byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

func ext(head []byte) (probes.Content, bool) {
	if !at(head, extMagic, "\x53\xEF") || len(head) < extSuper+0x400 {
		return probes.Content{}, false
	}
	le := binary.LittleEndian
	compat, incompat, ro := le.Uint32(head[extCompat:]), le.Uint32(head[extIncompat:]), le.Uint32(head[extROCompat:])
	c := probes.Content{Type: "ext2", UUID: uuid(head[extUUID:])}
	switch {
	case incompat&extExtents != 0 || incompat&^0x17 != 0 || ro&^0x7 != 0:
		c.Type = "ext4"
	case compat&extHasJournal != 0:
		c.Type = "ext3"
	}
	state := le.Uint16(head[extState:])
	switch {
	case le.Uint32(head[extErrorCount:]) > 0 || state&2 != 0:
		c.State = "errors"
	case incompat&extNeedsRecovery != 0:
		c.State = "needs_recovery"
	case state&1 != 0:
		c.State = "clean"
	default:
		c.State = "dirty"
	}
	if list := features(extNames, compat, incompat, ro); list != "" {
		c.Extra = map[string]string{"FEATURES": list}
	}
	return c, true
}

func xfs(head []byte) (probes.Content, bool) {
	if !at(head, 0, "XFSB") || len(head) < 512 {
		return probes.Content{}, false
	}
	c := probes.Content{Type: "xfs", UUID: uuid(head[xfsUUID:])}
	be := binary.BigEndian
	if be.Uint16(head[xfsVersion:])&0xF != 5 {
		return c, true
	}
	ro, incompat := be.Uint32(head[xfsIncompat-4:]), be.Uint32(head[xfsIncompat:])
	if incompat&xfsNeedsRepair != 0 {
		c.State = "errors" // XFS has no clean flag in its superblock: otherwise unknown
	}
	if list := features(xfsNames, 0, incompat, ro); list != "" {
		c.Extra = map[string]string{"FEATURES": list}
	}
	return c, true
}

func btrfs(head []byte) (probes.Content, bool) {
	if !at(head, 0x10040, "_BHRfS_M") {
		return probes.Content{}, false
	}
	return probes.Content{Type: "btrfs", UUID: uuid(head[0x10020:])}, true
}

func luks(head []byte) (probes.Content, bool) {
	if !at(head, 0, "LUKS\xBA\xBE") || len(head) < 208 {
		return probes.Content{}, false
	}
	id, _, _ := bytes.Cut(head[168:208], []byte{0})
	version := binary.BigEndian.Uint16(head[6:])
	return probes.Content{Type: "crypto_LUKS", UUID: string(id), Extra: map[string]string{"VERSION": fmt.Sprint(version)}}, true
}

// lvm looks in the first four sectors, as LVM itself does (label.c).
func lvm(head []byte) (probes.Content, bool) {
	for sector := range 4 {
		o := sector * 512
		if !at(head, o, "LABELONE") || !at(head, o+0x18, "LVM2 001") || len(head) < o+0x40 {
			continue
		}
		u := head[o+0x20 : o+0x40]
		id := fmt.Sprintf("%s-%s-%s-%s-%s-%s-%s", u[0:6], u[6:10], u[10:14], u[14:18], u[18:22], u[22:26], u[26:32])
		return probes.Content{Type: "LVM2_member", UUID: id}, true
	}
	return probes.Content{}, false
}

// raid finds md metadata 1.1 and 1.2; 0.90 and 1.0 lie at the device's end.
func raid(head []byte) (probes.Content, bool) {
	for _, o := range []int{0x1000, 0} {
		if at(head, o, "\xFC\x4E\x2B\xA9") && len(head) >= o+0x20 {
			return probes.Content{Type: "linux_raid_member", UUID: uuid(head[o+0x10:])}, true
		}
	}
	return probes.Content{}, false
}

func swap(head []byte) (probes.Content, bool) {
	if !at(head, 0xFF6, "SWAPSPACE2") && !at(head, 0xFFF6, "SWAPSPACE2") {
		return probes.Content{}, false
	}
	return probes.Content{Type: "swap", UUID: uuid(head[0x40C:])}, true
}
