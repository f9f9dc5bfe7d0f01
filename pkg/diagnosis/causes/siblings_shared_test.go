package causes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// modes gives the volume and its claim other access modes.
func modes(w *world, list string) *world {
	before := "ReadWriteOnce"
	if strings.HasPrefix(w.Driver, "nfs") {
		before = "ReadWriteMany"
	}
	w.Edit("accessModes: ["+before+"]", "accessModes: ["+list+"]")
	return w
}

// ends has the pod web-1 of n2 told to end at a time.
func ends(w *world, at string) *world {
	return w.EditIn("kind: Pod\nmetadata: {namespace: shop, name: web-1,", ", labels: {app: web}", ", deletionTimestamp: '"+at+"', deletionGracePeriodSeconds: 30, labels: {app: web}")
}

// TestAccessModesAreNoProof: a share may be called ReadWriteOnce and is everybody's; a disk may be
// called ReadWriteMany, and its filesystem is one node's.
func TestAccessModesAreNoProof(t *testing.T) {
	t.Parallel()
	const taken = "rpc error: code = Internal desc = Could not attach volume \"vol-0a1b2c3d4e5f60718\" to node \"n1\": operation error EC2: AttachVolume, https response error StatusCode: 400, RequestID: 3f9a0f0a, api error VolumeInUse: vol-0a1b2c3d4e5f60718 is already attached to an instance"
	lost := func(w *world) *world { return notReady(w, "n2", "2026-01-02T11:20:00Z").Unprobed("n2", "NodeNotReady") }
	refused := func(w *world) *world {
		return va(attachFailed(modes(w, "ReadWriteMany").Waits().Attached("n2"), "AttachVolume.Attach failed for volume \"pv-data\" : "+taken), "csi-n1", "n1", "", "attached: false, attachError: {time: '2026-01-02T11:59:00Z', message: '"+taken+"'}")
	}
	once := func() *world { return modes(nfs(), "ReadWriteOnce").Waits() }
	left := func(list string) *world {
		w := sanDisk(modes(pureISCSI(), list).Waits().Attached("n1"), "n2", "sdc", "8:32").Entries("n2", "@content/8:32", "TYPE=xfs\nUUID=2f\nSTATE=dirty")
		return w.Mounts("n2", "8:32 / "+w.Stage()+" rw,relatime shared:63 - xfs /dev/sdc rw").FailedMount(stageFails("device 600a0980123456789012345678901234 is reserved by another initiator"))
	}
	const behind = "broken: certain device-mapped-on-other-node Device n2/8:32"
	showEach(t, map[string]shown{
		"a share, once: a silent node keeps nobody from it":   {lost(once().Runs(1)), "broken: unexplained pod-waiting-for-volume"},
		"a share, once: an old pod that ends hands over none": {nfsMounted(ends(once().Runs(1), "2026-01-02T12:00:25Z"), "n2", 1).Answers("n2", nfs().Publish(1)).Entries("n1", "@dial/10.9.0.5:2049", "timeout 3s"), "broken: likely nfs-server-unreachable Node n1"},
		"a disk, shared, and its node is silent":              {lost(refused(ebs())), "broken: certain node-down Node n2"},
		"a disk, shared, and its node is gone":                {refused(ebs()).Drop("metadata: {name: n2, uid: 'f0").Drop("kind: CSINode\nmetadata: {name: n2").Drop("name: plugin-2, uid").Unprobed("n2", "NotRequested"), "broken: certain node-removed Node n2"},
		"a disk, shared, left mounted":                        {left("ReadWriteMany"), behind},
		"a disk of both modes, left mounted":                  {left("ReadWriteOnce, ReadWriteMany"), behind},
		"the kubelet gives a disk of both modes to the group": {modes(ebsMounted(ebs().Waits().Attached("n1"), "n1", 0), "ReadWriteOnce, ReadWriteMany").Edit("restartPolicy: Always, volumes: [{name: data", "securityContext: {fsGroup: 1000}, restartPolicy: Always, volumes: [{name: data").
			Event("Pod", "web-0", sketch.UID+"00", "VolumePermissionChangeInProgress", "kubelet", "n1", "2026-01-02T11:59:00Z", "Setting volume ownership for "+strings.TrimPrefix(ebs().Publish(0), "/var/lib/kubelet/")+" is taking longer than expected, consider using OnRootMismatch - https://kubernetes.io/docs/tasks/configure-pod-container/security-context/#configure-volume-permission-and-ownership-change-policy-for-pods"), "waiting: certain fsgroup-chown-slow Pod shop/web-0 waiting"},
	})
}

