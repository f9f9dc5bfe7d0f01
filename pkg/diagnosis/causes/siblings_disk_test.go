package causes

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

func devFailed(out string) string {
	return "MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = could not format \"/dev/nvme1n1\" and mount it at \"/g/globalmount\": mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t ext4 -o defaults /dev/nvme1n1 /g/globalmount\nOutput: " + out
}

func ebsXFS(w *world) *world {
	return w.Edit("fsType: ext4", "fsType: xfs").Entries("n1", "@content/259:1", "TYPE=xfs\nUUID=2f2f2f2f-0000-4000-8000-000000000001")
}

// stuckIn lets a process of the pod wait in the kernel, in these functions.
func stuckIn(w *world, frames ...string) *world {
	return w.Answers("n1", w.Stage()).Without("n1", "proc/5000/stat").Entries("n1", "proc/5000/stat", "5000 (app) D 1 5000 5000 0 -1 4194560 0 0 0 0 10 10 0 0 20 0 1 0 1000 0 0 18446744073709551615",
		"proc/5000/wchan", frames[0], "proc/5000/stack", "[<0>] "+strings.Join(frames, "+0x15f/0x1d0\n[<0>] ")+"+0x76/0x7e")
}

func TestSiblingsDisk(t *testing.T) {
	t.Parallel()
	attached := func() *world { return ebsDisk(ebs().Waits().Attached("n1"), "n1") }
	running := func() *world {
		return ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0))
	}
	shut := func() *world {
		return ebsDisk(ebs().Runs(0), "n1").Attached("n1").Answers("n1", ebs().Publish(0)).LiveExt4("n1", "nvme1n1").
			Mounts("n1", "259:1 / "+ebs().Stage()+" rw,relatime shared:62 - ext4 /dev/nvme1n1 rw", "259:1 / "+ebs().Publish(0)+" ro,relatime shared:62 - ext4 /dev/nvme1n1 rw")
	}
	stuck := func() *world { // the pod is being deleted for ten minutes, its containers are gone
		return ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0)).Without("n1", "proc/5000/").
			Edit("name: web-0, uid", "name: web-0, deletionTimestamp: '2026-01-02T11:50:00Z', deletionGracePeriodSeconds: 30, uid").
			Edit("ready: true, restartCount: 0, image: i, imageID: '', containerID: 'containerd://"+strings.Repeat("ab", 31)+"00', state: {running: {startedAt: '2025-12-31T12:00:10Z'}}", "ready: false, restartCount: 0, image: i, imageID: '', state: {terminated: {exitCode: 0, reason: Completed, finishedAt: '2026-01-02T11:50:05Z'}}")
	}
	for name, c := range map[string]struct {
		w    *world
		want string
	}{
		"fsck gives up": {attached().FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = 'fsck' found errors on device /dev/nvme1n1 but could not correct them: fsck from util-linux 2.38.1\n/dev/nvme1n1 contains a file system with errors, check forced.\n/dev/nvme1n1: UNEXPECTED INCONSISTENCY; RUN fsck MANUALLY.\n\t(i.e., without -a or -p options)\n.").Entries("n1", "@content/259:1", "TYPE=ext4\nUUID=1f\nSTATE=errors", "@claim/259:1", "free"),
			"broken: certain filesystem-needs-fsck Device n1/259:1"},
		"fsck gives up, node unseen": {ebs().Waits().Attached("n1").FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = 'fsck' found errors on device /dev/nvme1n1 but could not correct them: .").Unprobed("n1", "PodRejected"),
			"broken: likely filesystem-needs-fsck PersistentVolume pv-data"},
		"frozen under a pod that writes": {stuckIn(running(), "percpu_rwsem_wait", "mnt_want_write", "path_openat", "do_filp_open"), "broken: unexplained volume-hung"},
		"a task of the pod that forks":   {stuckIn(running(), "percpu_rwsem_wait", "copy_process", "kernel_clone"), "healthy"},
		"the plugin is stopped": {attached().FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Unavailable desc = connection error: desc = \"error reading server preface: read unix @->/var/lib/kubelet/plugins/ebs.csi.aws.com/csi.sock: use of closed network connection\"").Without("n1", "proc/4100/stat").
			Entries("n1", "proc/4100/stat", "4100 (driver) T 1 4100 4100 0 -1 4194560 0 0 0 0 10 10 0 0 20 0 1 0 1000 0 0 18446744073709551615"), "broken: certain csi-plugin-not-registered Pod kube-system/plugin-1"},
		"the plugin is stopped, and the pod has ended": {stuck().Without("n1", "proc/4100/stat").
			Entries("n1", "proc/4100/stat", "4100 (driver) T 1 4100 4100 0 -1 4194560 0 0 0 0 10 10 0 0 20 0 1 0 1000 0 0 18446744073709551615"), "broken: certain csi-plugin-not-registered Pod kube-system/plugin-1"},
		"a superblock whose checksum is wrong": {attached().FailedMount(devFailed("mount: /g/globalmount: wrong fs type, bad option, bad superblock on /dev/nvme1n1, missing codepage or helper program, or other error.")).Kernel("n1", "61|EXT4-fs (nvme1n1): VFS: Found ext4 filesystem with invalid superblock checksum.  Run e2fsck?"),
			"broken: likely filesystem-needs-fsck Device n1/259:1"},
		"structure needs cleaning": {ebsXFS(attached()).FailedMount(strings.ReplaceAll(devFailed("mount: /g/globalmount: mount(2) system call failed: Structure needs cleaning."), "-t ext4", "-t xfs")).Kernel("n1", "61|XFS (nvme1n1): Metadata CRC error detected at xfs_agf_read_verify+0xd2/0x130 [xfs], xfs_agf block 0x1", "61|XFS (nvme1n1): Unmount and run xfs_repair").Entries("n1", "@claim/259:1", "free"),
			"broken: certain filesystem-needs-fsck Device n1/259:1"},
		"XFS too new for the kernel": {ebsXFS(attached()).FailedMount(strings.ReplaceAll(devFailed("mount: /g/globalmount: wrong fs type, bad option, bad superblock on /dev/nvme1n1, missing codepage or helper program, or other error."), "-t ext4", "-t xfs")).Kernel("n1", "61|XFS (nvme1n1): Superblock has unknown incompatible features (0x20) enabled.", "61|XFS (nvme1n1): Filesystem cannot be safely mounted by this kernel.", "61|XFS (nvme1n1): SB validate failed with error -22."),
			"broken: certain filesystem-feature-unsupported Device n1/259:1"},
		"e2fsck too old": {attached().FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = 'fsck' found errors on device /dev/nvme1n1 but could not correct them: fsck from util-linux 2.34\n/dev/nvme1n1 has unsupported feature(s): FEATURE_C12\ne2fsck: Get a newer version of e2fsck!\n"),
			"broken: certain filesystem-feature-unsupported Device n1/259:1"},
		"clone on the node of its origin": {ebsXFS(attached()).FailedMount(strings.ReplaceAll(devFailed("mount: /g/globalmount: wrong fs type, bad option, bad superblock on /dev/nvme1n1"), "-t ext4", "-t xfs")).Kernel("n1", "61|XFS (nvme1n1): Filesystem has duplicate UUID 2f2f2f2f-0000-4000-8000-000000000001 - can't mount"),
			"broken: likely xfs-uuid-duplicate Device n1/259:1"},
		"wrong type": {attached().FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = failed to format and mount device from (\"/dev/nvme1n1\") to (\"/g\") with fstype (\"ext4\") and options ([]): failed to mount the volume as \"ext4\", it already contains xfs. Mount error: mount failed: exit status 32").Entries("n1", "@content/259:1", "TYPE=xfs\nUUID=2f"),
			"broken: certain filesystem-type-mismatch PersistentVolume pv-data"},
		"read-only after an error": {running().Entries("n1", "sys/fs/ext4/nvme1n1/errors_count", "3").Kernel("n1", "600|blk_update_request: I/O error, dev nvme1n1, sector 98304 op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 0", "600|Aborting journal on device nvme1n1-8.", "599|EXT4-fs error (device nvme1n1): ext4_journal_check_start:83: comm app: Detected aborted journal", "599|EXT4-fs (nvme1n1): Remounting filesystem read-only"),
			"broken: certain filesystem-readonly-after-error Device n1/259:1"},
		"read-only as asked": {running().Edit("persistentVolumeClaim: {claimName: data}", "persistentVolumeClaim: {claimName: data, readOnly: true}").Edit("{name: data, mountPath: /data}", "{name: data, mountPath: /data, readOnly: true}"),
			"healthy"},
		"full": {running().Entries("n1", "@statfs"+ebs().Publish(0), "2621440 131072 0 655360 600000 4096").File("logs/shop/web-0/app.log", "2026-01-02T11:58:00Z write /data/x: no space left on device\n"),
			"broken: certain filesystem-full PersistentVolumeClaim shop/data"},
		"no inodes": {running().Entries("n1", "@statfs"+ebs().Publish(0), "2621440 2000000 2000000 655360 0 4096"),
			"degraded: certain filesystem-full PersistentVolumeClaim shop/data"},
		"chown of many files": {ebsMounted(ebs().Waits().Attached("n1"), "n1", 0).Edit("restartPolicy: Always, volumes: [{name: data", "securityContext: {fsGroup: 1000}, restartPolicy: Always, volumes: [{name: data").Entries("n1", "@statfs"+ebs().Publish(0), "26214400 2000000 2000000 6553600 1600000 4096").FailedMount("Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[]: timed out waiting for the condition"),
			"waiting: likely fsgroup-chown-slow Pod shop/web-0 waiting"},
		"relabelling": {ebsMounted(ebs().Waits().Attached("n1"), "n1", 0).Edit("reason: ContainerCreating", "reason: CreateContainerError, message: 'context deadline exceeded'").Entries("n1", "sys/fs/selinux/enforce", "1", "@statfs"+ebs().Publish(0), "26214400 2000000 2000000 6553600 1600000 4096").Event("Pod", "web-0", sketch.UID+"00", "Failed", "kubelet", "n1", "2026-01-02T11:59:00Z", "Error: context deadline exceeded"),
			"broken: unexplained pod-waiting-for-volume"},
		"dirty log before a check": {ebsXFS(attached()).FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = 'xfs_repair' found errors on device /dev/nvme1n1 but could not correct them: Phase 1 - find and verify superblock...\nPhase 2 - using internal log\n        - zero log...\nERROR: The filesystem has valuable metadata changes in a log which needs to\nbe replayed.  Mount the filesystem to replay the log, and unmount it before\nre-running xfs_repair."),
			"broken: certain xfs-log-not-replayed Device n1/259:1"},
		"ends and does not, a loop lies over a file of it": {stuck().Disk("n1", "loop5", "7:5", "loop/backing_file", ebs().Publish(0)+"/images/build.img"),
			"broken: certain device-held-by-process Device n1/259:1"},
		"ends and does not, something is mounted inside": {stuck().Mounts("n1", "0:99 / "+ebs().Publish(0)+"/cache rw,relatime - tmpfs tmpfs rw"),
			"broken: certain device-held-by-process Device n1/259:1"},
		"the pod's path alone is read-only":                        {shut(), "broken: unexplained volume-readonly"},
		"the pod's path alone is read-only, as its driver is told": {shut().Edit("volumeHandle: vol-0a1b2c3d4e5f60718", "volumeAttributes: {readOnly: 'true'}, volumeHandle: vol-0a1b2c3d4e5f60718"), "healthy"},
		"the pod's path alone is read-only, and it only reads":     {shut().EditIn("name: web-0, uid", "mountPath: /data", "mountPath: /data, readOnly: true"), "healthy"},
		"the pod's path alone is read-only, as it asks":            {shut().Edit("persistentVolumeClaim: {claimName: data}", "persistentVolumeClaim: {claimName: data, readOnly: true}"), "healthy"},
		"the kernel lists errors of long ago": {running().Entries("n1", "sys/fs/ext4/nvme1n1/errors_count", "4").Kernel("n1", "300|EXT4-fs (nvme1n1): error count since last fsck: 4", "300|EXT4-fs (nvme1n1): initial error at time 1690000000: ext4_lookup:1855: inode 131", "300|EXT4-fs (nvme1n1): last error at time 1690000000: ext4_lookup:1855: inode 131"),
			"healthy"},
		"in use, and something is mounted inside": {running().Mounts("n1", "0:99 / "+ebs().Publish(0)+"/cache rw,relatime - tmpfs tmpfs rw"), "healthy"},
		"ends and does not, nobody knows why": {stuck(),
			"broken: unexplained pod-stuck-terminating; unexplained unmount-blocked"},
		"nothing mounted": {ebsDisk(ebs().Runs(0).Attached("n1"), "n1"),
			"broken: certain mount-missing-under-pod Pod shop/web-0"},
		"a plain directory is bound": {ebsDisk(ebs().Runs(0).Attached("n1"), "n1").Mounts("n1", "8:2 "+ebs().Stage()+" "+ebs().Publish(0)+" rw,relatime shared:1 - ext4 /dev/sda2 rw"),
			"broken: certain mount-missing-under-pod Pod shop/web-0"},
		"device gone under the mount": {ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Without("n1", "sys/class/block/nvme1n1").Without("n1", "dev/nvme1n1").Without("n1", "dev/disk/by-id/nvme").Without("n1", "@content/259:1").Entries("n1", "@statfs"+ebs().Publish(0), "@error EIO"),
			"broken: certain mount-of-dead-device Device n1/259:1"},
		"pinned by an agent": {ebsDisk(ebs().Runs(1).Drop("name: web-1").Waits().Edit("web-0", "web-1").Edit("nodeName: n1, restartPolicy", "nodeName: n2, restartPolicy"), "n1").Attached("n1").LiveExt4("n1", "nvme1n1").Process("n1", 9000, "9000c0de-0000-4000-8000-000000000009", "agent", 4026532999, "900 1 0:170 / / rw,relatime - overlay overlay rw,lowerdir=l,upperdir=u\n901 900 259:1 / /host"+ebs().Publish(0)+" rw,relatime - ext4 /dev/nvme1n1 rw").
			Add("\napiVersion: v1\nkind: Pod\nmetadata: {namespace: monitoring, name: agent-1, uid: '9000c0de-0000-4000-8000-000000000009', creationTimestamp: '2025-12-24T12:00:00Z', ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: '9000c0de-0000-4000-8000-000000000008', controller: true}]}\nspec: {nodeName: n1, containers: [{name: agent, image: i, volumeMounts: [{name: root, mountPath: /host, readOnly: true}]}], volumes: [{name: root, hostPath: {path: /}}]}\nstatus: {phase: Running, startTime: '2025-12-24T12:00:00Z', conditions: [{type: Ready, status: 'True'}], containerStatuses: [{name: agent, ready: true, restartCount: 0, state: {running: {startedAt: '2025-12-24T12:00:00Z'}}}]}").
			Event("Pod", "web-1", sketch.UID+"00", "FailedAttachVolume", "attachdetach-controller", "", "2026-01-02T11:59:00Z", "Multi-Attach error for volume \"pv-data\" Volume is already exclusively attached to one node and can't be attached to another"),
			"broken: certain mount-pinned-in-namespace Pod monitoring/agent-1"},
		"lazily detached, its holder seen": {ebsDisk(ebs().Waits().Attached("n1"), "n1").LiveExt4("n1", "nvme1n1").Entries("n1", "@claim/259:1", "EBUSY").Process("n1", 9000, "9000c0de-0000-4000-8000-000000000009", "tail", 4026531841, "").Without("n1", "proc/9000/cgroup").Without("n1", "proc/9000/mountinfo").Entries("n1", "proc/9000/cgroup", "0::/user.slice/user-0.slice/session-3.scope", "proc/9000/fd/3", "@link /data/log (deleted)", "@dev/proc/9000/fd/3", "259:1").
			FailedMount(devFailed("mount: /g/globalmount: /dev/nvme1n1 already mounted or mount point busy.")),
			"broken: certain mount-lazily-detached Device n1/259:1"},
		"the watch limit": {attached().FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : failed to create watcher: inotify_init: too many open files"),
			"broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"grown by the backend only": {running().Edit("capacity: {storage: 10Gi}\n  persistentVolumeReclaimPolicy", "capacity: {storage: 20Gi}\n  persistentVolumeReclaimPolicy").Edit("resources: {requests: {storage: 10Gi}}", "resources: {requests: {storage: 20Gi}}").Edit("status: {phase: Bound, accessModes: [ReadWriteOnce], capacity: {storage: 10Gi}}", "status: {phase: Bound, accessModes: [ReadWriteOnce], capacity: {storage: 10Gi}, conditions: [{type: FileSystemResizePending, status: 'True', lastTransitionTime: '2026-01-02T11:30:00Z'}]}").
			Event("Pod", "web-0", sketch.UID+"00", "VolumeResizeFailed", "kubelet", "n1", "2026-01-02T11:59:00Z", "NodeExpandVolume.NodeExpandVolume failed for volume \"pv-data\" : Expander.NodeExpand failed to expand the volume : rpc error: code = Internal desc = Could not resize volume \"vol-0a1b2c3d4e5f60718\" (\"/dev/nvme1n1\"):  resize of device /dev/nvme1n1 failed: exit status 1. resize2fs output: resize2fs 1.46.5"),
			"degraded: certain expansion-failed-on-node PersistentVolumeClaim shop/data"},
		"just grown": {running().Edit("storage: 10Gi", "storage: 20Gi").Entries("n1", "sys/class/block/nvme1n1/size", "41943040", "@statfs"+ebs().Publish(0), "5200000 2000000 2000000 655360 600000 4096").Event("PersistentVolumeClaim", "data", "c0000000-0000-4000-8000-000000000001", "FileSystemResizeSuccessful", "kubelet", "n1", "2026-01-02T11:59:00Z", "MountVolume.NodeExpandVolume succeeded for volume \"pv-data\""),
			"healthy"},
		"a container that cannot find its subPath": {running().Edit("{name: data, mountPath: /data}", "{name: data, mountPath: /data, subPath: app/cur}").Edit("phase: Running, startTime: '2025-12-31T12:00:00Z'", "phase: Running, startTime: '2025-12-31T12:00:00Z'").Edit("ready: true, restartCount: 0, image: i, imageID: '', containerID", "ready: false, restartCount: 9, image: i, imageID: '', lastState: {terminated: {exitCode: 128, reason: StartError, finishedAt: '2026-01-02T11:59:00Z', message: 'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: error mounting \"/var/lib/kubelet/pods/"+sketch.UID+"00/volume-subpaths/pv-data/app/0\" to rootfs at \"/data\": mount src=x: no such file or directory: unknown'}}, containerID").Edit("state: {running: {startedAt: '2025-12-31T12:00:10Z'}}", "state: {waiting: {reason: CrashLoopBackOff}}").Without("n1", "proc/5000/").Mounts("n1", "259:1 /app/old//deleted /var/lib/kubelet/pods/"+sketch.UID+"00/volume-subpaths/pv-data/app/0 rw,relatime shared:64 - ext4 /dev/nvme1n1 rw"),
			"broken: certain subpath-bind-stale Pod shop/web-0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.w, "pvc shop/data", c.want)
		})
	}
}
