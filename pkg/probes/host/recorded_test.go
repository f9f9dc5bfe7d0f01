package host

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

const machine = `a machine with every form of entry
-- @clock --
2026-05-04T10:00:00Z
3600.25
-- @hostname --
node-a
-- @claim/8:32 --
EBUSY
-- @content/8:32 --
TYPE=ext4
UUID=u
STATE=clean
FEATURES=has_journal
-- @content/8:48 --
@error EIO
-- @statfs/mnt/a --
1 2 3 4 5 4096
-- @statfs/mnt/dead --
@hang
-- @dev/proc/77/cwd --
8:32
-- @multipathd/show maps json --
{"maps": []}
-- proc/77/cmdline --
a␀b␀
-- proc/77/cwd --
@link /mnt/a
-- sys/class/block/sda --
@link ../../devices/x/block/sda
-- sys/devices/x/block/sda/dev --
8:0
-- sys/devices/x/block/sda/holders --
@dir
-- dev/sdc --
@device block 8:32
-- dev/null --
@device char 1:3
-- run/s --
@socket
-- etc/broken --
@error EIO
-- etc/slow --
@hang
-- etc/bin --
@hex
00ff
0a
-- etc/at --
@text
@dir
-- etc/loop --
@link loop
-- etc/up --
@link ../../../../etc/at
-- usr/sbin/iscsiadm --
-- lib/modules/6.1/modules.dep --
x
`