// TestWhatThePluginHas: a mount that a pod misses is in the plugin's table, or there neither.
func TestWhatThePluginHas(t *testing.T) {
	t.Parallel()
	misses := func(table string) *world {
		return nfs().Runs(0).Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms").Without("n1", "proc/4100/").
			Process("n1", 4100, "5000c0de-0000-4000-8000-000000000001", "driver", 4026532500, "900 1 0:170 / / rw,relatime - overlay overlay rw,lowerdir=l,upperdir=u\n901 900 8:2 /var/lib/kubelet /var/lib/kubelet rw,relatime - ext4 /dev/sda2 rw\n"+table)
	}
	has := "902 901 0:60 / " + nfs().Publish(0) + " rw,relatime - nfs4 10.9.0.5:/export/data rw,vers=4.2,hard,addr=10.9.0.5"
	const first, look = "First give pod kube-system/plugin-1", "Before that look whether"
	sayEach(t, map[string]said{
		"it has, and shares no mounts":  {misses(has).Edit(", mountPropagation: Bidirectional", ""), []string{first + " of DaemonSet kube-system/plugin the node's /var/lib/kubelet with mountPropagation: Bidirectional", "n1  proc/4100/mountinfo:3", "delete the pod"}, []string{look}},
		"it has, and should share them": {misses(has), []string{"n1  proc/4100/mountinfo:3", "First find out why"}, []string{look, first}},
		"it has not":                    {misses(""), []string{"delete the pod"}, []string{look, first}},
		"nobody read it":                {misses("").Without("n1", "proc/4100/mountinfo").Entries("n1", "proc/4100/mountinfo", "@error EACCES"), []string{look}, []string{first}},
	})
}

// TestDiskOfAProcess: a disk of rbd-nbd is as dead as its process.
func TestDiskOfAProcess(t *testing.T) {
	t.Parallel()
	mounted := func(super string) *world {
		w := sketchWorld("rbd.csi.ceph.com", "0001-0009-rook-ceph-0000000000000002-bbbb", strings.Replace(rbdPV, "imageFeatures: layering", "mounter: rbd-nbd", 1)).Runs(0).Attached("n1").Disk("n1", "nbd0", "43:0", "pid", "7700")
		line := " rw,relatime shared:63 - ext4 /dev/nbd0 " + super
		return w.Mounts("n1", "43:0 / "+w.Stage()+"/"+w.Handle+line, "43:0 / "+w.Publish(0)+line).LiveExt4("n1", "nbd0").Answers("n1", w.Publish(0))
	}
	served := func(w *world, pid int, command string) *world {
		return w.Process("n1", pid, "5000c0de-0000-4000-8000-000000000001", "rbd-nbd", 4026532500, "").Entries("n1", fmt.Sprintf("proc/%d/cmdline", pid), command)
	}
	closed := mounted("ro").Without("n1", "sys/fs/ext4/nbd0").Entries("n1", "sys/fs/ext4/nbd0/errors_count", "4").Kernel("n1", "3480|EXT4-fs (nbd0): Remounting filesystem read-only")
	const dead = "broken: certain mount-of-dead-device Device n1/43:0"
	showEach(t, map[string]shown{
		"the process that made it":    {served(mounted("rw"), 7700, "rbd-nbd␀map␀kube/csi-vol-bbbb␀--try-netlink␀"), "healthy"},
		"one that took it over":       {served(mounted("rw"), 7800, "rbd-nbd␀attach␀--device␀/dev/nbd0␀kube/csi-vol-bbbb␀"), "healthy"},
		"that of another image alone": {served(mounted("rw"), 7800, "rbd-nbd␀map␀kube/csi-vol-cccc␀"), dead},
		"none, and ext4 is closed":    {closed, dead},
		"none, and not all were read": {mounted("rw").Entries("n1", "proc/7700/comm", "@error EACCES", "proc/7700/ns/mnt", "@error EACCES"), "broken: likely mount-of-dead-device Device n1/43:0"},
	})
}

