package causes

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// otherEBS is a disk of Amazon's with an id of its own.
func otherEBS(w *world, node, name, dev, id string) *world {
	return w.Disk(node, name, dev, "device/serial", "vol"+id, "device/model", "Amazon Elastic Block Store", "device/state", "live").
		Entries(node, "dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol"+id, "@link ../../"+name)
}

func pvOf(driver, handle string) string {
	return "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv-other, uid: 'a0000000-0000-4000-8000-000000000009'}\nspec: {accessModes: [ReadWriteOnce], capacity: {storage: 10Gi}, claimRef: {namespace: shop, name: other, uid: c9}, csi: {driver: " + driver + ", volumeHandle: '" + handle + "'}}\nstatus: {phase: Bound}\n"
}

func mountedAs(w *world, node, dev, name string) *world {
	line := " rw,relatime shared:64 - ext4 /dev/" + name + " rw"
	return w.Mounts(node, dev+" / "+w.Stage()+line, dev+" / "+w.Publish(0)+line).LiveExt4(node, name).Answers(node, w.Publish(0))
}

// dmOver puts a device-mapper device over others of a node.
func dmOver(w *world, node, name, number, label, uuid string, slaves ...string) *world {
	at := "sys/class/block/" + name + "/"
	w.Entries(node, "dev/"+name, "@device block "+number, at+"dev", number, at+"dm/name", label, at+"dm/uuid", uuid, at+"dm/suspended", "0", at+"size", "20971520", at+"ro", "0", "dev/mapper/"+label, "@link ../"+name, at+"holders", "@dir")
	if len(slaves) == 0 {
		w.Entries(node, at+"slaves", "@dir")
	}
	for _, s := range slaves {
		w.Without(node, "sys/class/block/"+s+"/holders").Entries(node, at+"slaves/"+s, "@link ../../../"+s, "sys/class/block/"+s+"/holders/"+name, "@link ../../../"+name)
	}
	return w
}

// backupRuns: web-0 left n1 for n2, and a backup is being made on n1.
func backupRuns(release string) *world {
	w := lhRuns(lhWorld(release)).Drop("kind: Pod\nmetadata: {namespace: shop, name: web-0").Unprobed("n1", "PodRejected").Edit("volumesInUse: [\"kubernetes.io/csi/driver.longhorn.io^"+lhVol+"\"]", "volumesInUse: []")
	id := ticketID("n1")
	w.EditIn(tktDoc, id+": {id: "+id+", type: csi-attacher, nodeID: n1, generation: 0, parameters: {disableFrontend: 'false'}}", "backup-controller-backup-1: {id: backup-controller-backup-1, type: backup-controller, nodeID: n1, generation: 0}").
		EditIn(tktDoc, id+": {id: "+id+", satisfied", "backup-controller-backup-1: {id: backup-controller-backup-1, satisfied")
	w.Add(lhDoc + "Backup\nmetadata: {name: backup-1, namespace: longhorn-system, creationTimestamp: '2026-01-02T10:00:00Z'}\nspec: {snapshotName: s-1}\nstatus: {state: InProgress, progress: 41, snapshotName: s-1, volumeName: " + lhVol + "}\n")
	w.EditIn("kind: VolumeAttachment\nmetadata: {name: "+id+", uid", "creationTimestamp: '2025-12-31T12:00:02Z'", "creationTimestamp: '2025-12-31T12:00:02Z', deletionTimestamp: '2026-01-02T11:31:00Z'").
		EditIn("kind: VolumeAttachment\nmetadata: {name: "+id+", uid", "status: {attached: true}", "status: {attached: true, detachError: {time: '2026-01-02T11:58:00Z', message: 'rpc error: code = DeadlineExceeded desc = volume "+lhVol+" failed to detach from node n1'}}")
	second(w, "web-0", "n2", "{apiVersion: apps/v1, kind: StatefulSet, name: web, uid: 'e0000000-0000-4000-8000-000000000001', controller: true}", "Pending", "")
	return w.Event("Pod", "web-0", "dd0c5a7e-0f3d-4a6b-9a55-7765622d3030", "FailedAttachVolume", "attachdetach-controller", "", "2026-01-02T11:59:00Z", "Multi-Attach error for volume \"pv-data\" Volume is already exclusively attached to one node and can't be attached to another")
}

// lostPaths is a multipath map of an array's disk below web-0 with two paths.
func lostPaths(first, second string) *world {
	w := sanDisk(sanDisk(pureISCSI().Runs(0).Attached("n1"), "n1", "sdc", "8:32"), "n1", "sdd", "8:48")
	w = dmOver(w, "n1", "dm-7", "253:7", "mpathb", "mpath-3600a0980123456789012345678901234", "sdc", "sdd")
	for disk, state := range map[string]string{"sdc": first, "sdd": second} {
		w.Without("n1", "sys/class/block/"+disk+"/device/state").Entries("n1", "sys/class/block/"+disk+"/device/state", state)
	}
	const line = " rw,relatime shared:65 - xfs /dev/mapper/mpathb rw,attr2"
	return w.Entries("n1", "@content/253:7", "TYPE=xfs\nUUID=2f", "sys/fs/xfs/dm-7/stats/stats", "x").Mounts("n1", "253:7 / "+w.Stage()+line, "253:7 / "+w.Publish(0)+line)
}

