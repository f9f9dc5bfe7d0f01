package causes

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

func inTreeNFS(server string) *world {
	return sketchWorld("", "", "accessModes: [ReadWriteMany]\nnfs: {server: "+server+", path: /export/data}")
}

func nfsFailed(out string) string {
	return "MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t nfs -o vers=4.2 10.9.0.5:/export/data /var/lib/kubelet/pods/1b0c5a7e-0f3d-4a6b-9a55-6d3b7f2a0c00/volumes/kubernetes.io~csi/pv-data/mount\nOutput: " + out
}

func kubeletNFSFailed(server, out string) string {
	return "MountVolume.SetUp failed for volume \"pv-data\" : mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t nfs " + server + ":/export/data /var/lib/kubelet/pods/1b0c5a7e-0f3d-4a6b-9a55-6d3b7f2a0c00/volumes/kubernetes.io~nfs/pv-data\nOutput: " + out
}

// efsFailed is a mount of a file system whose volume names an id and no server.
func efsFailed(out string) *world {
	return sketchWorld("efs.csi.aws.com", "fs-33559c06", "accessModes: [ReadWriteMany]\ncsi: {driver: efs.csi.aws.com, volumeHandle: fs-33559c06}").Waits().
		FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = Could not mount \"fs-33559c06:/\" at \"/m\": mount failed: exit status 1\nMounting command: mount\nMounting arguments: -t efs -o tls fs-33559c06:/ /m\nOutput: " + out)
}

// nfsInCluster is a share of a pod behind a Service, mounted at 10.9.0.5 and silent there.
func nfsInCluster(service string) *world {
	w := nfsMounted(nfs().Edit("server: 10.9.0.5", "server: nfs.store.svc.cluster.local").Runs(0), "n1", 0).Without("n1", "@dial/").Entries("n1", "@dial/10.9.0.5:2049", "timeout 3s")
	return w.Add("apiVersion: v1\nkind: Service\nmetadata: {namespace: store, name: nfs}\nspec: {clusterIP: "+service+", selector: {app: nfs}, ports: [{port: 2049}]}\n",
		"apiVersion: v1\nkind: Pod\nmetadata: {namespace: store, name: nfs-0, uid: nfs-0, labels: {app: nfs}}\nspec: {nodeName: n2, containers: [{name: nfs, image: ganesha}]}\nstatus: {phase: Running, podIP: 10.42.12.5, conditions: [{type: Ready, status: 'True', lastTransitionTime: '2025-12-01T08:00:00Z'}], containerStatuses: [{name: nfs, ready: true, state: {running: {startedAt: '2025-12-01T08:00:00Z'}}}]}\n")
}

