package live

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

const id = "01020304-0506-0708-090a-0b0c0d0e0f10"

var rawID = "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10"

// head makes the first bytes of a device with texts at offsets.
func head(parts map[int]string) []byte {
	b := make([]byte, signatureBytes)
	for offset, text := range parts {
		copy(b[offset:], text)
	}
	return b
}

func word(v uint32) string { return string(binary.LittleEndian.AppendUint32(nil, v)) }

func extWith(state uint16, incompat, errors uint32) []byte {
	return head(map[int]string{
		extMagic: "\x53\xEF", extState: string(binary.LittleEndian.AppendUint16(nil, state)), extUUID: rawID,
		extCompat: word(extHasJournal), extIncompat: word(incompat), extErrorCount: word(errors),
	})
}

func TestSignature(t *testing.T) {
	t.Parallel()
	features := func(s string) map[string]string { return map[string]string{"FEATURES": s} }
	tests := []struct {
		name string
		in   []byte
		want probes.Content
	}{
		{"zeros", make([]byte, signatureBytes), probes.Content{Type: "none"}},
		{"nothing", nil, probes.Content{Type: "none"}},
		{"short device", []byte("XFSB"), probes.Content{Type: "none"}},
		{"clean ext4", extWith(1, 0x42, 0), probes.Content{Type: "ext4", UUID: id, State: "clean", Extra: features("has_journal filetype extent")}},
		{"mounted or crashed ext4", extWith(1, 0x46, 0), probes.Content{Type: "ext4", UUID: id, State: "needs_recovery", Extra: features("has_journal filetype needs_recovery extent")}},
		{"ext4 with errors", extWith(3, 0x46, 0), probes.Content{Type: "ext4", UUID: id, State: "errors", Extra: features("has_journal filetype needs_recovery extent")}},
		{"ext4 with counted errors", extWith(1, 0x42, 4), probes.Content{Type: "ext4", UUID: id, State: "errors", Extra: features("has_journal filetype extent")}},
		{"ext4 not unmounted", extWith(0, 0x42, 0), probes.Content{Type: "ext4", UUID: id, State: "dirty", Extra: features("has_journal filetype extent")}},
		{"unknown feature", extWith(1, 0x80000042, 0), probes.Content{Type: "ext4", UUID: id, State: "clean", Extra: features("has_journal filetype extent incompat:0x80000000")}},
		{"ext3", extWith(1, 2, 0), probes.Content{Type: "ext3", UUID: id, State: "clean", Extra: features("has_journal filetype")}},
		{"xfs", head(map[int]string{0: "XFSB", 32: rawID, 100: "\xB4\xB5", 0xD8: "\x00\x00\x00\x0B"}), probes.Content{Type: "xfs", UUID: id, Extra: features("ftype sparse bigtime")}},
		{"xfs that needs repair", head(map[int]string{0: "XFSB", 32: rawID, 100: "\xB4\xB5", 0xD8: "\x00\x00\x00\x11"}), probes.Content{Type: "xfs", UUID: id, State: "errors", Extra: features("ftype needsrepair")}},
		{"xfs v4", head(map[int]string{0: "XFSB", 32: rawID, 100: "\xB4\xA4"}), probes.Content{Type: "xfs", UUID: id}},
		{"btrfs", head(map[int]string{0x10040: "_BHRfS_M", 0x10020: rawID}), probes.Content{Type: "btrfs", UUID: id}},
		{"luks2", head(map[int]string{0: "LUKS\xBA\xBE\x00\x02", 168: id}), probes.Content{Type: "crypto_LUKS", UUID: id, Extra: map[string]string{"VERSION": "2"}}},
		{"lvm", head(map[int]string{0x200: "LABELONE", 0x218: "LVM2 001", 0x220: "abcdefghijklmnopqrstuvwxyz012345"}), probes.Content{Type: "LVM2_member", UUID: "abcdef-ghij-klmn-opqr-stuv-wxyz-012345"}},
		{"md 1.2", head(map[int]string{0x1000: "\xFC\x4E\x2B\xA9", 0x1010: rawID}), probes.Content{Type: "linux_raid_member", UUID: id}},
		{"swap", head(map[int]string{0xFF6: "SWAPSPACE2", 0x40C: rawID}), probes.Content{Type: "swap", UUID: id}},
		{"partition table", head(map[int]string{0x1FE: "\x55\xAA", 0x200: "EFI PART"}), probes.Content{Type: "none", Extra: map[string]string{"PTTYPE": "gpt"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, Signature(tt.in)); diff != "" {
				t.Errorf("content mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSignatureOfRealTools lets the tools of the machine make the bytes.
func TestSignatureOfRealTools(t *testing.T) {
	t.Parallel()
	for want, command := range map[string][]string{
		"ext4": {"mkfs.ext4", "-q", "-F"}, "ext3": {"mkfs.ext3", "-q", "-F"}, "ext2": {"mkfs.ext2", "-q", "-F"},
		"xfs": {"mkfs.xfs", "-q", "-f"}, "btrfs": {"mkfs.btrfs", "-q", "-f"}, "swap": {"mkswap"},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(command[0]); err != nil {
				t.Skipf("NOT TESTED: %v", err)
			}
			image := filepath.Join(t.TempDir(), "image")
			if err := os.WriteFile(image, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(image, 512<<20); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(command[0], append(command[1:], image)...).CombinedOutput(); err != nil {
				t.Skipf("NOT TESTED: %v: %s", err, out)
			}
			file, err := os.Open(image)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			bytes := make([]byte, signatureBytes)
			if _, err := file.ReadAt(bytes, 0); err != nil {
				t.Fatal(err)
			}
			if got := Signature(bytes); got.Type != want || got.UUID == "" {
				t.Errorf("got %+v, want %s", got, want)
			}
		})
	}
}

func FuzzSignature(f *testing.F) {
	f.Add(extWith(1, 0x42, 0))
	f.Add([]byte("LUKS\xBA\xBE"))
	f.Add([]byte("XFSB"))
	f.Fuzz(func(t *testing.T, head []byte) {
		if Signature(head).Type == "" {
			t.Error("no type")
		}
	})
}
