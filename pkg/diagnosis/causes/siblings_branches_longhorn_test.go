package causes

import "testing"

// TestBranchesOfLonghorn: what no incident shows of Longhorn's causes.
func TestBranchesOfLonghorn(t *testing.T) {
	t.Parallel()
	waits := func() *world { return lhWaits(lhWorld("v1.7.2")) }
	const volume = "Volume longhorn-system/" + lhVol
	restores := waits().EditIn(volDoc, "restoreRequired: false", "restoreRequired: true").EditIn(volDoc, "spec: {size", "spec: {fromBackup: 's3://b@r/?backup=backup-1&volume=v', size").EditIn(volDoc, "{type: Restore, status: 'False'}", "{type: Restore, status: 'True', reason: RestoreInProgress}").
		EditIn(volDoc, "creationTimestamp: '2025-12-01T08:00:00Z'", "creationTimestamp: '2026-01-02T11:00:00Z'").
		Event("Pod", "web-0", sketchUID, "FailedAttachVolume", "attachdetach-controller", "''", "2026-01-02T11:59:40Z", "AttachVolume.Attach failed for volume \"pv-data\" : rpc error: code = Internal desc = failed to restore backup: failed lock backupstore/volumes/aa/bb/v/locks/lock-1.lck type 2 acquisition")
	restores.EditIn(engDoc, "currentState: stopped", "currentState: running").EditIn(engDoc, "upgradedReplicaAddressMap: {}", "upgradedReplicaAddressMap: {}, requestedBackupRestore: backup-1")
	restoring := waits().EditIn(volDoc, "restoreRequired: false", "restoreRequired: true").EditIn(volDoc, "{type: Restore, status: 'False'}", "{type: Restore, status: 'True', reason: RestoreInProgress, lastTransitionTime: '2026-01-02T11:40:00Z'}").
		EditIn(engDoc, "restoreStatus: {}", "restoreStatus: {'tcp://10.42.11.20:10000': {isRestoring: true, progress: 40}}")
	owner := waits()
	owner.EditIn(volDoc, "ownerID: n1", "ownerID: n9").EditIn(volDoc, "nodeID: n1", "nodeID: ''").EditIn(volDoc, "state: attaching", "state: detached")
	down := func(w *world) *world {
		return w.Drop("name: longhorn-manager-n1,").EditIn("Node\nmetadata: {name: n1, namespace: longhorn-system", "{type: Ready, status: 'True'}, {type: Schedulable", "{type: Ready, status: 'False', reason: ManagerPodMissing, message: manager pod missing}, {type: Schedulable").Event("Pod", "web-0", sketchUID, "FailedAttachVolume", "attachdetach-controller", "''", "2026-01-02T11:59:40Z", "AttachVolume.Attach failed for volume \"pv-data\" : rpc error: code = Internal desc = unable to attach volume "+lhVol+" to n1: node n1 is not ready, couldn't attach volume "+lhVol+" to it")
	}
	says := func(w *world, words string) *world {
		return w.Event("Pod", "web-0", sketchUID, "FailedAttachVolume", "attachdetach-controller", "''", "2026-01-02T11:59:50Z", "AttachVolume.Attach failed for volume \"pv-data\" : rpc error: code = "+words)
	}
	late := says(waits().Drop("name: longhorn-manager-n1,").EditIn("Node\nmetadata: {name: n1, namespace: longhorn-system", "{type: Ready, status: 'True'}, {type: Schedulable", "{type: Ready, status: 'False', reason: ManagerPodMissing, message: manager pod missing}, {type: Schedulable"),
		"DeadlineExceeded desc = volume "+lhVol+" failed to attach to node n1 with attachmentID csi-1")
	never := says(waits().Drop("name: longhorn-manager-n1,").Drop("Node\nmetadata: {name: n1, namespace: longhorn-system"), "NotFound desc = node n1 not found")
	encrypted := func() *world {
		return lhAttached(lhWorld("v1.7.2").Waits()).EditIn(volDoc, "encrypted: false", "encrypted: true")
	}
	showEach(t, map[string]shown{
		"another operation holds the backup's lock":             {restores, "broken: likely longhorn-restore-stalled " + volume},
		"it is restored, and its words are a backend's at work": {says(restoring, "Aborted desc = volume "+lhVol+" is not ready for workloads: restore in progress"), "waiting: certain longhorn-restore-pending " + volume + " waiting"},
		"an owner that is gone":                                 {owner, "broken: certain node-removed Node n9"},
		"no manager on the node":                                {down(waits()), "broken: certain longhorn-control-plane-down Service longhorn-system/longhorn-backend"},
		"no manager on the node, and a time-out":                {late, "broken: likely longhorn-control-plane-down Service longhorn-system/longhorn-backend"},
		"a node that Longhorn never knew":                       {never, "broken: certain longhorn-control-plane-down Service longhorn-system/longhorn-backend"},
		"a read-only filesystem, node not probed":               {lhRuns(lhWorld("v1.7.2")).Unprobed("n1", "PodRejected").EditIn(engDoc, "conditions: [{type: InstanceCreation", "conditions: [{type: FilesystemReadOnly, status: 'True', reason: '', message: ''}, {type: InstanceCreation"), "broken: likely filesystem-readonly-after-error " + volume},
		"no propagation, node not probed":                       {lhAttached(lhWorld("v1.7.2").Waits()).Unprobed("n1", "PodRejected").EditIn("Node\nmetadata: {name: n1, namespace: longhorn-system", "{type: MountPropagation, status: 'True'}", "{type: MountPropagation, status: 'False', reason: NoMountPropagationSupport, message: Node n1 does not support mount propagation}"), "broken: likely mount-propagation-off Node n1"},
		"the tool is where nobody looks":                        {encrypted().Without("n1", "usr/sbin/cryptsetup").Entries("n1", "run/current-system/sw/bin/cryptsetup", "@hex\n7f454c46"), "broken: certain encryption-tools-missing Node n1"},
		"FIPS, and the sentence was cut away":                   {encrypted().Entries("n1", "proc/sys/crypto/fips_enabled", "1").FailedMount(stageFails("failed to run cryptsetup args: [-q luksFormat --type luks2 --cipher aes-xts-plain64 --hash sha256 --key-size 256 --pbkdf argon2i /dev/longhorn/" + lhVol + " -d -] error: exit status 1")), "broken: likely encryption-parameters-refused Node n1"},
	})
}

