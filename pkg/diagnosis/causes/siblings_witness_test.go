package causes

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// TestRegisteredSinceItWasSaid: an event of half an hour ago is no witness against the registry's socket
// and the entry of CSINode, which are there now.
func TestRegisteredSinceItWasSaid(t *testing.T) {
	t.Parallel()
	said := func(at string) *world {
		return nfs().Waits().Event("Pod", "web-0", sketch.UID+"00", "FailedMount", "kubelet", "n1", at, `MountVolume.SetUp failed for volume "pv-data" : kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name nfs.csi.k8s.io not found in the list of registered CSI drivers`)
	}
	const (
		old, now = "2026-01-02T11:34:00Z", "2026-01-02T11:59:00Z"
		named    = "broken: likely csi-plugin-not-registered Pod kube-system/plugin-1"
	)
	showEach(t, map[string]shown{
		"long ago, and it is registered":        {said(old), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"just now, whatever the API has":        {said(now), named},
		"long ago, nobody looked at the node":   {said(old).Unprobed("n1", "PodRejected"), named},
		"long ago, and its socket is not there": {said(old).Without("n1", "var/lib/kubelet/plugins_registry/nfs").Entries("n1", "var/lib/kubelet/plugins_registry/other-reg.sock", "@socket"), "broken: certain csi-plugin-not-registered Pod kube-system/plugin-1"},
	})
}

// TestPathThatTheDriverMade: a driver of LVM mounts a device node of its own; no link below by-id is missed
// where it was tried to mount the very device.
func TestPathThatTheDriverMade(t *testing.T) {
	t.Parallel()
	logical := func(node string) *world {
		w := sketch.NewWorld("topolvm.io", "b3f0-11", "accessModes: [ReadWriteOnce]\nvolumeMode: Filesystem\ncsi: {driver: topolvm.io, fsType: xfs, volumeHandle: b3f0-11}").Waits().Attached("n1").Disk("n1", "sdz", "65:144")
		w = dmOver(w, "n1", "dm-1", "253:1", "myvg1-b3f0--11", "LVM-"+strings.Repeat("g", 32)+strings.Repeat("l", 32), "sdz")
		return w.Entries("n1", "@content/253:1", "TYPE=xfs\nUUID=1f", node, "@device block 253:1", "@claim/253:1", "free", "@content/65:144", "TYPE=LVM2_member\nUUID=x")
	}
	fails := func(w *world, out string) *world {
		return w.FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t xfs -o defaults /dev/topolvm/b3f0-11 /g\nOutput: " + out)
	}
	const busy = "mount: /g: /dev/topolvm/b3f0-11 already mounted or mount point busy."
	showEach(t, map[string]shown{
		"it was found and is busy":    {fails(logical("dev/topolvm/b3f0-11"), busy), "broken: unexplained mount-busy; unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"its path leads to no device": {fails(logical("dev/topolvm/other"), "mount: /g: special device /dev/topolvm/b3f0-11 does not exist."), "broken: likely device-link-missing Device n1/253:1"},
	})
}

// TestArrayOfAnImage: what makes an image of RBD known stands below its bus, not below the array's disks; the
// command that stops the array compares what is there.
func TestArrayOfAnImage(t *testing.T) {
	t.Parallel()
	w := rbdMapped(rbd().Waits().Attached("n1"), "n1").Without("n1", "@content/252:0").Without("n1", "sys/class/block/rbd0/holders")
	const md = "sys/class/block/md127/"
	w.Entries("n1", "sys/class/block/rbd0/holders/md127", "@link ../../md127", md+"dev", "9:127", md+"size", "20953088", md+"ro", "0", md+"holders", "@dir", md+"slaves/rbd0", "@link ../../rbd0", md+"md/array_state", "inactive", "dev/md127", "@device block 9:127",
		"@content/252:0", "TYPE=linux_raid_member\nUUID=8f8f8f8f-0000-4000-8000-000000000001", "@claim/252:0", "EBUSY")
	w.FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = mount failed: exit status 32\nMounting arguments: -t ext4 /dev/rbd0 /g\nOutput: mount: /g: /dev/rbd0 already mounted or mount point busy.")
	got, r := w.Verdict(t, Catalog(), "pvc shop/data")
	if got != "broken: certain md-claims-device Device n1/252:0" {
		t.Fatal(got)
	}
	for _, s := range r.RootCauses[0].Remedies {
		for _, c := range s.Commands {
			if strings.Contains(c, "mdadm --stop") && !(strings.Contains(c, "< /sys/class/block/md127/slaves/rbd0/dev ") && strings.Contains(c, "< /sys/bus/rbd/devices/0/pool ")) {
				t.Errorf("what the array lies on is not compared: %s", c)
			}
		}
	}
}

// TestMapThatOutlivedItsDisks: the device of the volume is known by its map alone, and a mount of that map in
// another namespace is what keeps it.
func TestMapThatOutlivedItsDisks(t *testing.T) {
	t.Parallel()
	const line = "253:5 / %s rw,relatime - ext4 /dev/mapper/mpatha rw"
	left := func() *world {
		w := sketch.NewWorld("csi.san.example", "naa.60014050000000000000000000000001", "accessModes: [ReadWriteOnce]\nvolumeMode: Filesystem\ncsi: {driver: csi.san.example, fsType: ext4, volumeHandle: 'naa.60014050000000000000000000000001'}").Waits().Attached("n2")
		w.Edit("uid: 'b0000000-0000-4000-8000-000000000002', creationTimestamp: '2025-12-31T12:00:02Z'", "uid: 'b0000000-0000-4000-8000-000000000002', creationTimestamp: '2025-12-31T12:00:02Z', deletionTimestamp: '2026-01-02T11:31:00Z'")
		return dmOver(w, "n2", "dm-5", "253:5", "mpatha", "mpath-360014050000000000000000000000001").Entries("n2", "@claim/253:5", "free")
	}
	kept := func(w *world) *world {
		return w.LiveExt4("n2", "dm-5").Process("n2", 8200, "", "backupd", 4026532900, "900 1 8:2 / / rw,relatime - ext4 /dev/sda2 rw\n901 900 "+strings.Replace(line, "%s", "/mnt/x", 1)).
			Entries("n2", "proc/8200/cgroup", "0::/system.slice/backupd.service", "proc/8200/cmdline", "/usr/bin/backupd␀")
	}
	showEach(t, map[string]shown{
		"mounted nowhere":                {left(), "broken: certain multipath-map-orphaned Device n2/253:5"},
		"in a namespace of its own":      {kept(left()), "broken: certain mount-pinned-in-namespace Process n2/8200"},
		"there and by the node":          {kept(left()).Mounts("n2", strings.Replace(line, "%s rw,relatime", left().Stage()+" rw,relatime shared:63", 1)), "broken: certain mount-of-dead-device Device n2/253:5"},
		"another map, which is not ours": {kept(left().Edit("naa.60014050000000000000000000000001", "naa.60014050000000000000000000000009")), "broken: unexplained detach-stuck; unexplained multi-attach-error; unexplained pod-waiting-for-volume; unexplained unmount-blocked"},
	})
}