// lunMixed is a map below web-0, of whose paths the second has a WWID.
func lunMixed(wwid string) *world {
	w := lostPaths("running", "running").Answers("n1", pureISCSI().Publish(0))
	return w.Without("n1", "sys/class/block/sdd/device/wwid").Entries("n1", "sys/class/block/sdd/device/wwid", wwid)
}

// boundLogin is a pod that waits for a login through another card; without it the portal answers.
func boundLogin() *world {
	const iqn = "iqn.2005-10.org.freenas.ctl:pvc-data"
	w := sketchWorld("org.democratic-csi.iscsi", "pvc-data", "accessModes: [ReadWriteOnce]\ncsi: {driver: org.democratic-csi.iscsi, fsType: ext4, volumeHandle: pvc-data, volumeAttributes: {portal: '10.7.0.5:3260', iqn: '"+iqn+"', lun: '0'}}").Waits().Attached("n1")
	return w.Process("n1", 1301, "", "iscsid", 4026531841, "21 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw").
		Entries("n1", "proc/1301/cgroup", "0::/system.slice/iscsid.service", "usr/sbin/iscsiadm", "@hex\n7f454c46", "etc/iscsi/initiatorname.iscsi", "InitiatorName=iqn.1993-08.org.debian:01:n1", "proc/modules", "iscsi_tcp 1 0 - Live 0x0\nlibiscsi 1 0 - Live 0x0\nscsi_transport_iscsi 1 0 - Live 0x0",
			"@dial/10.7.0.5:3260", "ok 1ms", "etc/iscsi/ifaces/san0", "iface.iscsi_ifacename = san0\niface.net_ifacename = eno2\niface.transport_name = tcp").
		FailedMount(stageFails("{\"code\":8,\"stderr\":\"iscsiadm: Could not login to [iface: san0, target: " + iqn + ", portal: 10.7.0.5,3260].\\niscsiadm: initiator reported error (8 - connection timed out)\\niscsiadm: Could not log into all portals\"}"))
}

// TestSiblingsOfWays: disks whose way to the storage is lost, and mounts of another's disk.
func TestSiblingsOfWays(t *testing.T) {
	t.Parallel()
	const lost, wrong = "broken: certain iscsi-session-lost Device n1/", "broken: likely device-is-not-the-volume Device n1/"
	offline := func(state string) *world {
		return sanMounted(pureISCSI()).Without("n1", "sys/class/block/sdc/device/state").Without("n1", "@statfs").Entries("n1", "sys/class/block/sdc/device/state", state)
	}
	stranger := func(w *world) *world {
		return mountedAs(otherEBS(w.Runs(0).Attached("n1"), "n1", "nvme2n1", "259:2", "0fffffffffffffff1"), "n1", "259:2", "nvme2n1")
	}
	cinder := func(serial string) *world {
		return mountedAs(vol("cinder.csi.openstack.org", "0e6dd0a8-1111-4222-8333-123456789012", "").Runs(0).Attached("n1").Disk("n1", "vdb", "252:16", "serial", serial), "n1", "252:16", "vdb")
	}
	eio := func(w *world) *world { return w.Entries("n1", "@statfs"+pureISCSI().Publish(0), "@error EIO") }
	for _, r := range []row{
		{"the transport gave it up", lost + "8:32", offline("transport-offline")},
		{"offline, nobody knows its transport", "broken: unexplained volume-io-error", offline("offline")},
		{"every path of a map", lost + "253:7", lostPaths("transport-offline", "offline")},
		{"every path of a map, EIO", lost + "253:7", eio(lostPaths("transport-offline", "offline"))},
		{"one path of a map", "healthy", lostPaths("running", "offline").Answers("n1", pureISCSI().Publish(0))},
		{"a map over disks of two volumes", "broken: certain device-lun-reused Device n1/253:7", lunMixed("naa.600a0980999999999999999999999999")},
		{"a map over two paths", "healthy", lunMixed("naa.600a0980123456789012345678901234")},
		{"a login that is bound to a card", "broken: certain iscsi-interface-misbound Node n1", boundLogin()},
		{"an image of a client that is shut out", "broken: certain ceph-client-fenced Node n1", rbdMounted(rbd().Runs(0), "n1", 0).Attached("n1").Entries("n1", "@statfs"+rbd().Publish(0), "@error EIO").Kernel("n1", "890|rbd: rbd0: failed to reregister watch: -108", "889|rbd: rbd0: write at objno 4 1024~4096 result -108")},
		{"a disk with a foreign id", wrong + "259:2", stranger(ebs())},
		{"a disk with a foreign id, the own one is there", wrong + "259:2", stranger(ebsDisk(ebs(), "n1"))},
		{"the disk of another PersistentVolume", wrong + "259:2", stranger(ebs().Add(pvOf("ebs.csi.aws.com", "vol-0fffffffffffffff1")))},
		{"a foreign UUID", wrong + "252:16", cinder("77777777-1111-4222-8")}, {"the own UUID", "healthy", cinder("0e6dd0a8-1111-4222-8")},
		{"a backup keeps it", "waiting: likely longhorn-attachment-ticket-leftover Volume longhorn-system/" + lhVol + " waiting", backupRuns("v1.7.2")},
		{"a backup that lets go", "broken: unexplained detach-stuck; unexplained multi-attach-error; unexplained pod-waiting-for-volume", backupRuns("v1.8.1")},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			show(t, r.w, "pvc shop/data", r.want)
		})
	}
}

