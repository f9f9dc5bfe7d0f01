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

// TestRuledOutOfAShare: an open port gives no leave to mount, and the kubelet registers no driver of what it mounts itself.
func TestRuledOutOfAShare(t *testing.T) {
	t.Parallel()
	const csi, inTree = "accessModes: [ReadWriteMany]\ncsi: {driver: nfs.csi.k8s.io, volumeHandle: h, volumeAttributes: {server: 10.9.0.5, share: /export}}", "accessModes: [ReadWriteMany]\nnfs: {server: 10.9.0.5, path: /export}"
	const text = "MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = mount.nfs: mount point /x does not exist"
	for name, c := range map[string]struct {
		driver, source string
		mounted        bool
		want           map[string]bool
	}{
		"the port is open":           {"nfs.csi.k8s.io", csi, false, map[string]bool{"nfs-server-unreachable": true, "nfs-access-denied": false, "csi-plugin-not-registered": true}},
		"it was mounted for a stage": {"nfs.csi.k8s.io", csi, true, map[string]bool{"nfs-access-denied": true}},
		"in the tree of Kubernetes":  {"", inTree, false, map[string]bool{"nfs-server-unreachable": true, "nfs-access-denied": false, "csi-plugin-not-registered": false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := sketch.NewWorld(c.driver, "h", c.source).Waits().Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms").FailedMount(text)
			if c.mounted {
				w.Mounts("n1", "0:60 / "+w.Stage()+" rw shared:9 - nfs4 10.9.0.5:/export rw,vers=4.1,addr=10.9.0.5").Answers("n1", w.Stage())
			}
			_, r := w.Verdict(t, causes.Catalog(), "pvc shop/data")
			for cause, want := range c.want {
				got := slices.ContainsFunc(r.Unexplained, func(u report.Unexplained) bool {
					return slices.ContainsFunc(u.RuledOut, func(o report.Excluded) bool { return o.Cause == cause })
				})
				if got != want {
					t.Errorf("%s ruled out: %t, want %t", cause, got, want)
				}
			}
		})
	}
}