// TestBranchesOfFilesystems: growth, logs and maps.
func TestBranchesOfFilesystems(t *testing.T) {
	t.Parallel()
	pending := func(w *world) *world {
		return w.Edit("storage: 10Gi", "storage: 20Gi").EditIn("kind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: data", "capacity: {storage: 20Gi}", "capacity: {storage: 10Gi}, conditions: [{type: FileSystemResizePending, status: 'True', lastTransitionTime: '2026-01-02T11:00:00Z'}]")
	}
	runs := func() *world {
		return ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0))
	}
	grown := pending(runs()).Without("n1", "sys/class/block/nvme1n1/size").Entries("n1", "sys/class/block/nvme1n1/size", "41943040")
	readonly := sanWaits("xfs").FailedMount(stageFails("mount failed: exit status 32\nMounting arguments: -t xfs -o ro /dev/sdc /g\nOutput: mount: /g: cannot mount /dev/sdc read-only.")).
		Kernel("n1", "61|XFS (sdc): Mounting V5 Filesystem 2f2f2f2f-0000-4000-8000-000000000002", "61|XFS (sdc): recovery required on read-only device.", "61|XFS (sdc): write access unavailable, cannot proceed.", "61|XFS (sdc): log mount/recovery failed: error -30", "61|XFS (sdc): log mount failed")
	daemon := lhAttached(lhWorld("v1.7.2").Waits()).Process("n1", 700, "", "multipathd", 4026531841, "21 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw").
		Entries("n1", "proc/700/cgroup", "0::/system.slice/multipathd.service", "proc/700/cmdline", "/sbin/multipathd␀-d␀", "proc/700/fd/9", "@link /dev/sdb", "@claim/8:16", "EBUSY").Without("n1", "@multipathd/").Entries("n1", "@multipathd/show maps json", "{\"major_version\":0,\"minor_version\":1,\"maps\":[]}").
		FailedMount(stageFails("mount failed: exit status 32\nMounting arguments: -t ext4 /dev/longhorn/" + lhVol + " /g\nOutput: mount: /g: /dev/longhorn/" + lhVol + " already mounted or mount point busy."))
	showEach(t, map[string]shown{
		"the disk has grown, the filesystem has not": {grown, "degraded: certain expansion-failed-on-node PersistentVolumeClaim shop/data"},
		"it grows when a pod mounts it":              {pending(ebs()), "waiting: certain expansion-failed-on-node PersistentVolumeClaim shop/data waiting"},
		"a log on a device that is read-only":        {readonly, "broken: certain xfs-log-not-replayed Device n1/8:32"},
		"multipathd has the disk open":               {daemon, "broken: possible multipath-claims-device Device n1/8:16; unexplained mount-busy; unexplained mount-failed; unexplained pod-waiting-for-volume"},
	})
}