func TestSiblingsNFS(t *testing.T) {
	t.Parallel()
	stands := func(w *world) *world {
		return w.EditIn("name: web-0,", ", labels", deleted+", labels").Entries("n1", "proc/2400/comm", "restic", "proc/2400/cgroup", "0::/system.slice/restic.service", "proc/2400/cmdline", "restic␀", "proc/2400/ns/mnt", "@link mnt:[4026531841]",
			"proc/2400/stat", "2400 (restic) S 1 2400 2400 0 -1 4194560 0 0 0 0 10 10 0 0 20 0 1 0 1000 0 0 18446744073709551615", "proc/2400/status", "Name:\trestic\nState:\tS (sleeping)\nTgid:\t2400\nPid:\t2400\nPPid:\t1\nUid:\t0\t0\t0\t0\nNSpid:\t2400", "proc/2400/cwd", "@link "+w.Publish(0))
	}
	contexts := func(wants, has string) *world { // of web-0, which waits, and of web-1, which runs on the same node
		line := " rw,relatime shared:60 - nfs4 10.9.0.5:/export/data rw,context=" + has + ",vers=4.2,addr=10.9.0.5"
		return nfs().Waits().Runs(1).EditIn("name: web-1,", "nodeName: n2", "nodeName: n1").Without("n2", "proc/5001/").
			Process("n1", 5001, sketch.UID+"01", "app", 4026532701, "900 1 0:170 / / rw,relatime - overlay overlay rw\n901 900 0:60 / /data"+strings.Replace(line, " shared:60", "", 1)).
			FailedMount(strings.Replace(nfsFailed("mount.nfs: /m is busy or already mounted or sharecache fail"), "-o vers=4.2", "-o context="+wants+",vers=4.2", 1)).Mounts("n1", "0:60 / "+nfs().Publish(1)+line)
	}
	hang := func(w *world, n int, node string) *world { return w.Entries(node, "@statfs"+w.Publish(n), "@hang") }
	for name, c := range map[string]struct {
		w    *world
		want string
	}{
		"server gone under a running pod": {hang(nfsMounted(nfs().Runs(0), "n1", 0), 0, "n1").Entries("n1", "@dial/10.9.0.5:2049", "timeout 3s").Kernel("n1", "300|nfs: server 10.9.0.5 not responding, still trying"),
			"broken: certain nfs-server-unreachable Node n1"},
		"a unit of the host stands in a share that its pod leaves":        {stands(nfsMounted(nfs().Runs(0), "n1", 0)), "broken: certain device-held-by-process Process n1/2400"},
		"a unit of the host stands in a staged share that its pod leaves": {stands(smbMounted(smb().Runs(0), "n1", 0)), "broken: certain device-held-by-process Process n1/2400"},
		"the Service does not let the node through":                       {nfsInCluster("10.9.0.5"), "broken: certain network-host-to-pod-blocked Node n1"},
		"the Service was made anew, with another address (#9022)":         {nfsInCluster("10.9.0.77"), "broken: certain nfs-server-unreachable Node n1"},
		"it said no, and nobody looked at the mount": {nfsMounted(nfs().Runs(0), "n1", 0).Entries("n1", "@dial/10.9.0.5:2049", "EHOSTUNREACH"),
			"broken: certain nfs-server-unreachable Node n1"},
		"it was away": {nfsMounted(nfs().Runs(0), "n1", 0).Answers("n1", nfs().Publish(0)).Kernel("n1", "900|nfs: server 10.9.0.5 not responding, still trying", "800|nfs: server 10.9.0.5 OK"),
			"healthy"},
		"attempt times out": {nfs().Waits().FailedMount(nfsFailed("mount.nfs: Connection timed out")).Entries("n1", "@dial/10.9.0.5:2049", "timeout 3s"),
			"broken: certain nfs-server-unreachable Node n1"},
		"attempt times out, node unprobed": {nfs().Waits().FailedMount(nfsFailed("mount.nfs: Connection timed out")).Unprobed("n1", "PodRejected"),
			"broken: likely nfs-server-unreachable Node n1"},
		"an option that a missing gssd refuses": {nfs().Waits().FailedMount(strings.Replace(nfsFailed("mount.nfs: an incorrect mount option was specified"), "-o vers=4.2", "-o vers=4.2,sec=krb5", 1)).Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms"),
			"broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"EFS: no mount target": {efsFailed("Failed to resolve \"fs-33559c06.efs.eu-west-1.amazonaws.com\" - check that your file system ID is correct, and ensure that the VPC has an EFS mount target for this file system ID."),
			"broken: likely nfs-server-name-unresolvable PersistentVolume pv-data"},
		"mount.nfs: an I/O error, and nothing is mounted": {nfs().Waits().FailedMount(nfsFailed("mount.nfs: Input/output error")).Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms"),
			"broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"FSx for Lustre, whose ids have the form of EFS": {sketchWorld("fsx.csi.aws.com", "fs-0a1b", "accessModes: [ReadWriteMany]\ncsi: {driver: fsx.csi.aws.com, volumeHandle: fs-0a1b, volumeAttributes: {dnsname: fs-0a1b.fsx.eu-west-1.amazonaws.com, mountname: abcd}}").Waits().
			FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = mount failed: exit status 5\nMounting command: mount\nMounting arguments: -t lustre fs-0a1b.fsx.eu-west-1.amazonaws.com@tcp:/abcd /m\nOutput: mount.lustre: mount fs-0a1b.fsx.eu-west-1.amazonaws.com@tcp:/abcd at /m failed: Input/output error\nIs the MGS running?"),
			"broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"EFS: times out": {efsFailed("mount.nfs4: Connection timed out"),
			"broken: likely nfs-server-unreachable Node n1"},
		"EFS: denied": {efsFailed("mount.nfs4: access denied by server while mounting 127.0.0.1:/"),
			"broken: certain nfs-access-denied Node n1"},
		"attempt times out, nobody asked the port": {nfs().Waits().FailedMount(nfsFailed("mount.nfs: Connection timed out")),
			"broken: likely nfs-server-unreachable Node n1"},
		"attempt refused": {nfs().Waits().FailedMount(nfsFailed("mount.nfs: Connection refused")).Entries("n1", "@dial/10.9.0.5:2049", "ECONNREFUSED"),
			"broken: certain nfs-server-unreachable Node n1"},
		"no words, only deadlines": {nfs().Waits().FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = DeadlineExceeded desc = context deadline exceeded").Entries("n1", "@dial/10.9.0.5:2049", "timeout 3s"),
			"broken: certain nfs-server-unreachable Node n1"},
		"its pods want two SELinux contexts": {contexts("\"system_u:object_r:container_file_t:s0:c1,c2\"", "\"system_u:object_r:container_file_t:s0:c3,c4\""), "broken: certain selinux-label-conflict Pod shop/web-0"},
		"its pods want one SELinux context":  {contexts("system_u:object_r:container_file_t:s0", "system_u:object_r:container_file_t:s0"), "broken: unexplained mount-busy; unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"handle stale": {nfsMounted(nfs().Runs(0), "n1", 0).Entries("n1", "@statfs"+nfs().Publish(0), "@error ESTALE"),
			"broken: certain nfs-handle-stale Pod shop/web-0"},
		"access denied for all that was seen": {nfs().Waits().FailedMount(nfsFailed("mount.nfs: access denied by server while mounting 10.9.0.5:/export/data")).Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms"),
			"broken: certain nfs-access-denied Node n1"},
		"permission denied of another mount.nfs": {nfs().Waits().FailedMount(nfsFailed("mount.nfs4: Operation not permitted for 10.9.0.5:/export/data on /x")).Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms"),
			"broken: likely nfs-access-denied Node n1"},
		"no such path": {nfs().Waits().FailedMount(nfsFailed("mount.nfs: mounting 10.9.0.5:/export/data failed, reason given by server: No such file or directory")).Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms"),
			"broken: certain nfs-access-denied PersistentVolume pv-data"},
		"no such path, newer words": {nfs().Waits().FailedMount(nfsFailed("mount.nfs4: mounting 10.9.0.5:/export/data failed, reason given by server: No such file or directory for 10.9.0.5:/export/data on /x")).Unprobed("n1", "PodRejected"),
			"broken: certain nfs-access-denied PersistentVolume pv-data"},
		"statd": {nfs().Waits().FailedMount(nfsFailed("mount.nfs: rpc.statd is not running but is required for remote locking.\nmount.nfs: Either use '-o nolock' to keep locks local, or start statd.\nmount.nfs: an incorrect mount option was specified")).Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms"),
			"broken: certain nfs-statd-missing Node n1"},
		"name of the cluster, kubelet mounts": {inTreeNFS("nas.storage.svc.cluster.local").Waits().FailedMount(kubeletNFSFailed("nas.storage.svc.cluster.local", "mount.nfs: Failed to resolve server nas.storage.svc.cluster.local: Name or service not known")).Entries("n1", "@resolve/nas.storage.svc.cluster.local", "NXDOMAIN"),
			"broken: certain nfs-server-name-unresolvable PersistentVolume pv-data"},
		"helper missing": {inTreeNFS("10.9.0.5").Waits().FailedMount(kubeletNFSFailed("10.9.0.5", "mount: /var/lib/kubelet/pods/x: bad option; for several filesystems (e.g. nfs, cifs) you might need a /sbin/mount.<type> helper program.")).Without("n1", "usr/sbin/mount.nfs").Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms"),
			"broken: certain nfs-client-missing Node n1"},
		"helper there": {inTreeNFS("10.9.0.5").Waits().FailedMount(kubeletNFSFailed("10.9.0.5", "mount: /var/lib/kubelet/pods/x: bad option; for several filesystems (e.g. nfs, cifs) you might need a /sbin/mount.<type> helper program.")).Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms"),
			"broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"SELinux denies": {nfs().Waits().FailedMount(nfsFailed("mount.nfs: Permission denied for 10.9.0.5:/export/data")).Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms", "sys/fs/selinux/enforce", "1").
			Kernel("n1", `61|audit: type=1400 audit(1767355139.101:88): avc:  denied  { mount } for  pid=7788 comm="mount.nfs" name="/" dev="0:71" ino=2 scontext=system_u:system_r:container_t:s0:c1,c2 tcontext=system_u:object_r:nfs_t:s0 tclass=filesystem permissive=0`),
			"broken: certain security-module-denies Pod kube-system/plugin-1"},
		"SELinux would deny": {nfs().Waits().FailedMount(nfsFailed("mount.nfs: access denied by server while mounting 10.9.0.5:/export/data")).Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms", "sys/fs/selinux/enforce", "0").
			Kernel("n1", `61|audit: type=1400 audit(1767355139.101:88): avc:  denied  { mount } for  pid=7788 comm="mount.nfs" name="/" dev="0:71" ino=2 scontext=system_u:system_r:container_t:s0:c1,c2 tcontext=system_u:object_r:nfs_t:s0 tclass=filesystem permissive=1`),
			"broken: certain nfs-access-denied Node n1"},
		"root squash after the mount": {nfsMounted(nfs().Waits(), "n1", 0).Answers("n1", nfs().Publish(0)).Edit("containers: [{name: app, image: 'registry.example/web:1', volumeMounts", "securityContext: {fsGroup: 1000}, containers: [{name: app, image: 'registry.example/web:1', volumeMounts").
			FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : applyFSGroup failed for vol nas#data: lchown /var/lib/kubelet/pods/1b0c5a7e-0f3d-4a6b-9a55-6d3b7f2a0c00/volumes/kubernetes.io~csi/pv-data/mount: operation not permitted"),
			"broken: certain nfs-access-denied PersistentVolume pv-data"},
		"root squash on a share that names an account":         {notOwner(accountShare("nfs4 acc.file.core.windows.net:/acc/share rw,vers=4.1,hard,addr=10.9.0.9"), accountHandle), "broken: certain nfs-access-denied PersistentVolume pv-data"},
		"root squash on an account's share that nobody saw":    {notOwner(accountShare("").Edit("shareName: share", "shareName: share, protocol: nfs").Unprobed("n1", "PodRejected"), accountHandle), "broken: likely nfs-access-denied PersistentVolume pv-data"},
		"owners of a share by SMB that names an account":       {notOwner(accountShare("cifs //acc.file.core.windows.net/share rw,vers=3.1.1,username=acc"), accountHandle), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"owners of a share of which nobody knows the protocol": {notOwner(accountShare("").Unprobed("n1", "PodRejected"), accountHandle), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"kernel without 4.2": {nfs().Waits().FailedMount(nfsFailed("mount.nfs: Protocol not supported")).Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms", "boot/config-6.1.0-18-amd64", "CONFIG_NFS_FS=m\nCONFIG_NFS_V4=m\n# CONFIG_NFS_V4_1 is not set"),
			"broken: certain nfs-version-unsupported Node n1"},
		"server without that version": {nfs().Waits().FailedMount(nfsFailed("mount.nfs: Protocol not supported")).Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms"),
			"broken: likely nfs-version-unsupported Node n1"},
		"open hangs, server answers": {nfsMounted(nfs().Runs(0), "n1", 0).Answers("n1", nfs().Publish(0)).Entries("n1", "proc/5000/stat", "5000 (app) D 1 5000 5000 0 -1 4194560 0 0 0 0 10 10 0 0 20 0 1 0 1000 0 0 18446744073709551615", "proc/5000/wchan", "nfs_set_open_stateid_locked", "proc/5000/stack", "[<0>] nfs_set_open_stateid_locked+0xe2/0x5b0 [nfsv4]\n[<0>] update_open_stateid+0x2d/0x80 [nfsv4]").
			Kernel("n1", "120|INFO: task app:5000 blocked for more than 120 seconds."),
			"broken: certain nfs-state-hang Node n1"},
		"an ACL is set, server answers": {nfsMounted(nfs().Runs(0), "n1", 0).Answers("n1", nfs().Publish(0)).Entries("n1", "proc/804/stat", "804 (containerd) D 1 804 804 0 -1 4194560 0 0 0 0 10 10 0 0 20 0 1 0 1000 0 0 18446744073709551615", "proc/804/wchan", "nfs4_proc_set_acl"),
			"healthy"},
		"its port is silent, the mount answers": {nfsMounted(nfs().Runs(0), "n1", 0).Answers("n1", nfs().Publish(0)).Entries("n1", "@dial/10.9.0.5:2049", "timeout 3s"), "healthy"},
		"two machines of one name hang":         {sameName("4.2"), "broken: likely nfs-client-id-collision Node n1"},
		"two machines of one name, v3":          {sameName("3"), "broken: unexplained volume-hung"},
		"old denial, mounted since": {nfsMounted(nfs().Runs(0), "n1", 0).Answers("n1", nfs().Publish(0)).FailedMount(nfsFailed("mount.nfs: access denied by server while mounting 10.9.0.5:/export/data")).Edit("lastTimestamp: \"2026-01-02T11:59:00Z\"", "lastTimestamp: \"2025-12-31T12:00:05Z\""),
			"healthy"},
		"published with nothing behind it": {nfs().Runs(0).Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms"),
			"broken: certain mount-missing-under-pod Pod shop/web-0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.w, "pvc shop/data", c.want)
		})
	}
}