// TestNoInitiator: an array that is shown no initiator says so before the volume is anybody's, of a volume that names no network.
func TestNoInitiator(t *testing.T) {
	t.Parallel()
	array := func(words string) *world {
		return sketch.NewWorld("csi-powerstore.disk.dellemc.com", "9f84/PS1/scsi", "accessModes: [ReadWriteOnce]\ncsi: {driver: csi-powerstore.disk.dellemc.com, volumeHandle: 9f84/PS1/scsi, fsType: ext4, volumeAttributes: {arrayID: PS1}}").Waits().
			Entries("n1", "proc/modules", "iscsi_tcp 1 0 - Live 0x0\nlibiscsi 1 0 - Live 0x0\nscsi_transport_iscsi 1 0 - Live 0x0").
			Event("Pod", "web-0", sketch.UID+"00", "FailedAttachVolume", "attachdetach-controller", "", "2026-01-02T11:59:00Z", "AttachVolume.Attach failed for volume \"pv-data\" : rpc error: code = Internal desc = "+words)
	}
	tools := func(w *world) *world { return w.Entries("n1", "usr/sbin/iscsiadm", "@hex\n7f454c46") }
	const open = "broken: unexplained attach-failed; unexplained pod-waiting-for-volume"
	showEach(t, map[string]shown{
		"nobody gave the node a name": {tools(array("no initiators found for host n1")), "broken: certain iscsi-initiator-name-invalid Node n1"},
		"an empty list":               {tools(array("create host: initiators: []")).Entries("n1", "etc/iscsi/initiatorname.iscsi", "InitiatorName="), "broken: certain iscsi-initiator-name-invalid Node n1"},
		"nothing is installed":        {array("host n1 does not have any iSCSI initiators"), "broken: certain iscsi-tools-missing Node n1"},
		"the node has a name":         {tools(array("create host: initiators: []")).Entries("n1", "etc/iscsi/initiatorname.iscsi", "InitiatorName=iqn.1993-08.org.debian:01:n1"), open},
		"those of Fibre Channel":      {tools(array("no FC initiators: []")), open},
		"a machine of Fibre Channel":  {tools(array("create host: initiators: []")).Entries("n1", "sys/class/fc_host/host3/port_state", "Linkdown"), open},
	})
}

// TestStagedOutsideOfThePlugin: a plugin that has the pods' directory, and that of staged volumes as the kubelet had it before
// 1.24. (ThinkParQ/beegfs-csi-driver#14)
func TestStagedOutsideOfThePlugin(t *testing.T) {
	t.Parallel()
	plugin := func(dir, words string) *world {
		w := sketch.NewWorld("beegfs.csi.netapp.com", "beegfs://10.0.0.9/k8s/pvc-1", "accessModes: [ReadWriteMany]\ncsi: {driver: beegfs.csi.netapp.com, volumeHandle: 'beegfs://10.0.0.9/k8s/pvc-1'}").Waits().
			Edit("mountPath: /var/lib/kubelet, mountPropagation: Bidirectional}", "mountPath: /var/lib/kubelet/pods, mountPropagation: Bidirectional}, {name: staged, mountPath: "+dir+", mountPropagation: Bidirectional}")
		return w.FailedMount(stageFails("stat " + w.Stage() + ": " + words))
	}
	const gone, older, whole = "no such file or directory", "/var/lib/kubelet/plugins/kubernetes.io/csi/pv", "/var/lib/kubelet/plugins/kubernetes.io/csi"
	const likely = "broken: likely kubelet-root-dir-wrong DaemonSet kube-system/plugin"
	showEach(t, map[string]shown{
		"nobody looked":                    {plugin(older, gone).Unprobed("n1", "NotRequested"), likely},
		"its directory was not recorded":   {plugin(older, gone), likely},
		"the host has it":                  {plugin(older, gone).Entries("n1", strings.TrimPrefix(plugin(older, gone).Stage(), "/"), "@dir"), strings.Replace(likely, "likely", "certain", 1)},
		"it refuses for another reason":    {plugin(older, "permission denied"), stageUnknown},
		"the plugin has that of all":       {plugin(whole, gone), stageUnknown},
		"the plugin has the kubelet's own": {plugin("/var/lib/kubelet", gone), stageUnknown},
	})
}
