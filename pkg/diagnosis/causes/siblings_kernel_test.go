package causes

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// TestSiblingsOfKernels: what real programs and kernels said and showed in virtual machines, of a volume
// of a SAN.
func TestSiblingsOfKernels(t *testing.T) {
	t.Parallel()
	const (
		target   = "iqn.2004-04.com.example:vol-7"
		busy     = "mount failed: exit status 32\nOutput: mount: /g: /dev/sdc already mounted or mount point busy."
		session  = "sys/class/iscsi_session/session3/"
		lost     = "iscsiadm: cannot make connection to 10.42.0.16: Connection refused\niscsiadm: connection login retries (reopen_max) 5 exceeded\niscsiadm: Could not perform SendTargets discovery: iSCSI PDU timed out (exit status 4)"
		noDaemon = "sh: 1: /bin/systemctl: not found\niscsiadm: can not connect to iSCSI daemon (111)!\nMounting arguments: -t ext4 /dev/sdc /var/lib/kubelet/plugins/kubernetes.io/csi/san.csi.example/x/globalmount"
	)
	array := func() *world {
		return sketch.NewWorld("csi.array.example", "vol-7", "accessModes: [ReadWriteOnce]\ncsi: {driver: csi.array.example, fsType: ext4, volumeHandle: vol-7, volumeAttributes: {targetPortal: '10.42.0.16:3999', iqn: '"+target+"', lun: '1'}}").Waits().Attached("n1").
			Entries("n1", "usr/sbin/iscsiadm", "@hex\n7f454c46", "etc/iscsi/initiatorname.iscsi", "InitiatorName=iqn.1993-08.org.debian:01:a", "lib/modules/6.1.0-18-amd64/modules.builtin", "kernel/drivers/scsi/iscsi_tcp.ko\nkernel/drivers/scsi/scsi_transport_iscsi.ko").
			Process("n1", 1301, "", "iscsid", 4026531841, "21 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw").Entries("n1", "proc/1301/cgroup", "0::/system.slice/iscsid.service", "proc/1301/cmdline", "/usr/sbin/iscsid␀")
	}
	shrunk := sanWaits("xfs").Edit("fsType: xfs", "fsType: ext4").Without("n1", "@content/8:32").Entries("n1", "@content/8:32", "TYPE=ext4\nUUID=2f\nSTATE=errors").
		FailedMount(stageFails("'fsck' found errors on device /dev/sdc but could not correct them: fsck from util-linux 2.38.1\n/dev/sdc: The filesystem size (according to the superblock) is 65536 blocks\nThe physical size of the device is 32768 blocks\nEither the superblock or the partition table is likely to be corrupt!\n\n/dev/sdc: UNEXPECTED INCONSISTENCY; RUN fsck MANUALLY.\n\t(i.e., without -a or -p options).\n."))
	showEach(t, map[string]shown{
		"a map of no known kind, without a try to open": {dmOver(sanWaits("xfs").Without("n1", "@claim/8:32"), "n1", "dm-0", "253:0", "old-map", "", "sdc").FailedMount(stageFails(busy)), "broken: likely device-claimed-by-unknown Device n1/8:32"},
		"the same, and the host has it mounted":         {dmOver(sanWaits("xfs").Without("n1", "@claim/8:32"), "n1", "dm-0", "253:0", "old-map", "", "sdc").Mounts("n1", "253:0 / /srv/old rw,relatime shared:9 - xfs /dev/mapper/old-map rw").FailedMount(stageFails(busy)), "broken: certain device-held-by-process Device n1/8:32"},
		"a filesystem larger than its device":           {shrunk, "broken: unexplained fsck-failed; unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"iscsiadm names an address without its port":    {array().FailedMount(stageFails("failed to attach disk: Error: " + lost)), "broken: likely iscsi-portal-unreachable Node n1"},
		"a target without the LUN":                      {array().Disk("n1", "vdb", "254:16").Entries("n1", session+"targetname", target, session+"state", "LOGGED_IN", "@dial/10.42.0.16:3999", "ok 1ms").FailedMount(stageFails("timed out waiting for device path /dev/disk/by-path/ip-10.42.0.16:3999-iscsi-" + target + "-lun-1")), "broken: certain attached-in-api-missing-on-node VolumeAttachment csi-acd53169055ac4014054ce0571a2b8d643ebbaa2276c2c4c0ad429ad8ce5d24d"},
		"the same target, and no LUN is named":          {array().Edit(", lun: '1'", "").Disk("n1", "sdx", "65:112").Disk("n1", "sdy", "65:128").Entries("n1", session+"targetname", target, session+"state", "LOGGED_IN", session+"device/target3:0:0/3:0:0:5/block/sdx", "@dir", session+"device/target3:0:0/3:0:0:6/block/sdy", "@dir", "@dial/10.42.0.16:3999", "ok 1ms").FailedMount(stageFails("timed out waiting for device path /dev/disk/by-path/x")), "broken: possible attached-in-api-missing-on-node VolumeAttachment csi-acd53169055ac4014054ce0571a2b8d643ebbaa2276c2c4c0ad429ad8ce5d24d; unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"a program is not found, and a path is named":   {sanWaits("xfs").FailedMount(stageFails(noDaemon)), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
	})
	sayEach(t, map[string]said{"larger than its device, as a tool says it": {shrunk, []string{"is smaller than its filesystem"}, []string{"e2fsck -f"}}})
}
