package diagnosis_test

import (
	"slices"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// TestRuledOutOfTheDisk: what befalls a disk is ruled out where the disk of the volume is
// known, not where one of the node's may be it.
func TestRuledOutOfTheDisk(t *testing.T) {
	t.Parallel()
	const source = "accessModes: [ReadWriteOnce]\nvolumeMode: Filesystem\ncsi: {driver: disk.csi.example, fsType: ext4, volumeHandle: vol-0a1b2c3d4e5f60718}"
	for name, c := range map[string]struct {
		serial string
		want   bool
	}{
		"the disk is known":          {"vol0a1b2c3d4e5f60718", true},
		"a disk of unknown serial":   {"", false},
		"a disk of another's serial": {"vol00000000000000001", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := sketch.NewWorld("disk.csi.example", "vol-0a1b2c3d4e5f60718", source).Waits().Attached("n1").
				Disk("n1", "nvme1n1", "259:3", "serial", c.serial, "device/serial", c.serial).
				FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = the operation did not succeed")
			_, r := w.Verdict(t, causes.Catalog(), "pvc shop/data")
			for _, cause := range []string{"filesystem-needs-fsck", "device-held-by-process"} {
				got := slices.ContainsFunc(r.Unexplained, func(u report.Unexplained) bool {
					return slices.ContainsFunc(u.RuledOut, func(o report.Excluded) bool { return o.Cause == cause })
				})
				if got != c.want {
					t.Errorf("%s ruled out: %t, want %t", cause, got, c.want)
				}
			}
		})
	}
}
