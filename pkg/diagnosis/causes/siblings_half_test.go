package causes

import (
	"strings"
	"testing"
)

// TestSaidOfSomethingElse: the words name a lack that may be another one, or come from a step
// behind the one that fails.
func TestSaidOfSomethingElse(t *testing.T) {
	t.Parallel()
	fuse := func(modules, dep string) *world {
		return sketchWorld("csi.juicefs.com", "jfs-1", "accessModes: [ReadWriteMany]\ncsi: {driver: csi.juicefs.com, volumeHandle: jfs-1}").Waits().
			Entries("n1", "proc/modules", modules+" 28672 0 - Live 0x0", "lib/modules/6.1.0-18-amd64/modules.dep", "kernel/fs/"+dep+":").
			FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = Could not mount: fuse: device not found, try 'modprobe fuse' first")
	}
	// nvme-cli, where the module is not loaded and where a container does not have the host's /dev
	fabrics := func(mounts string) *world {
		return sketchWorld("io.openebs.csi-mayastor", "1d1f4f1e-6b0a", "accessModes: [ReadWriteOnce]\ncsi: {driver: io.openebs.csi-mayastor, fsType: ext4, volumeHandle: 1d1f4f1e-6b0a}").Waits().Attached("n1").Edit("{name: dev, mountPath: /dev}", mounts).
			Unprobed("n1", "PodRejected").FailedMount(stageFails("nvme connect failed: Failed to open /dev/nvme-fabrics: No such file or directory"))
	}
	forgotten := func(release, dep string, more ...string) *world { // no event is left
		return sketchWorld("io.openebs.csi-mayastor", "1d1f4f1e-6b0a", "accessModes: [ReadWriteOnce]\ncsi: {driver: io.openebs.csi-mayastor, fsType: ext4, volumeHandle: 1d1f4f1e-6b0a"+strings.Join(more, "")+"}").Waits().Attached("n1").
			Without("n1", "lib/modules/").Entries("n1", "proc/modules", "overlay 28672 0 - Live 0x0", "lib/modules/"+release+"/modules.dep", "kernel/drivers/nvme/host/"+dep+":")
	}
	away := func(answer string) *world {
		return nfs().Waits().Drop("name: plugin-1,").Entries("n1", "@dial/10.9.0.5:2049", answer).
			FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name nfs.csi.k8s.io not found in the list of registered CSI drivers")
	}
	m108 := func() *world {
		return cephfs().Waits().FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = an error (exit status 32) occurred while running mount args: [-t ceph 10.9.1.1:6789:/v /g]. stderr: mount error 108 = Cannot send after transport endpoint shutdown").Unprobed("n1", "PodRejected")
	}
	showEach(t, map[string]shown{
		"no /dev/fuse in the container, the node has the module": {fuse("fuse", "fuse/fuse.ko"), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"no /dev/fuse, the module loads on demand":               {fuse("overlay", "fuse/fuse.ko"), "broken: likely kernel-module-missing Node n1"},
		"no /dev/fuse, the kernel does not have it":              {fuse("overlay", "nfs/nfs.ko"), "broken: certain kernel-module-missing Node n1"},
		"no /dev/fuse, the node was not looked at":               {fuse("fuse", "fuse/fuse.ko").Unprobed("n1", "PodRejected"), "broken: likely kernel-module-missing Node n1"},
		"no /dev/nvme-fabrics, the plugin has the host's /dev":   {fabrics("{name: dev, mountPath: /dev}"), "broken: certain kernel-module-missing Node n1"},
		"no /dev/nvme-fabrics in the plugin's own /dev":          {fabrics("{name: etc, mountPath: /etc/nvme}"), "broken: likely kernel-module-missing Node n1"},
		"nobody speaks, the kernel has no NVMe over TCP":         {forgotten("6.1.0-18-amd64", "nvme-rdma.ko"), "broken: certain kernel-module-missing Node n1"},
		"nobody speaks, the kernel was replaced":                 {forgotten("6.1.0-21-amd64", "nvme-tcp.ko"), "broken: certain kernel-module-missing Node n1"},
		"nobody speaks, the kernel can load it":                  {forgotten("6.1.0-18-amd64", "nvme-tcp.ko"), "broken: unexplained pod-waiting-for-volume"},
		"nobody speaks, the volume is exported over iSCSI":       {forgotten("6.1.0-18-amd64", "nvme-rdma.ko", ", volumeAttributes: {protocol: iscsi}"), "broken: certain iscsi-tools-missing Node n1; certain iscsi-module-missing Node n1"},
		"no plugin, and the server is away":                      {away("timeout 3s"), "broken: likely csi-plugin-not-on-node Node n1; possible nfs-server-unreachable Node n1"},
		"no plugin, and the server answers":                      {away("ok 1ms"), "broken: likely csi-plugin-not-on-node Node n1"},
		"a client is shut out, nobody says by whom":              {m108(), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"a client is shut out by a NetworkFence":                 {m108().Add(fence).Edit("DRIVER", "cephfs.csi.ceph.com"), "broken: likely ceph-client-fenced Node n1"},
	})
}

// TestHalfMended: a fault is mended in part, or as a whole, and words of it are left: the
// present decides, and what fails now comes first.
func TestHalfMended(t *testing.T) {
	t.Parallel()
	const before, now = "2026-01-02T11:53:00Z", "2026-01-02T11:59:30Z"
	at := func(w *world, when, text string) *world {
		return w.Event("Pod", "web-0", sketchUID, "FailedMount", "kubelet", "n1", when, text)
	}
	hang := func(w *world, n int, node string) *world { return w.Entries(node, "@statfs"+w.Publish(n), "@hang") }
	share := func() *world { return nfs().Waits().Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms") }
	smbErr := func(text string) string {
		return "MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = volume(nas-data) mount \"//10.9.0.6/data\" on \"/g\" failed with mount failed: exit status 32\nMounting arguments: -t cifs -o <masked> //10.9.0.6/data /g\nOutput: mount error(" + text
	}
	three := func() *world {
		w := nfs()
		for i, n := range []string{"n1", "n2", "n3"} {
			nfsMounted(w.Runs(i), n, i)
		}
		return w
	}
	running := func(log string) *world {
		w := ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0))
		if log != "" {
			w.File("logs/shop/web-0/app.log", "2026-01-02T11:59:00Z "+log+"\n")
		}
		return w
	}
	served := func() *world { // a disk on n2, which the driver exports to the other nodes (sharedv4 of Portworx)
		w := vol("pxd.portworx.com", "710349188456342812", "").Edit("accessModes: [ReadWriteOnce]\n", "accessModes: [ReadWriteMany]\n").Runs(0).Disk("n2", "nvme1n1", "259:1", "device/serial", "710349188456342812", "device/state", "live")
		return nfsMounted(w, "n1", 0).Answers("n1", w.Publish(0)).File("logs/shop/web-0/app.log", "2026-01-02T11:59:00Z fatal: Stale file handle while reading the mirror\n")
	}
	busy := "mount failed: exit status 32\nOutput: mount: /g: /dev/sdc already mounted or mount point busy."
	module := rbdFailed("modprobe: FATAL: Module rbd not found in directory /lib/modules/6.1.0-18-amd64\nrbd: failed to load rbd kernel module (1)")
	const open = "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"
	showEach(t, map[string]shown{
		"NFS: the server is back, nobody tried again":              {at(share(), before, nfsFailed("mount.nfs: Connection timed out")), open},
		"NFS: the server is back, and denies":                      {at(at(share(), before, nfsFailed("mount.nfs: Connection timed out")), now, nfsFailed("mount.nfs: access denied by server while mounting 10.9.0.5:/export/data")), "broken: certain nfs-access-denied Node n1"},
		"NFS on three nodes: back for two of them":                 {hang(three().Answers("n1", nfs().Publish(0)).Answers("n3", nfs().Publish(2)).Entries("n2", "@dial/10.9.0.5:2049", "timeout 3s"), 1, "n2"), "broken: certain nfs-server-unreachable Node n2"},
		"NFS on three nodes: back, one mount still hangs":          {hang(three().Answers("n2", nfs().Publish(1)).Answers("n3", nfs().Publish(2)), 0, "n1"), "broken: unexplained volume-hung"},
		"NFS on three nodes: back":                                 {three().Answers("n1", nfs().Publish(0)).Answers("n2", nfs().Publish(1)).Answers("n3", nfs().Publish(2)).Kernel("n1", "900|nfs: server 10.9.0.5 not responding, still trying", "600|nfs: server 10.9.0.5 OK"), "healthy"},
		"SMB: the server is back, and the password is wrong":       {at(at(smb().Waits().Entries("n1", "@dial/10.9.0.6:445", "ok 1ms"), before, smbErr("113): could not connect to 10.9.0.6Unable to find suitable address.")), now, smbErr("13): Permission denied")), "broken: likely smb-access-denied Secret shop/smb-user"},
		"RBD: the module was loaded, nobody tried again":           {at(rbd().Waits().Attached("n1"), before, module), open},
		"CephFS on two nodes: one was shut out and mounted anew":   {cephfsMounted(cephfsMounted(cephfs().Runs(0).Runs(1), "n1", 0), "n2", 1).Answers("n1", cephfs().Stage(), cephfs().Publish(0)).Answers("n2", cephfs().Stage(), cephfs().Publish(1)).Kernel("n1", "259200|ceph: mds0 rejected session"), "healthy"},
		"CephFS on two nodes: one is shut out":                     {cephfsMounted(cephfsMounted(cephfs().Runs(0).Runs(1), "n1", 0), "n2", 1).Entries("n1", "@statfs"+cephfs().Stage(), "@error EACCES", "@statfs"+cephfs().Publish(0), "@error EACCES").Answers("n2", cephfs().Stage(), cephfs().Publish(1)), "broken: likely ceph-client-fenced Node n1"},
		"a SAN's disk: the holder ended, nobody tried again":       {at(sanWaits("xfs"), before, stageFails(busy)), "broken: unexplained mount-busy; unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"a SAN's disk: multipath let go, LVM holds it":             {at(dmOver(sanWaits("LVM2_member"), "n1", "dm-0", "253:0", "vg0-lv0", "LVM-abcdefabcdefabcdefabcdefabcdefabABCDEFABCDEFABCDEFABCDEFABCDEFAB", "sdc").Entries("n1", "@claim/8:32", "EBUSY"), before, stageFails(busy)), "broken: certain lvm-claims-device Device n1/8:32"},
		"the same, an agent keeps a copy of its mount":             {at(dmOver(sanWaits("LVM2_member"), "n1", "dm-0", "253:0", "vg0-lv0", "LVM-abcdefabcdefabcdefabcdefabcdefabABCDEFABCDEFABCDEFABCDEFABCDEFAB", "sdc").Entries("n1", "@claim/8:32", "EBUSY").Process("n1", 7700, "a9e00000-0000-4000-8000-000000000001", "agent", 4026532990, "900 1 0:170 / / rw,relatime - overlay overlay rw,lowerdir=l,upperdir=u\n901 900 253:0 / /host/lv0 rw,relatime - ext4 /dev/mapper/vg0-lv0 rw"), before, stageFails(busy)), "broken: certain lvm-claims-device Device n1/8:32"},
		"an agent keeps a copy of a map's mount":                   {at(dmOver(sanWaits("ext4"), "n1", "dm-0", "253:0", "mpatha", "mpath-3600a098000000000000000000000000a", "sdc").Entries("n1", "@claim/8:32", "EBUSY").Process("n1", 7700, "a9e00000-0000-4000-8000-000000000001", "agent", 4026532990, "900 1 0:170 / / rw,relatime - overlay overlay rw,lowerdir=l,upperdir=u\n901 900 253:0 / /host/mpatha rw,relatime - ext4 /dev/mapper/mpatha rw"), before, stageFails(busy)), "broken: certain mount-pinned-in-namespace Process n1/7700"},
		"the same, the host has mounted it":                        {at(dmOver(sanWaits("LVM2_member"), "n1", "dm-0", "253:0", "vg0-lv0", "LVM-abcdefabcdefabcdefabcdefabcdefabABCDEFABCDEFABCDEFABCDEFABCDEFAB", "sdc").Entries("n1", "@claim/8:32", "EBUSY").Mounts("n1", "253:0 / /srv/lv0 rw,relatime shared:60 - ext4 /dev/mapper/vg0-lv0 rw"), before, stageFails(busy)), "broken: certain device-held-by-process Device n1/8:32"},
		"Longhorn: faulted under a pod, and nobody said so":        {lhRuns(lhWorld("v1.6.2")).EditIn("kind: Volume\n", "robustness: healthy", "robustness: faulted"), "broken: unexplained volume-io-error"},
		"EBS: fsck failed, repaired and mounted":                   {at(running(""), before, devFailed("'fsck' found errors on device /dev/nvme1n1 but could not correct them: UNEXPECTED INCONSISTENCY; RUN fsck MANUALLY.")), "healthy"},
		"the application cannot write its container's root":        {running("open /tmp/x: Read-only file system"), "healthy"},
		"the application filled its container's root":              {running("OSError: [Errno 28] No space left on device: '/tmp/x'"), "healthy"},
		"the application cannot write the volume":                  {running("open /data/x: Read-only file system"), "broken: unexplained volume-readonly"},
		"a device of its own fails":                                {running("ERROR modbus: read /dev/ttyUSB0: input/output error"), "healthy"},
		"a peer of it went":                                        {running("WARN peer 10.42.3.9:7000: shutdown: transport endpoint is not connected"), "healthy"},
		"a service of it is full":                                  {running("s3://backup/x: PUT failed: 507 no space left on device"), "healthy"},
		"an errno that no disk gives":                              {running("fatal: Stale file handle while reading the mirror"), "healthy"},
		"an errno of the share over a disk":                        {served(), "broken: unexplained volume-io-error"},
		"a database's own file, and who asked":                     {running("10.42.0.5:41322 app@shop ERROR: could not read block 12 in file \"base/16384/2601\": Input/output error"), "broken: unexplained volume-io-error"},
		"a database's own file, read-only":                         {running("FATAL: could not open file \"pg_wal/000000010000000000000001\": Read-only file system"), "broken: unexplained volume-readonly"},
		"a path that may be a link into the volume":                {running("open /opt/app/data/x.db: input/output error"), "broken: unexplained volume-io-error"},
		"a path of another mount":                                  {running("open /cache/x.db: input/output error").Edit("mountPath: /data}", "mountPath: /data}, {name: cache, mountPath: /cache}"), "healthy"},
		"a file of the volume, and a peer":                         {running("peer 10.42.3.9:7000 asked: read /data/x: input/output error"), "broken: unexplained volume-io-error"},
		"the application has the volume for reading alone":         {running("open /data/x: Read-only file system").Edit("mountPath: /data}", "mountPath: /data, readOnly: true}"), "healthy"},
		"the volume is for readers":                                {running("open /data/x: Read-only file system").Edit("ReadWriteOnce", "ReadOnlyMany"), "healthy"},
		"the application names itself, and a file without a place": {running("/usr/sbin/mysqld: Error writing file './binlog.1' (Errcode: 28 - No space left on device)"), "broken: unexplained volume-io-error"},
	})
}
