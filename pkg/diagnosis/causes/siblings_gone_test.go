package causes

import "testing"

// TestVolumesThatTheStorageDoesNotKnow: what the storage says now, that it has no such volume, is explained by no state of
// a filesystem or of a link on a disk that is left over; a failure of any other kind is.
func TestVolumesThatTheStorageDoesNotKnow(t *testing.T) {
	t.Parallel()
	damaged := func(w *world) *world {
		return ebsDisk(w, "n1").Kernel("n1", "3600|EXT4-fs error (device nvme1n1): ext4_validate_block_bitmap:390: comm x: bg 1: bad block bitmap checksum", "3590|EXT4-fs (nvme1n1): Remounting filesystem read-only").Entries("n1", "@content/259:1", "TYPE=ext4\nUUID=2f\nSTATE=errors")
	}
	staged := func(text string) *world {
		return damaged(ebs().Waits().Attached("n1")).FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = " + text)
	}
	attaches := func(text string) *world {
		return damaged(va(ebs().Waits(), "csi-a", "n1", "", "attached: false, attachError: {time: '2026-01-02T11:58:00Z', message: \"rpc error: code = "+text+"\"}"))
	}
	synology := func(text string) *world {
		return vol("csi.san.synology.com", "91526941-3c19-4f57-9067-79d0cf710d23", "").Waits().Attached("n1").
			Disk("n1", "sdb", "8:16", "device/vendor", "SYNOLOGY", "device/state", "running", "device/model", "Storage").
			FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = " + text)
	}
	linked := func(text string) *world { // drivers name a link by the volume's id
		return vol("csi.hetzner.cloud", "101882311", "").Waits().Attached("n1").Disk("n1", "sdc", "8:32", "device/vendor", "HC", "device/model", "Volume", "device/state", "running").FailedMount(stageFails(text))
	}
	const mount, attach = "broken: unexplained mount-failed; unexplained pod-waiting-for-volume", "broken: unexplained attach-failed; unexplained pod-waiting-for-volume"
	const fsck = "broken: likely filesystem-needs-fsck Device n1/259:1"
	showEach(t, map[string]shown{
		"at staging":                     {staged("NotFound desc = Volume vol-0a1b2c3d4e5f60718 not found"), mount},
		"at attaching":                   {attaches("Internal desc = InvalidVolume.NotFound: The volume 'vol-0a1b2c3d4e5f60718' does not exist."), attach},
		"by the name of the PV":          {staged("NotFound desc = cannot find volume pv-data in the pool"), mount},
		"another volume":                 {staged("NotFound desc = Volume vol-0ffffffffffffffff not found"), fsck},
		"another failure":                {staged("Internal desc = mount failed: exit status 32"), fsck},
		"its Secret":                     {staged("NotFound desc = vol-0a1b2c3d4e5f60718: the Secret of the class that made it was not found"), fsck},
		"a link of the node":             {linked("device /dev/disk/by-id/scsi-0HC_Volume_101882311 does not exist"), "broken: likely device-link-missing Device n1/8:32"},
		"a device of the node":           {staged("Internal desc = vol-0a1b2c3d4e5f60718: device not found"), fsck},
		"a disk that only looks like it": {synology("NotFound desc = Volume[91526941-3c19-4f57-9067-79d0cf710d23] is not found"), mount},
	})
}
