package causes

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// shelf is a volume that is known by a target, which serves others, too, and a LUN.
func shelf() *world {
	return sketch.NewWorld("org.democratic-csi.iscsi", "pvc-b", "accessModes: [ReadWriteOnce]\nvolumeMode: Filesystem\ncsi: {driver: org.democratic-csi.iscsi, fsType: ext4, volumeHandle: pvc-b, volumeAttributes: {portal: '10.9.2.5:3260', iqn: 'iqn.2005-10.org.freenas.ctl:shared', lun: '3'}}")
}

// shelfDisk logs a node in, with a disk at the volume's LUN.
func shelfDisk(w *world, node, name, dev, vendor string, identity ...string) *world {
	s := "sys/class/iscsi_session/session4/"
	w.Disk(node, name, dev, append([]string{"device/vendor", vendor, "device/model", "iSCSI Disk", "device/state", "running"}, identity...)...)
	return w.Entries(node, s+"targetname", "iqn.2005-10.org.freenas.ctl:shared", s+"state", "LOGGED_IN", s+"device/target4:0:0/4:0:0:3/block/"+name, "@dir", "@dial/10.9.2.5:3260", "ok 1ms")
}

// stagedAs mounts a disk where the kubelet stages a handle.
func stagedAs(w *world, node, dev, name, fs, handle string) *world {
	point := fmt.Sprintf("/var/lib/kubelet/plugins/kubernetes.io/csi/%s/%x/globalmount", w.Driver, sha256.Sum256([]byte(handle)))
	return w.Mounts(node, dev+" / "+point+" rw,relatime shared:90 - "+fs+" /dev/"+name+" rw").Answers(node, point)
}

// TestPlacesAreGivenAgain: a LUN, a subsystem and a name lead to another disk on the node that had
// the one before.
func TestPlacesAreGivenAgain(t *testing.T) {
	t.Parallel()
	const (
		own, other = "naa.6589cfc000000abcdef0123456789001", "naa.6589cfc000000abcdef0123456789002"
		// designators of the unit, and of the target's port
		page   = "@hex\n00830020010300106589cfc000000abcdef01234567890026193000850014380a1b2c3d4"
		behind = " device-mapped-on-other-node Device n2/8:80"
		rest   = "; unexplained mount-failed; unexplained pod-waiting-for-volume"
		naa    = "device/wwid"
	)
	waits := func(vendor string) *world {
		return shelfDisk(shelf().Waits().Attached("n1"), "n1", "sdc", "8:32", vendor, naa, own).FailedMount(stageFails("the operation did not succeed"))
	}
	runs := func() *world {
		w := shelfDisk(shelf().Runs(0).Attached("n1"), "n1", "sdc", "8:32", "TrueNAS", naa, own)
		return mountedAs(w, "n1", "8:32", "sdc")
	}
	cluster := func(w *world, fs string) *world {
		return stagedAs(shelfDisk(modes(w, "ReadWriteMany").Edit("fsType: ext4", "fsType: "+fs), "n2", "sdf", "8:80", "TrueNAS", naa, own), "n2", "8:80", "sdf", fs, "pvc-b")
	}
	image := func(w *world, node, id string) *world {
		return rbdMapped(w, node).Entries(node, "sys/bus/rbd/devices/0/image_id", id)
	}
	showEach(t, map[string]shown{
		"the disk of the volume before, still mounted":  {stagedAs(shelfDisk(waits("TrueNAS"), "n2", "sdf", "8:80", "TrueNAS", naa, other), "n2", "8:80", "sdf", "ext4", "pvc-a"), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"its identity is in page 0x83 alone":            {stagedAs(shelfDisk(waits("TrueNAS"), "n2", "sdf", "8:80", "TrueNAS", "device/vpd_pg83", page), "n2", "8:80", "sdf", "ext4", "pvc-a"), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"the volume's own disk under an older handle":   {stagedAs(shelfDisk(waits("TrueNAS"), "n2", "sdf", "8:80", "TrueNAS", naa, own), "n2", "8:80", "sdf", "ext4", "pvc-a"), "broken: certain" + behind},
		"another disk at the volume's own path":         {stagedAs(shelfDisk(waits("TrueNAS"), "n2", "sdf", "8:80", "TrueNAS", naa, other), "n2", "8:80", "sdf", "ext4", "pvc-b"), "broken: possible" + behind + rest},
		"the target makes identities anew":              {stagedAs(shelfDisk(waits("LIO-ORG"), "n2", "sdf", "8:80", "LIO-ORG", naa, other), "n2", "8:80", "sdf", "ext4", "pvc-b"), "broken: certain" + behind},
		"it makes them anew, and another volume's path": {stagedAs(shelfDisk(waits("LIO-ORG"), "n2", "sdf", "8:80", "LIO-ORG", naa, other), "n2", "8:80", "sdf", "ext4", "pvc-a"), "broken: likely" + behind},
		"the volume runs, and is in nobody's way":       {shelfDisk(runs(), "n2", "sdf", "8:80", "TrueNAS", naa, other), "healthy"},
		"the volume runs, another disk at its path":     {stagedAs(shelfDisk(runs(), "n2", "sdf", "8:80", "TrueNAS", naa, other), "n2", "8:80", "sdf", "ext4", "pvc-b"), "healthy: possible" + behind},
		"an image that was made anew":                   {image(image(rbd(), "n1", "10ab6b8b4567").Runs(0).Attached("n1"), "n2", "85e16b8b4567").Mounts("n1", "252:0 / "+rbd().Publish(0)+" rw,relatime shared:63 - ext4 /dev/rbd0 rw").Answers("n1", rbd().Publish(0)), "healthy"},
		"ocfs2 left mounted, and the volume runs":       {cluster(runs(), "ocfs2"), "healthy"},
		"gfs2 left mounted, and a pod waits":            {cluster(waits("TrueNAS").Entries("n1", "@content/8:32", "TYPE=gfs2\nUUID=2f"), "gfs2"), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
	})
}

// TestAttachedAMomentAgo: what was said before the controller attached a volume is past.
func TestAttachedAMomentAgo(t *testing.T) {
	t.Parallel()
	at := func(when string) *world {
		w := ebsDisk(ebs().Waits().Attached("n1"), "n1").Event("Pod", "web-0", sketch.UID+"00", "FailedAttachVolume", "attachdetach-controller", "", "2026-01-02T11:57:30Z", "Multi-Attach error for volume \"pv-data\" Volume is already exclusively attached to one node and can't be attached to another")
		return w.Event("Pod", "web-0", sketch.UID+"00", "SuccessfulAttachVolume", "attachdetach-controller", "", when, "AttachVolume.Attach succeeded for volume \"pv-data\"").EditIn("SuccessfulAttachVolume", "type: Warning", "type: Normal")
	}
	showEach(t, map[string]shown{
		"a moment ago":                   {at("2026-01-02T11:59:50Z"), "waiting"},
		"ten minutes ago":                {at("2026-01-02T11:50:00Z"), "broken: unexplained pod-waiting-for-volume"},
		"a moment ago, and it complains": {at("2026-01-02T11:58:50Z").FailedMount(stageFails("the operation did not succeed")), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
	})
}
