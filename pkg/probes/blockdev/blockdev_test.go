package blockdev

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

func TestParentName(t *testing.T) {
	t.Parallel()
	known := map[string]bool{"sda": true, "nvme0n1": true, "mmcblk0": true, "loop3": true, "md127": true, "sdp": true, "dm-0": true}
	tests := []struct{ name, in, want string }{
		{"scsi", "sda12", "sda"},
		{"a disk whose letter is p", "sdp1", "sdp"},
		{"nvme", "nvme0n1p2", "nvme0n1"},
		{"mmc", "mmcblk0p1", "mmcblk0"},
		{"loop", "loop3p1", "loop3"},
		{"md", "md127p1", "md127"},
		{"disk is not there", "sdz1", ""},
		{"no number", "sda", ""},
		{"only a number", "12", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := ParentName(tt.in, func(n string) bool { return known[n] }); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestParseSerialPage(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"padded with spaces", "\x00\x80\x00\x0a    beaf11", "beaf11"},
		{"longer page than its length", "\x00\x80\x00\x02abcd", "ab"},
		{"cut page", "\x00\x80\x00\x20abcd", "abcd"},
		{"another page", "\x00\x83\x00\x02ab", ""},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := ParseSerialPage([]byte(tt.in)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestMirror(t *testing.T) {
	t.Parallel()
	all := []probes.BlockDevice{{Name: "dm-0", Slaves: []string{"sda", "gone"}}, {Name: "dm-1"}, {Name: "sda", Holders: []string{"dm-1"}}}
	mirror(all)
	want := []probes.BlockDevice{{Name: "dm-0", Slaves: []string{"sda", "gone"}}, {Name: "dm-1", Slaves: []string{"sda"}}, {Name: "sda", Holders: []string{"dm-0", "dm-1"}}}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
}

func TestIsHCTL(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{"0:0:0:1": true, "12:0:3:4095": true, "0:0:0": false, "0:0:0:": false, "a:0:0:1": false, "target0:0:0": false} {
		if got := IsHCTL(in); got != want {
			t.Errorf("%q: got %t, want %t", in, got, want)
		}
	}
}

func FuzzParseSerialPage(f *testing.F) {
	f.Add([]byte("\x00\x80\x00\x0a    beaf11"))
	f.Add([]byte("\x00\x80\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got := ParseSerialPage(b); len(got) > len(b) {
			t.Errorf("a serial number of %d bytes out of %d", len(got), len(b))
		}
	})
}
