package snapshot_test

import (
	"slices"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestFstab reads what the machine mounts when it starts.
func TestFstab(t *testing.T) {
	t.Parallel()
	const text = "# /dev/sda1 /old ext4\n\nUUID=1\t/mnt/disks/one/  xfs defaults,nofail 0 2\n/dev/sdb /mnt/with\\040space ext4 defaults 0 0\n" +
		"/dev/sdc /by-hand ext4 noauto,user 0 0\n/dev/sdd none swap sw 0 0\ncut /short\n/dev/sde relative ext4 defaults"
	got := sketch.New().Node("n1", "etc/fstab", text).Index(t).View("n1").Fstab()
	want := []snapshot.FstabEntry{
		{Source: "UUID=1", Point: "/mnt/disks/one", Line: "UUID=1 /mnt/disks/one/ xfs defaults,nofail 0 2"},
		{Source: "/dev/sdb", Point: "/mnt/with space", Line: `/dev/sdb /mnt/with\040space ext4 defaults 0 0`},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