// sameName are two nodes with one host name, on which the mounts of a server that answers hang.
func sameName(version string) *world {
	w := nfsMounted(nfsMounted(nfs().Runs(0).Runs(1), "n1", 0), "n2", 1).Moved("vers=4.2", "vers="+version)
	for i, n := range []string{"n1", "n2"} {
		w.Entries(n, "@statfs"+w.Publish(i), "@hang", "@hostname", "node", "proc/sys/kernel/hostname", "node")
	}
	return w
}

func smbFailed(out string) string {
	return "MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = volume(nas-data) mount \"//10.9.0.6/data\" on \"/var/lib/kubelet/plugins/x/globalmount\" failed with mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t cifs -o vers=3.0,<masked> //10.9.0.6/data /var/lib/kubelet/plugins/x/globalmount\nOutput: " + out + "\nRefer to the mount.cifs(8) manual page (e.g. man mount.cifs) and kernel log messages (dmesg)"
}

func TestSiblingsSMB(t *testing.T) {
	t.Parallel()
	azure := func() *world {
		return sketchWorld("file.csi.azure.com", "rg#acct#share1#", "accessModes: [ReadWriteMany]\nmountOptions: [dir_mode=0777, mfsymlinks]\ncsi: {driver: file.csi.azure.com, volumeHandle: rg#acct#share1#, volumeAttributes: {shareName: share1, storageAccount: acct}, nodeStageSecretRef: {namespace: shop, name: azure-secret}}")
	}
	azureFailed := func(out string) string {
		return "MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = volume(rg#acct#share1#) mount //acct.file.core.windows.net/share1 on /var/lib/kubelet/plugins/kubernetes.io/csi/file.csi.azure.com/x/globalmount failed with mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t cifs -o dir_mode=0777,mfsymlinks,<masked> //acct.file.core.windows.net/share1 /x\nOutput: " + out
	}
	for name, c := range map[string]struct {
		w    *world
		want string
	}{
		"key rotated, Azure, log read": {azure().Waits().FailedMount(azureFailed("mount error(13): Permission denied")).Entries("n1", "@dial/acct.file.core.windows.net:445", "ok 9ms").
			Kernel("n1", `61|CIFS: Attempting to mount \\acct.file.core.windows.net\share1`, "61|CIFS: Status code returned 0xc000006d STATUS_LOGON_FAILURE", `61|CIFS: VFS: \\acct.file.core.windows.net Send error in SessSetup = -13`, "61|CIFS: VFS: cifs_mount failed w/return code = -13"),
			"broken: certain smb-access-denied Secret shop/azure-secret"},
		"Azure, port blocked": {azure().Waits().FailedMount(azureFailed("mount error(115): Operation now in progress")).Entries("n1", "@dial/acct.file.core.windows.net:445", "timeout 3s"),
			"broken: certain smb-server-unreachable Node n1"},
		"Azure, no such host": {azure().Waits().FailedMount(azureFailed("mount error: could not resolve address for acct.file.core.windows.net: Unknown error")),
			"broken: certain smb-server-unreachable Node n1"},
		"Azure, host down and it answers": {azure().Waits().FailedMount(azureFailed("mount error(112): Host is down")).Entries("n1", "@dial/acct.file.core.windows.net:445", "ok 9ms"),
			"broken: likely smb-mount-refused PersistentVolume pv-data"},
		"an I/O error, and no word why": {smb().Waits().FailedMount(smbFailed("mount error(5): Input/output error")).Entries("n1", "@dial/10.9.0.6:445", "ok 1ms"),
			"broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"an I/O error at a limit": {smb().Waits().FailedMount(smbFailed("mount error(5): Input/output error")).Entries("n1", "@dial/10.9.0.6:445", "ok 1ms").Kernel("n1", "61|CIFS: Attempting to mount //10.9.0.6/data", "60|CIFS: Status code returned 0xc000009a STATUS_INSUFFICIENT_RESOURCES"),
			"broken: certain smb-mount-refused PersistentVolume pv-data"},
		"kerberos": {smb().Waits().FailedMount(smbFailed("mount error(126): Required key not available")).Entries("n1", "@dial/10.9.0.6:445", "ok 1ms"),
			"broken: likely smb-mount-refused PersistentVolume pv-data"},
		"password expired": {smb().Waits().FailedMount(smbFailed("mount error(127): Key has expired")).Entries("n1", "@dial/10.9.0.6:445", "ok 1ms").
			Kernel("n1", "60|CIFS: Attempting to mount //10.9.0.6/data", "60|Status code returned 0xc0000071 STATUS_PASSWORD_EXPIRED", `60|CIFS VFS: \\10.9.0.6 Send error in SessSetup = -127`, `60|CIFS VFS: cifs_mount failed w/return code = -127`),
			"broken: certain smb-access-denied Secret shop/smb-user"},
		"a server of the cluster, which the node's rules cut off": {smb().Waits().FailedMount(smbFailed("mount error(115): Operation now in progress")).Without("n1", "@dial/").Entries("n1", "@dial/10.9.0.6:445", "timeout 3s", "@dial/10.42.12.6:445", "timeout 3s").
			Add("apiVersion: v1\nkind: Service\nmetadata: {namespace: store, name: samba}\nspec: {clusterIP: 10.9.0.6, selector: {app: samba}, ports: [{port: 445}]}\n",
				"apiVersion: v1\nkind: Pod\nmetadata: {namespace: store, name: samba-0, uid: samba-0, labels: {app: samba}}\nspec: {nodeName: n2, containers: [{name: samba, image: samba}]}\nstatus: {phase: Running, podIP: 10.42.12.6, conditions: [{type: Ready, status: 'True', lastTransitionTime: '2025-12-01T08:00:00Z'}], containerStatuses: [{name: samba, ready: true, state: {running: {startedAt: '2025-12-01T08:00:00Z'}}}]}\n"),
			"broken: certain network-host-to-pod-blocked Node n1"},
		"password changed under a mount": {smbMounted(smb().Runs(0), "n1", 0).Entries("n1", "@statfs"+smb().Publish(0), "@error EACCES", "@statfs"+smb().Stage(), "@error EACCES").
			Kernel("n1", "600|CIFS: VFS: \\\\10.9.0.6 has not responded in 180 seconds. Reconnecting...", "500|CIFS: Status code returned 0xc000006d STATUS_LOGON_FAILURE", "500|CIFS: VFS: \\\\10.9.0.6 Send error in SessSetup = -13"),
			"broken: certain smb-access-denied Secret shop/smb-user"},
		"the user's password is changed under a mount":                            {loggedOff("130", "20"), "broken: certain smb-access-denied Secret shop/smb-user"},
		"the user's password is changed under a mount, and nobody dialled":        {loggedOff("130", "20").Without("n1", "@dial/"), "broken: certain smb-access-denied Secret shop/smb-user"},
		"the user's password is changed under a mount, and now nothing answers":   {loggedOff("130", "20").Entries("n1", "@dial/10.9.0.6:445", "timeout 3s"), "broken: certain smb-server-unreachable Node n1"},
		"the user's password was changed long ago, and a server answers no mount": {loggedOff("1300", "1200"), "broken: unexplained volume-io-error"},
		"server gone under a mount": {smbMounted(smb().Runs(0), "n1", 0).Entries("n1", "@statfs"+smb().Publish(0), "@error EHOSTDOWN", "@statfs"+smb().Stage(), "@error EHOSTDOWN", "@dial/10.9.0.6:445", "EHOSTUNREACH").
			Kernel("n1", "600|CIFS: VFS: \\\\10.9.0.6 has not responded in 180 seconds. Reconnecting..."),
			"broken: certain smb-server-unreachable Node n1"},
		"share deleted under a mount":                                       {lostShare("ENOENT", `\\10.9.0.6\data`), "broken: certain smb-mount-refused PersistentVolume pv-data"},
		"share deleted under a mount, a kernel of 5.15":                     {lostShare("EAGAIN", `\\10.9.0.6\Data`), "broken: certain smb-mount-refused PersistentVolume pv-data"},
		"share deleted under a mount, and nobody dialled":                   {lostShare("EAGAIN", `\\10.9.0.6\data`).Without("n1", "@dial/"), "broken: certain smb-mount-refused PersistentVolume pv-data"},
		"share deleted under a mount that shall go":                         {lostShare("ENOENT", `\\10.9.0.6\data`).EditIn("name: web-0,", ", labels", deleted+", labels"), "broken: certain smb-mount-refused PersistentVolume pv-data"},
		"share was away for a while, and now its mount is silent":           {lostShare("EHOSTDOWN", "").Kernel("n1", `400|CIFS: VFS: \\10.9.0.6\data BAD_NETWORK_NAME: \\10.9.0.6\data`), "broken: unexplained volume-io-error"},
		"another share of the server deleted":                               {lostShare("EAGAIN", `\\10.9.0.6\data2`), "broken: unexplained volume-io-error"},
		"another share of the server deleted, and this one lacks something": {lostShare("ENOENT", `\\10.9.0.6\data2`), "broken: likely smb-mount-refused PersistentVolume pv-data"},
		"share deleted under a mount, and now nothing answers":              {lostShare("EAGAIN", `\\10.9.0.6\data`).Entries("n1", "@dial/10.9.0.6:445", "timeout 3s"), "broken: certain smb-server-unreachable Node n1"},
		"a server made anew under a mount (csi-driver-smb#419)":             {lostShare("ESTALE", ""), "broken: certain smb-mount-refused PersistentVolume pv-data"},
		"a server made anew, and it does not answer":                        {lostShare("ESTALE", "").Entries("n1", "@dial/10.9.0.6:445", "timeout 3s"), "broken: unexplained volume-io-error"},
		"server was away": {smbMounted(smb().Runs(0), "n1", 0).Answers("n1", smb().Publish(0), smb().Stage()).Kernel("n1", "600|CIFS: VFS: \\\\10.9.0.6 has not responded in 180 seconds. Reconnecting..."),
			"healthy"},
		"unknown option": {smb().Edit("vers=3.0]", "vers=3.0, nosharedsock]").Waits().FailedMount(smbFailed("mount error(22): Invalid argument")).Entries("n1", "@dial/10.9.0.6:445", "ok 1ms").Kernel("n1", "60|cifs: Unknown parameter 'nosharedsock'"),
			"broken: certain smb-mount-refused PersistentVolume pv-data"},
		"unknown option, with which mount was called": {smb().Waits().FailedMount(strings.Replace(smbFailed("mount error(22): Invalid argument"), "vers=3.0,", "nosharedsock,vers=3.0,", 1)).Entries("n1", "@dial/10.9.0.6:445", "ok 1ms").Kernel("n1", "60|cifs: Unknown parameter 'nosharedsock'"),
			"broken: certain smb-mount-refused PersistentVolume pv-data"},
		"unknown option, of another mount": {smb().Waits().FailedMount(smbFailed("mount error(22): Invalid argument")).Entries("n1", "@dial/10.9.0.6:445", "ok 1ms").Kernel("n1", "60|cifs: Unknown parameter 'nosharedsock'"),
			"broken: likely smb-mount-refused PersistentVolume pv-data"},
		"module missing": {smb().Waits().FailedMount(smbFailed("mount error(19): No such device")).Entries("n1", "@dial/10.9.0.6:445", "ok 1ms", "proc/modules", "overlay 28672 0 - Live 0x0", "proc/filesystems", "nodev\tsysfs\n\text4"),
			"broken: certain kernel-module-missing Node n1"},
		"a timeout of the driver": {smb().Waits().FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = volume(nas-data) mount \"//10.9.0.6/data\" on \"/x/globalmount\" timeout after 1m50s").Entries("n1", "@dial/10.9.0.6:445", "timeout 3s"),
			"broken: certain smb-server-unreachable Node n1"},
		"an earlier call still runs (csi-driver-smb#312)": {smb().Waits().FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Aborted desc = An operation with the given Volume ID nas-data already exists").Entries("n1", "@dial/10.9.0.6:445", "timeout 3s"),
			"broken: certain smb-server-unreachable Node n1"},
		"an earlier call still runs, and the port answers": {smb().Waits().FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Aborted desc = An operation with the given Volume ID nas-data already exists").Entries("n1", "@dial/10.9.0.6:445", "ok 1ms"),
			"broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"provisioning is refused": {sketchWorld("smb.csi.k8s.io", "x", smbPV).Drop("kind: PersistentVolume\n").Edit("spec: {accessModes: [ReadWriteMany], volumeMode: Filesystem, storageClassName: fast, volumeName: pv-data,", "spec: {accessModes: [ReadWriteMany], volumeMode: Filesystem, storageClassName: fast,").Edit("status: {phase: Bound, accessModes", "status: {phase: Pending, accessModes").
			Edit("allowVolumeExpansion: true", "parameters: {source: //10.9.0.6/data, csi.storage.k8s.io/provisioner-secret-name: smb-prov, csi.storage.k8s.io/provisioner-secret-namespace: shop}\nallowVolumeExpansion: true").
			Event("PersistentVolumeClaim", "data", "c0000000-0000-4000-8000-000000000001", "ProvisioningFailed", "smb.csi.k8s.io", "", "2026-01-02T11:59:00Z", "failed to provision volume with StorageClass \"fast\": rpc error: code = Internal desc = failed to mount smb server: rpc error: code = Internal desc = volume(10.9.0.6/data#pvc-1#) mount \"//10.9.0.6/data\" on \"/tmp/pvc-1\" failed with mount failed: exit status 32\nMounting command: mount\nOutput: mount error(13): Permission denied"),
			"broken: likely smb-access-denied Secret shop/smb-prov"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.w, "pvc shop/data", c.want)
		})
	}
}

// TestPortThatNobodyAsked: what nobody looked at is not ruled out.
func TestPortThatNobodyAsked(t *testing.T) {
	t.Parallel()
	notRuledOut(t, nfs().Waits().FailedMount(nfsFailed("something odd")), "nfs-server-unreachable")
	notRuledOut(t, nfs().Waits().FailedMount(nfsFailed("mount.nfs: Connection timed out for 10.9.0.5:/export/data on /x")).Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms"), "network-host-to-pod-blocked")
}

// loggedOff is a share whose server did not take the user back, some seconds ago. (kubernetes/kubernetes#103683)
func loggedOff(ago ...string) *world {
	w := smbMounted(smb().Runs(0), "n1", 0)
	var lines []string
	for _, a := range ago {
		lines = append(lines, a+"|CIFS: Status code returned 0xc000006d STATUS_LOGON_FAILURE", a+"|CIFS: VFS: \\\\10.9.0.6 Send error in SessSetup = -13")
	}
	return w.Kernel("n1", lines...).Entries("n1", "@statfs"+w.Publish(0), "@error EHOSTDOWN", "@statfs"+w.Stage(), "@error EHOSTDOWN")
}

// lostShare is a mount that answers an error, with the kernel's word on a share of its server.
func lostShare(err, share string) *world {
	w := smbMounted(smb().Runs(0), "n1", 0)
	if share != "" {
		w.Kernel("n1", "61|CIFS: VFS: "+share+" BAD_NETWORK_NAME: "+share)
	}
	return w.Entries("n1", "@statfs"+w.Publish(0), "@error "+err, "@statfs"+w.Stage(), "@error "+err)
}

const accountHandle = "rg#acc#share#"

// accountShare is a share that a cloud's account keeps, mounted as the line says.
func accountShare(line string) *world {
	w := sketch.NewWorld("file.csi.azure.com", accountHandle, "accessModes: [ReadWriteMany]\nvolumeMode: Filesystem\ncsi: {driver: file.csi.azure.com, volumeHandle: '"+accountHandle+"', volumeAttributes: {storageAccount: acc, shareName: share}}").Waits()
	if line != "" {
		w = w.Mounts("n1", "0:62 / "+w.Stage()+" rw,relatime shared:62 - "+line, "0:62 / "+w.Publish(0)+" rw,relatime shared:62 - "+line).Answers("n1", w.Publish(0))
	}
	return w
}

// notOwner is the kubelet's word when it may not give the files of a mounted share to the pod's group.
func notOwner(w *world, handle string) *world {
	return w.FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : applyFSGroup failed for vol " + handle + ": lchown " + w.Publish(0) + ": operation not permitted")
}

// TestServerOfTheNodeItself: where mount.nfs names the node's own address, a process of the plugin was asked.
func TestServerOfTheNodeItself(t *testing.T) {
	t.Parallel()
	const own = "That address is the node itself"
	sayEach(t, map[string]said{
		"its tunnel refuses":  {efsFailed("mount.nfs4: Connection refused for 127.0.0.1:/ on /m"), []string{own, "Read in the plugin's log"}, nil},
		"the server does not": {nfs().Waits().FailedMount(nfsFailed("mount.nfs4: Connection refused for 10.9.0.5:/export/data on /m")), []string{"nfs-server-unreachable"}, []string{own}},
	})
}