func parsed(t *testing.T, text string) *Recorded {
	t.Helper()
	r, err := ParseRecording([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	r := parsed(t, machine)
	tests := []struct {
		path, want string
		err        error
	}{
		{"proc/77/cmdline", "a\x00b\x00", nil},
		{"sys/class/block/sda/dev", "8:0\n", nil},
		{"etc/bin", "\x00\xff\n", nil},
		{"etc/at", "@dir\n", nil},
		{"etc/up", "@dir\n", nil},
		{"sbin/iscsiadm", "", nil},
		{"usr/lib/modules/6.1/modules.dep", "x\n", nil},
		{"etc/broken", "", syscall.EIO},
		{"etc/slow", "", ErrHang},
		{"etc/loop", "", syscall.ELOOP},
		{"etc", "", syscall.EISDIR},
		{"etc/none", "", fs.ErrNotExist},
		{"etc/at/below", "", syscall.ENOTDIR},
		{"run/s", "", syscall.ENXIO},
	}
	for _, tt := range tests {
		got, err := r.ReadFile(tt.path, 0)
		if string(got) != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s: got %q, %v; want %q, %v", tt.path, got, err, tt.want, tt.err)
		}
	}
	if got, err := r.ReadFile("etc/at", 2); string(got) != "@d" || !errors.Is(err, ErrCut) {
		t.Errorf("cut: got %q, %v", got, err)
	}
}

func TestLstatAndReadDir(t *testing.T) {
	t.Parallel()
	r := parsed(t, machine)
	for path, want := range map[string]Kind{
		"dev/sdc": Device, "dev/null": Char, "run/s": Socket, "etc": Dir, "etc/loop": Link, "etc/at": File,
		"none": Absent, "etc/at/x": Absent, "sys/class/block/sda/holders": Dir, "bin": Absent,
	} {
		if got, _, err := r.Lstat(path); got != want || err != nil {
			t.Errorf("%s: got %q, %v; want %q", path, got, err, want)
		}
	}
	if _, dev, _ := r.Lstat("dev/sdc"); dev != (probes.Dev{Major: 8, Minor: 32}) {
		t.Errorf("dev/sdc: got %v", dev)
	}
	got, err := r.ReadDir("sys/class/block/sda")
	if diff := cmp.Diff([]string{"dev", "holders"}, got); diff != "" || err != nil {
		t.Errorf("names mismatch (-want +got), %v:\n%s", err, diff)
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	r := parsed(t, machine)
	clock, err := r.Clock()
	want := Clock{Wall: time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC), Uptime: 3600250 * time.Millisecond}
	if diff := cmp.Diff(want, clock); diff != "" || err != nil {
		t.Errorf("clock mismatch (-want +got), %v:\n%s", err, diff)
	}
	if got, err := r.Claim(probes.Dev{Major: 8, Minor: 32}); got != "EBUSY" || err != nil {
		t.Errorf("claim: got %q, %v", got, err)
	}
	if _, err := r.Claim(probes.Dev{Major: 8, Minor: 99}); !errors.Is(err, ErrNotAsked) {
		t.Errorf("claim that was not asked: got %v", err)
	}
	content, err := r.Content(probes.Dev{Major: 8, Minor: 32})
	if diff := cmp.Diff(probes.Content{Type: "ext4", UUID: "u", State: "clean", Extra: map[string]string{"FEATURES": "has_journal"}}, content); diff != "" || err != nil {
		t.Errorf("content mismatch (-want +got), %v:\n%s", err, diff)
	}
	if c, err := r.Content(probes.Dev{Major: 8, Minor: 48}); c.Err != "EIO" || !errors.Is(err, syscall.EIO) {
		t.Errorf("content of a sick device: got %+v, %v", c, err)
	}
	if s, err := r.Statfs("mnt/dead"); s.Err != "hang" || !errors.Is(err, ErrHang) {
		t.Errorf("statfs of a dead mount: got %+v, %v", s, err)
	}
	if s, err := r.Statfs("mnt/a"); s.BlockSize != 4096 || err != nil {
		t.Errorf("statfs: got %+v, %v", s, err)
	}
	if diff := cmp.Diff([]string{"mnt/a", "mnt/dead"}, r.Asked("statfs")); diff != "" {
		t.Errorf("questions mismatch (-want +got):\n%s", diff)
	}
}

func TestParseRecordingRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"absolute name", "-- /etc/a --\n", `"/etc/a": name begins with a slash`},
		{"way out", "-- etc/../../a --\n", `component ".."`},
		{"empty component", "-- etc//a --\n", `component ""`},
		{"not UTF-8", "-- etc/\xff --\n", "not UTF-8"},
		{"control character", "-- a\tb --\n", "control character"},
		{"twice", "-- a --\n-- a --\n", "line 2: entry \"a\": name appears twice"},
		{"file as directory", "-- a --\n-- a/b --\n", "cannot hold entries"},
		{"directory as file", "-- a/b --\n-- a --\nx\n", "make it a directory"},
		{"unknown directive", "-- a --\n@zip\n", `unknown directive "@zip"`},
		{"bad errno", "-- a --\n@error oops\n", "not an errno"},
		{"bad device", "-- a --\n@device block 8\n", "no colon"},
		{"bad device kind", "-- a --\n@device tape 8:0\n", "neither block nor char"},
		{"bad hex", "-- a --\n@hex\nzz\n", "@hex"},
		{"question twice", "-- @claim/8:0 --\nfree\n-- @claim/8:0 --\nfree\n", "appears twice"},
		{"bad question", "-- @claim/eight --\nfree\n", "no colon"},
		{"link as answer", "-- @hostname --\n@link x\n", "cannot be a link"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := ParseRecording([]byte(tt.in)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestErrnoNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"EIO", "ENOTCONN", "EUCLEAN", "EBUSY"} {
		if got := ErrnoName(Errno(name)); got != name {
			t.Errorf("%s became %s", name, got)
		}
	}
}

func FuzzParseRecording(f *testing.F) {
	f.Add([]byte(machine))
	f.Add([]byte("-- a --\n@hex\n00\n-- a/ --\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := ParseRecording(data)
		if err != nil {
			return
		}
		again, err := ParseRecording(copyOf(t, r))
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if diff := compareTrees("", r.root, again.root); diff != "" {
			t.Error(diff)
		}
	})
}
