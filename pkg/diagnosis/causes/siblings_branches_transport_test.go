package causes

import (
	"strings"
	"testing"
)

// TestBranchesOfTransport: modules, tools and servers.
func TestBranchesOfTransport(t *testing.T) {
	t.Parallel()
	const kernel = "6.1.0-18-amd64"
	rbdFails := func(words string) *world {
		return rbd().Waits().Attached("n1").Without("n1", "proc/modules").Entries("n1", "proc/modules", "overlay 28672 0 - Live 0x0").
			FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = " + words)
	}
	ondisk := func(w *world) *world {
		return w.Without("n1", "lib/modules/").Entries("n1", "lib/modules/"+kernel+"/modules.dep", "kernel/drivers/block/rbd.ko: kernel/net/ceph/libceph.ko\nkernel/net/ceph/libceph.ko:", "lib/modules/"+kernel+"/modules.builtin", "kernel/fs/ext4/ext4.ko")
	}
	const unlisted = "{\"code\":21,\"stderr\":\"iscsiadm: No portals found\"}"
	served := func(endpoints string) *world {
		w := sketchWorld("nfs.csi.k8s.io", "nas#data", "accessModes: [ReadWriteMany]\ncsi: {driver: nfs.csi.k8s.io, volumeHandle: nas#data, volumeAttributes: {server: nfs.storage.svc.cluster.local, share: /export/data}}")
		return w.Add("apiVersion: v1\nkind: Service\nmetadata: {name: nfs, namespace: storage}\nspec: {clusterIP: 10.96.3.4, selector: {app: nfs}, ports: [{name: nfs, port: 2049}]}\n",
			"apiVersion: v1\nkind: Endpoints\nmetadata: {name: nfs, namespace: storage}\n"+endpoints)
	}
	smbFails := func(code, line string) *world {
		return smb().Waits().FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = volume(nas-data) mount \"//10.9.0.6/data\" on \"/g\" failed with mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t cifs -o vers=3.0,<masked> //10.9.0.6/data /g\nOutput: mount error("+code).
			Entries("n1", "@dial/10.9.0.6:445", "ok 1ms").Kernel("n1", "61|CIFS: Attempting to mount //10.9.0.6/data", "60|"+line, "60|CIFS: VFS: cifs_mount failed w/return code = -2")
	}
	strict := func(w *world, name string) *world {
		return w.Entries("n1", "sys/fs/selinux/enforce", "1", "sys/fs/selinux/booleans/"+name, "0 0")
	}
	const eperm = "MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t nfs -o vers=4.1 10.9.0.5:/export/data /p\nOutput: mount.nfs: Operation not permitted"
	const epermSMB = "MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t cifs -o vers=3.0,<masked> //10.9.0.6/data /g\nOutput: mount error(1): Operation not permitted"
	const missing, denies = "broken: certain kernel-module-missing Node n1", " security-module-denies Node n1"
	showEach(t, map[string]shown{
		"the kernel was replaced":                {rbdFails("rbd: map failed: exit status 1, rbd: failed to load rbd kernel module (1)").Without("n1", "lib/modules/").Entries("n1", "lib/modules/6.1.0-21-amd64/modules.dep", "kernel/drivers/block/rbd.ko:"), missing},
		"the module may not be loaded":           {ondisk(rbdFails("an error (exit status 1) occurred while running modprobe args: [rbd]: modprobe: ERROR: could not insert 'rbd': Key was rejected by service")), missing},
		"the storage shows the node nothing":     {boundLogin().Without("n1", "etc/iscsi/ifaces").Drop("reason: FailedMount").Unprobed("n1", "PodRejected").FailedMount(stageFails(unlisted)), "broken: possible iscsi-initiator-name-invalid Node n1; unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"nobody stands behind the server's name": {nfsMounted(served("").Runs(0).EditIn("name: web-0, uid", "name: web-0, uid", "name: web-0, deletionTimestamp: '2026-01-02T11:50:00Z', deletionGracePeriodSeconds: 30, uid"), "n1", 0).Unprobed("n1", "PodRejected"), "broken: likely nfs-server-unreachable Node n1"},
		"no such directory on the share":         {smbFails("2): No such file or directory", "CIFS: Status code returned 0xc0000034 STATUS_OBJECT_NAME_NOT_FOUND"), "broken: certain smb-mount-refused PersistentVolume pv-data"},
		"SELinux lets no container mount NFS":    {strict(nfsMounted(nfs().Runs(1), "n2", 1).Waits(), "virt_use_nfs").FailedMount(eperm).Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms").Answers("n2", nfs().Publish(1)), "broken: likely" + denies},
		"the same, no node mounts it":            {strict(nfs().Waits(), "virt_use_nfs").FailedMount(eperm).Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms"), "broken: likely nfs-access-denied Node n1; possible" + denies},
		"SELinux lets no container mount SMB":    {strict(smbMounted(smb().Runs(1), "n2", 1).Waits(), "virt_use_samba").FailedMount(epermSMB).Entries("n1", "@dial/10.9.0.6:445", "ok 1ms").Answers("n2", smb().Publish(1), smb().Stage()), "broken: likely" + denies},
		"another boolean is no reason":           {strict(smbMounted(smb().Runs(1), "n2", 1).Waits(), "virt_use_nfs").FailedMount(epermSMB).Entries("n1", "@dial/10.9.0.6:445", "ok 1ms").Answers("n2", smb().Publish(1), smb().Stage()), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"a denial on the volume's disk":          {ebsMounted(ebs().Waits().Attached("n1"), "n1", 0).Entries("n1", "sys/fs/selinux/enforce", "1").FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : applyFSGroup failed: lchown /p: permission denied").Kernel("n1", "61|audit: type=1400 audit(1767355138.000:77): avc:  denied  { setattr } for  pid=911 comm=\"kubelet\" name=\"/\" dev=\"nvme1n1\" ino=2 scontext=system_u:system_r:kubelet_t:s0 tcontext=system_u:object_r:unlabeled_t:s0 tclass=dir permissive=0"), "broken: certain" + denies},
	})
	said := lhWaits(lhWorld("v1.7.2")).Unprobed("n1", "PodRejected").File("logs/longhorn-system/longhorn-manager-n1/longhorn-manager.log",
		"time=\"2026-01-02T11:58:50Z\" level=fatal msg=\"Error starting manager: failed to check environment, please make sure you have iscsiadm/open-iscsi installed on the host: failed to execute: nsenter [--mount=/host/proc/911/ns/mnt --net=/host/proc/911/ns/net iscsiadm --version], output , stderr nsenter: failed to execute iscsiadm: No such file or directory: exit status 127\"")
	show(t, said, "pvc shop/data", "broken: certain iscsi-tools-missing Node n1")
	rebuilt := lhWaits(lhWorld("v1.7.2")).Without("n1", "lib/modules/").Without("n1", "proc/modules").Entries("n1", "proc/modules", "overlay 28672 0 - Live 0x0", "lib/modules/6.1.0-21-amd64/modules.dep", "kernel/drivers/scsi/iscsi_tcp.ko:")
	show(t, rebuilt, "pvc shop/data", "broken: certain iscsi-module-missing Node n1")
}

// TestBranchesOfMaking: a storage that is out of reach while a volume is made.
func TestBranchesOfMaking(t *testing.T) {
	t.Parallel()
	const sick = "apiVersion: ceph.rook.io/v1\nkind: CephCluster\nmetadata: {name: rook-ceph, namespace: rook-ceph}\nstatus: {ceph: {health: HEALTH_ERR, lastChecked: '2026-01-02T11:59:10Z', details: {%s: {severity: HEALTH_ERR, message: 'Reduced data availability: 12 pgs inactive'}}}}\n"
	making := func(driver, words string) *world {
		w := pendingClaim(vol(driver, "x", ""), "Immediate", anno(driver)).Waits().Edit("reclaimPolicy: Delete\n", "reclaimPolicy: Delete\nparameters: {clusterID: rook-ceph, pool: kube, source: //10.9.0.6/data}\n")
		return pvcEvent(w, "Warning", "ProvisioningFailed", driver+"_controller-0_6d", "failed to provision volume with StorageClass \"fast\": rpc error: code = "+words)
	}
	ceph := func(words, code string) *world {
		return making("rook-ceph.rbd.csi.ceph.com", words).Add(strings.Replace(sick, "%s", code, 1))
	}
	smb := func(words string) *world { return making("smb.csi.k8s.io", "Internal desc = "+words) }
	// two provisioners, of which the second leads; the name of the first begins its name
	const unreachable = "failed to mount smb server: mount failed: exit status 32\nMounting arguments: -t cifs -o <masked> //10.9.0.6/data /tmp/x\nOutput: mount error(113): could not connect to 10.9.0.6Unable to find suitable address."
	led := smb(unreachable).Add("apiVersion: v1\nkind: Pod\nmetadata: {namespace: kube-system, name: controller-01, uid: '60000000-0000-4000-8000-000000000002', creationTimestamp: '2025-11-07T13:25:00Z', labels: {app: controller}}\nspec: {nodeName: n2, containers: [{name: csi-provisioner, image: 'registry.k8s.io/sig-storage/csi-provisioner:v5.0.1', args: [--csi-address=/csi/csi.sock, --leader-election]}, {name: driver, image: 'registry.example/driver:v1', args: ['--drivername=smb.csi.k8s.io']}]}\nstatus: {phase: Running, startTime: '2025-11-07T13:25:00Z', conditions: [{type: Ready, status: 'True'}], containerStatuses: [{name: csi-provisioner, ready: true, restartCount: 0, state: {running: {startedAt: '2025-11-07T13:25:00Z'}}}]}\n",
		"apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {namespace: kube-system, name: smb-csi-k8s-io}\nspec: {holderIdentity: controller-01, leaseDurationSeconds: 15, renewTime: '2026-01-02T11:59:57.000000Z'}\n")
	const hangs, failed = "DeadlineExceeded desc = context deadline exceeded", "broken: certain provisioning-failed PersistentVolumeClaim shop/data"
	showEach(t, map[string]shown{
		"Ceph says why it does not answer":      {ceph(hangs, "PG_AVAILABILITY"), "broken: likely ceph-backend-unreachable Node n3"},
		"Ceph complains of something else":      {ceph(hangs, "RECENT_CRASH"), failed},
		"Ceph answers, and refuses":             {ceph("InvalidArgument desc = no such pool", "PG_AVAILABILITY"), failed},
		"the SMB server, by mount.cifs":         {smb("failed to mount smb server: rpc error: code = Internal desc = volume(x) mount \"//10.9.0.6/data\" on \"/tmp/x\" failed with mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t cifs -o <masked> //10.9.0.6/data /tmp/x\nOutput: mount error(113): could not connect to 10.9.0.6Unable to find suitable address."), "broken: certain smb-server-unreachable Node n3"},
		"the SMB server, of the one that leads": {led, "broken: certain smb-server-unreachable Node n2"},
		"the SMB server, by its number only":    {smb("volume(x) mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t cifs -o <masked> //10.9.0.6/data /tmp/x\nOutput: mount error(110): Connection timed out"), "broken: likely smb-server-unreachable Node n3"},
	})
}
