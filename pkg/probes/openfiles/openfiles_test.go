package openfiles

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

func TestParseFlags(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		want     uint64
	}{
		{"exclusive, read and write", "pos:\t0\nflags:\t02100202\nmnt_id:\t23\n", 0o2100202},
		{"no flags", "pos:\t0\n", 0},
		{"not octal", "flags:\t9\n", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := ParseFlags(tt.in); got != tt.want {
				t.Errorf("got %o, want %o", got, tt.want)
			}
		})
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	root, disk, vol := probes.Dev{Major: 8, Minor: 2}, probes.Dev{Major: 8, Minor: 48}, probes.Dev{Major: 8, Minor: 16}
	f := &probes.Facts{Namespaces: []probes.MountNamespace{
		{ID: 1, TablePID: 1, Mounts: []probes.Mount{
			{Point: "/", Dev: root, FSType: "ext4"},
			{Point: "/var/lib/kubelet/pods/u/volumes/kubernetes.io~csi/p/mount", Dev: vol, FSType: "ext4"},
			{Point: "/srv", Dev: disk, FSType: "xfs"}}},
		{ID: 2, TablePID: 9, Mounts: []probes.Mount{
			{Point: "/", Dev: probes.Dev{Minor: 70}, FSType: "overlay"},
			{Point: "/data", Dev: vol, FSType: "ext4"},
			{Point: "/data/tmp", Dev: probes.Dev{Minor: 71}, FSType: "tmpfs"},
			{Point: "/etc/hosts", Dev: root, FSType: "ext4"}}},
	}}
	f.Identity.InitMntNS = 1
	tests := []struct {
		name, path string
		ns         uint64
		want       bool
	}{
		{"the pod's volume in the host's namespace", "/var/lib/kubelet/pods/u/volumes/kubernetes.io~csi/p/mount/db", 1, true},
		{"the same volume in the container", "/data/db", 2, true},
		{"a memory filesystem above it", "/data/tmp/x", 2, false},
		{"a name that only begins alike", "/database", 2, false},
		{"the host's own disk in the container", "/etc/hosts", 2, false},
		{"another disk of the host", "/srv/x", 1, true},
		{"the root disk", "/var/log/messages", 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := newPlaces(f).interesting(tt.ns, tt.path); got != tt.want {
				t.Errorf("got %t, want %t", got, tt.want)
			}
		})
	}
}

func FuzzParseFlags(f *testing.F) {
	f.Add("pos:\t0\nflags:\t02100202\n")
	f.Fuzz(func(_ *testing.T, in string) { ParseFlags(in) })
}
