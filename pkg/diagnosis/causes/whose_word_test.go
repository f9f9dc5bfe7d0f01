package causes

import "testing"

// TestWhoseWord: what a text speaks of is found out before it is believed: a target in the name of
// a link that is not there, a daemon behind a driver, a loop device over a disk.
func TestWhoseWord(t *testing.T) {
	t.Parallel()
	const iqn = "iqn.2000-01.com.synology:nas.pvc-0b37a8dc"
	const s = "sys/class/iscsi_session/session1/"
	lun := func(root string) *world {
		return vol("csi.san.synology.com", "91526941-3c19-4f57-9067-79d0cf710d23", "").Waits().Attached("n1").
			Disk("n1", "sdb", "8:16", "device/vendor", "SYNOLOGY", "device/state", "running").
			Entries("n1", s+"targetname", iqn, s+"state", "LOGGED_IN", s+"device/target2:0:0/2:0:0:1/block/sdb", "@dir",
				"sys/class/iscsi_transport/tcp/handle", "1", "etc/iscsi/initiatorname.iscsi", "InitiatorName=iqn.2016-04.com.open-iscsi:9d1c", "usr/sbin/iscsiadm", "@hex\n7f454c46").
			Process("n1", 950, "", "iscsid", 4026531841, "").
			FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = Can't find device path [" + root + "/dev/disk/by-path/ip-192.168.10.200:3260-iscsi-" + iqn + "-lun-1]: file does not exist")
	}
	block := ebsDisk(ebs().Waits().Attached("n1"), "n1").
		FailedMount("MapVolume.MapBlockVolume failed for volume \"pv-data\" : blkUtil.AttachFileDevice failed. globalMapPath:/var/lib/kubelet/plugins/kubernetes.io/csi/volumeDevices/pv-data/dev, podUID: p: makeLoopDevice failed for path /var/lib/kubelet/plugins/kubernetes.io/csi/volumeDevices/pv-data/dev/p: losetup: cannot find an unused loop device")
	behind := func(says string) *world {
		return vol("files.example.com", "share-1", "").Waits().FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = " + says)
	}
	refused := pendingClaim(ebs(), "Immediate", anno("ebs.csi.aws.com")).Waits().Drop("name: controller-0,").Add(`
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: kube-system, name: controller, uid: '41000000-0000-4000-8000-000000000001', creationTimestamp: '2025-11-01T08:00:00Z'}
spec: {replicas: 1, selector: {matchLabels: {app: controller}}, template: {metadata: {labels: {app: controller}}, spec: {containers: [{name: csi-provisioner, image: 'registry.k8s.io/sig-storage/csi-provisioner:v5.0.1'}, {name: driver, image: 'registry.example/driver:v1', args: [--drivername=ebs.csi.aws.com]}]}}}
status: {unavailableReplicas: 1, conditions: [{type: ReplicaFailure, status: 'True', reason: FailedCreate, message: 'pods "controller-x" is forbidden: exceeded quota: storage'}]}
`)
	blind := ebsDisk(ebs().Waits().Attached("n1"), "n1").Edit(", {name: dev, mountPath: /dev}]}", "]}").
		FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = stat /dev/nvme1n1: no such file or directory")
	showEach(t, map[string]shown{
		"a target named by a missing link":        {lun(""), "broken: certain device-link-missing Device n1/8:16"},
		"the same below a directory of the host":  {lun("/host"), "broken: certain device-link-missing Device n1/8:16"},
		"a loop device, not the disk":             {block, "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"a daemon behind the driver":              {behind("Unknown desc = failed to mount objects, err: rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing: dial unix /etc/providers/vault.sock: connect: connection refused\""), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"a server behind the driver":              {behind("Unavailable desc = connection error: desc = \"transport: Error while dialing: dial tcp 10.96.12.3:9090: connect: connection refused\""), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"the driver's own socket":                 {behind("Unavailable desc = connection error: desc = \"transport: Error while dialing: dial unix /var/lib/kubelet/plugins/files.example.com/csi.sock: connect: connection refused\""), "broken: likely csi-plugin-not-registered Pod kube-system/plugin-1"},
		"a device that the plugin alone misses":   {blind, "broken: certain csi-plugin-host-path-missing DaemonSet kube-system/plugin"},
		"a provisioner whose pods are not let in": {refused, "broken: certain provisioner-not-responding PersistentVolumeClaim shop/data"},
	})
}
