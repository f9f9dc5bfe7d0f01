package causes

import "testing"

// TestSaidOfSomethingElse: the words name a lack that may be another one, or come from a step
// behind the one that fails.
func TestSaidOfSomethingElse(t *testing.T) {
	t.Parallel()
	fuse := func(modules, dep string) *world {
		return sketchWorld("csi.juicefs.com", "jfs-1", "accessModes: [ReadWriteMany]\ncsi: {driver: csi.juicefs.com, volumeHandle: jfs-1}").Waits().
			Entries("n1", "proc/modules", modules+" 28672 0 - Live 0x0", "lib/modules/6.1.0-18-amd64/modules.dep", "kernel/fs/"+dep+":").
			FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = Could not mount: fuse: device not found, try 'modprobe fuse' first")
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
		"no plugin, and the server is away":                      {away("timeout 3s"), "broken: likely csi-plugin-not-on-node Node n1; possible nfs-server-unreachable Node n1"},
		"no plugin, and the server answers":                      {away("ok 1ms"), "broken: likely csi-plugin-not-on-node Node n1"},
		"a client is shut out, nobody says by whom":              {m108(), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"a client is shut out by a NetworkFence":                 {m108().Add(fence).Edit("DRIVER", "cephfs.csi.ceph.com"), "broken: likely ceph-client-fenced Node n1"},
	})
}