// TestWriteProtected: a filesystem on a disk that takes no writes wants the disk, and no repair.
func TestWriteProtected(t *testing.T) {
	t.Parallel()
	sealed := func(content, text string, kernel ...string) *world {
		w := sanWaits("xfs").Without("n1", "sys/class/block/sdc/ro").Without("n1", "@content/8:32").Entries("n1", "sys/class/block/sdc/ro", "1", "@content/8:32", content)
		if strings.Contains(content, "ext4") {
			w.Edit("fsType: xfs", "fsType: ext4")
		}
		return w.FailedMount(stageFails(text)).Kernel("n1", kernel...)
	}
	const (
		cannot  = "mount failed: exit status 32\nOutput: mount: /globalmount: cannot mount /dev/sdc read-only."
		checked = "'fsck' found errors on device /dev/sdc but could not correct them: fsck.ext4: Read-only file system while trying to open /dev/sdc\nDisk write-protected; use the -n option to do a read-only\ncheck of the device.\n"
		waits   = "TYPE=ext4\nUUID=2f\nSTATE=needs_recovery"
	)
	for name, c := range map[string]*world{
		"ext4, by the kernel":        sealed(waits, cannot, "61|EXT4-fs (sdc): INFO: recovery required on readonly filesystem", "61|EXT4-fs (sdc): write access unavailable, cannot proceed (try mounting with noload)"),
		"XFS, by the kernel":         sealed("TYPE=xfs\nUUID=2f", cannot, "61|XFS (sdc): recovery required on read-only device.", "61|XFS (sdc): log mount/recovery failed: error -30"),
		"ext4, by its checker":       sealed(waits, checked),
		"XFS, by mount alone":        sealed("TYPE=xfs\nUUID=2f", cannot),
		"ext4 with a mark of errors": sealed("TYPE=ext4\nUUID=2f\nSTATE=errors", cannot, "61|EXT4-fs (sdc): write access unavailable, cannot proceed (try mounting with noload)"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c, "pvc shop/data", "broken: certain xfs-log-not-replayed Device n1/8:32")
			sayOf(t, "pvc shop/data", said{c, []string{"Let the storage give node n1 the disk for writing", "sys/class/block/sdc/ro"}, []string{"One read-write mount", "repair it"}})
		})
	}
	showEach(t, map[string]shown{
		"another reason":      {sealed(waits, "something else went wrong"), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"it was left clean":   {sealed("TYPE=ext4\nUUID=2f\nSTATE=clean", cannot), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"damage, and no seal": {sealed("TYPE=ext4\nUUID=2f\nSTATE=errors", "'fsck' found errors on device /dev/sdc but could not correct them: fsck from util-linux 2.39.3\n/dev/sdc: UNEXPECTED INCONSISTENCY; RUN fsck MANUALLY.\n").Entries("n1", "sys/class/block/sdc/ro", "0"), "broken: certain filesystem-needs-fsck Device n1/8:32"},
	})
}

// TestFibreChannel: what breaks there is a remote port, and nobody logs in.
func TestFibreChannel(t *testing.T) {
	t.Parallel()
	disk := func(state string) *world {
		w := sketchWorld("", "", "accessModes: [ReadWriteOnce]\nvolumeMode: Filesystem\nfc: {targetWWNs: ['500a0982991b8dc5'], lun: 2, fsType: ext4}").Runs(0).
			Disk("n1", "sdc", "8:32", "device/state", state, "device/vendor", "NETAPP", "device/model", "LUN C-Mode").Entries("n1", "dev/disk/by-path/pci-0000:41:00.0-fc-0x500a0982991b8dc5-lun-2", "@link ../../sdc")
		at := "/var/lib/kubelet/pods/" + sketch.UID + "00/volumes/kubernetes.io~fc/pv-data"
		w.Mounts("n1", "8:32 / /var/lib/kubelet/plugins/kubernetes.io/fc/500a0982991b8dc5-lun-2 rw,relatime shared:63 - ext4 /dev/sdc rw", "8:32 / "+at+" rw,relatime shared:63 - ext4 /dev/sdc rw").LiveExt4("n1", "sdc")
		return w.Event("Pod", "web-0", sketch.UID+"00", "Unhealthy", "kubelet", "n1", "2026-01-02T11:59:30Z", "Liveness probe failed: cat: /data/.alive: Input/output error")
	}
	lost, waits := disk("offline"), disk("blocked")
	show(t, lost, "pvc shop/data", "broken: certain iscsi-session-lost Device n1/8:32")
	show(t, waits, "pvc shop/data", "broken: likely iscsi-session-lost Device n1/8:32")
	sayEach(t, map[string]said{
		"given up":    {lost, []string{"lost its remote port to the storage", "Find what broke the remote port: the array's port"}, []string{"session to", "broke the session", "login"}},
		"still waits": {waits, []string{"is waiting for its remote port", "When the remote port is back"}, []string{"session to", "the session", "login"}},
	})
}

// TestNobodySuffers: what is left of a volume on a node where nobody needs it, and keeps nobody from it.
func TestNobodySuffers(t *testing.T) {
	t.Parallel()
	ebsRuns := func() *world {
		return ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0))
	}
	rwop := unscheduled(second(modes(ebs(), "ReadWriteOncePod").Waits().Attached("n2"), "web-x", "n2", "", "Running", deleted), "0/3 nodes are available: 3 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod.")
	taken := notReady(ebs().Waits().Attached("n2").Edit("2026-01-02T11:30:00Z", "2026-01-02T11:59:30Z"), "n2", "2026-01-02T11:20:00Z").Unprobed("n2", "NodeNotReady").
		Event("Pod", "web-0", sketch.UID+"00", "FailedAttachVolume", "attachdetach-controller", "''", "2026-01-02T11:59:31Z", "Multi-Attach error for volume \"pv-data\" Volume is already exclusively attached to one node and can't be attached to another")
	unlisted := second(ebs().Waits().Edit("2026-01-02T11:30:00Z", "2026-01-02T11:59:40Z"), "web-x", "n2", "", "Running", ", deletionTimestamp: '2026-01-02T11:59:50Z', deletionGracePeriodSeconds: 30").Gap("api/storage.k8s.io/volumeattachments", "Forbidden").
		Event("Pod", "web-0", sketch.UID+"00", "FailedAttachVolume", "attachdetach-controller", "''", "2026-01-02T11:59:41Z", "Multi-Attach error for volume \"pv-data\" Volume is already used by pod(s) web-x")
	const image = "rbd: {monitors: ['10.9.1.1:6789'], pool: kube, image: img1, user: kube, fsType: ext4}"
	inTree := sketchWorld("", "", "accessModes: [ReadWriteOnce]\nvolumeMode: Filesystem\n"+image).Waits().Runs(1).FailedMount("MountVolume.WaitForAttach failed for volume \"pv-data\" : rbd image kube/img1 is still being used").
		Disk("n2", "rbd0", "252:0").LiveExt4("n2", "rbd0").Entries("n2", "sys/bus/rbd/devices/0/pool", "kube", "sys/bus/rbd/devices/0/name", "img1", "sys/bus/rbd/devices/0/major", "252", "sys/bus/rbd/devices/0/minor", "0")
	inTree.Mounts("n2", "252:0 / /var/lib/kubelet/pods/"+sketch.UID+"01/volumes/kubernetes.io~rbd/pv-data rw,relatime shared:63 - ext4 /dev/rbd0 rw").Answers("n2", "/var/lib/kubelet/pods/"+sketch.UID+"01/volumes/kubernetes.io~rbd/pv-data")
	showEach(t, map[string]shown{
		"a share under a pod that is gone":         {nfsMounted(nfsMounted(modes(nfs(), "ReadWriteOnce").Runs(1), "n1", 0), "n2", 1).Answers("n1", nfs().Publish(0)).Answers("n2", nfs().Publish(1)), "degraded: certain pod-directory-orphaned Node n1"},
		"a mount of a disk that went away":         {ebsRuns().Mounts("n2", "259:7 / "+ebs().Stage()+" rw,relatime shared:90 - ext4 /dev/nvme3n1 rw"), "degraded: certain mount-of-dead-device Device n2/259:7"},
		"its last pod there ends, just now":        {unlisted, "waiting"},
		"the node is out of service, just now":     {taken.Edit("spec: {podCIDR: 10.42.12.0/24}", "spec: {podCIDR: 10.42.12.0/24, taints: [{key: node.kubernetes.io/out-of-service, value: nodeshutdown, effect: NoExecute}]}"), "waiting"},
		"the other pod of one sits on a lost node": {notReady(rwop, "n2", "2026-01-02T11:20:00Z").Unprobed("n2", "NodeNotReady"), "broken: certain node-down Node n2"},
		"the mount is what is refused":             {inTree, "broken: likely rwo-shared-by-workloads PersistentVolumeClaim shop/data"},
	})
	share := notReady(ends(cephfsMounted(cephfs().Runs(0).Runs(1), "n1", 0).Answers("n1", cephfs().Stage(), cephfs().Publish(0)), "2026-01-02T11:30:30Z"), "n2", "2026-01-02T11:20:00Z").Unprobed("n2", "NodeNotReady")
	windows := smb().Waits().FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = volume(nas-data) mount \"//10.9.0.6/data\" on \"\\\\var\\\\lib\\\\kubelet\\\\g\" failed with NewSmbGlobalMapping failed. output: \"New-SmbGlobalMapping : The user name or password is incorrect. FullyQualifiedErrorId : Windows System Error 1326,New-SmbGlobalMapping\", err: exit status 1")
	twice := rbdMounted(rbdMounted(rbd().Runs(0).Attached("n1"), "n1", 0), "n2", 1).Answers("n1", rbd().Publish(0))
	sayEach(t, map[string]said{
		"a share on a lost node":                               {share, []string{"kept from no other node"}, []string{"Two nodes that write", "the volume moves"}},
		"a disk under a pod that is gone, and on another node": {twice, []string{"Scale the workload of the volume to 0"}, nil},
		"a holder that starts, too":                            {second(attachFailed(ebs().Waits().Attached("n2"), "Multi-Attach error for volume \"pv-data\" Volume is already used by pod(s) x-1"), "x-1", "n2", "", "Pending", ""), []string{"pod shop/x-1 on node n2 (30m old) has it"}, []string{"runs", "is using the disk"}},
		"Windows tells a logon by itself":                      {windows, []string{"does not log on the user"}, []string{"was not seen"}},
	})
}
