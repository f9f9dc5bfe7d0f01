package message

import (
	"slices"
	"testing"
)

func TestNeeded(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, pattern string
		want          [][]string
	}{
		{"plain words", `is still being used`, [][]string{{"is still being used"}}},
		{"alternatives", `target is busy|umount: \\S+: device is busy`, [][]string{{"target is busy"}, {"umount: ", ": device is busy"}}},
		{"an optional letter is not needed", `secrets? "[^"]+" not found`, [][]string{{"secret", `" not found`}}},
		{"an alternative without words", `abc|\\d+`, nil},
		{"bounds are no words", `abc.{0,80}xyz`, [][]string{{"abc", "xyz"}}},
		{"a group that must match", `(node|vm)\b.{0,80}(not found|does not exist)`, [][]string{{"not found"}, {"does not exist"}}},
		{"groups that must match", `(volume|disk)\b.*(lost|gone)`, [][]string{{"lost", "volume"}, {"gone", "volume"}, {"lost", "disk"}, {"gone", "disk"}}},
		{"a group that may be missing", `(abc)?(?:def|ghi)`, [][]string{{"def"}, {"ghi"}}},
		{"bars in groups do not split", `failed to (open|close) .*LUKS`, [][]string{{"failed to ", "luks", "open"}, {"failed to ", "luks", "close"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := needed(tt.pattern); !slices.EqualFunc(got, tt.want, slices.Equal[[]string]) {
				t.Errorf("needed(%q) = %q, want %q", tt.pattern, got, tt.want)
			}
		})
	}
}

// TestNeededKeepsMatches compares the shortcut with the plain pattern on texts of
// every sentence's own words.
func TestNeededKeepsMatches(t *testing.T) {
	t.Parallel()
	for _, list := range grammar {
		for _, s := range list {
			for _, text := range samples {
				lower := toLower(text)
				if got, want := s.matches(text, lower), s.re.MatchString(text); got != want {
					t.Errorf("%s on %q: %v, want %v", s.kind, text, got, want)
				}
			}
		}
	}
}

func toLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 32
		}
	}
	return string(b)
}

var samples = []string{
	"mount: /x: /dev/sdb already mounted or mount point busy.",
	"/dev/sdb is apparently in use by the system; will not make a filesystem here!",
	"/dev/sdb is mounted; will not make a filesystem here!",
	"mount: wrong fs type, bad option, bad superblock on /dev/sdb",
	"mount.nfs: Connection timed out", "mount.nfs: access denied by server", "mount.nfs: No route to host",
	"'fsck' found errors on device /dev/sdb but could not correct them",
	"driver name d not found in the list of registered CSI drivers", "CSINode n does not contain driver d",
	"Multi-Attach error for volume v Volume is already used by pod(s) a", "rpc error: code = Aborted desc = x",
	"An operation with the given Volume ID v already exists", "umount: /x: target is busy.", "Secret \"x\" not found",
	`failed to find VirtualMachine for node:"w3". Error: virtual machine wasn't found`, "rbd: x unmap y exit status 16",
	"Cannot use device /dev/sdb which is in use (already mapped or mounted).", "exit status 127", "Read-only file system",
}
