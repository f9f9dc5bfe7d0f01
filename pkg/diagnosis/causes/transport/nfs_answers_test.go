package transport_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

func TestAccessDenied(t *testing.T) {
	t.Parallel()
	const denied = "MountVolume.SetUp failed for volume \"pv-data\" : mount.nfs: access denied by server while mounting 10.1.1.9:/export/data"
	const wrong = "MountVolume.SetUp failed for volume \"pv-data\" : mount.nfs: mounting 10.1.1.9:/export/data failed, reason given by server: No such file or directory"
	const squash = "MountVolume.SetUp failed for volume \"pv-data\" : applyFSGroup failed for vol pv-data: lchown /x: operation not permitted"
	one := func(text string) *world {
		return newWorld(nfsPV()).pod("web", "n1", corev1.PodPending).says("web", text)
	}
	seen := func(w *world) *world { // neither node's kernel log has a denial of SELinux or AppArmor
		client := func(f *probes.Facts) { f.Files["usr/sbin/mount.nfs"] = probes.File{Kind: "file"} }
		return w.probed("n1", client).probed("n2", client)
	}
	node, volume := []string{"nfs-access-denied certain Node n1"}, []string{"nfs-access-denied certain PersistentVolume pv-data"}
	check(t, []branch{
		{"one node, nobody to compare with", seen(one(denied)), node},
		{"one node, its kernel log unread", one(denied), []string{"nfs-access-denied likely Node n1"}},
		{"another node uses it", seen(one(denied).pod("api", "n2", corev1.PodRunning)), node},
		{"every node is refused", seen(one(denied).pod("api", "n2", corev1.PodPending).saysOn("api", "n2", denied)), volume},
		{"no such path", one(wrong), volume},
		{"root is squashed", seen(one(squash)), volume},
	})
}

func TestHandleStale(t *testing.T) {
	t.Parallel()
	share := func(errno, answer string) *world {
		return newWorld(nfsPV()).pod("web", "n1", corev1.PodRunning).probed("n1", func(f *probes.Facts) {
			f.Statfs[mounted(f, "web", "hard")] = probes.FSStat{Err: errno}
			if answer != "" {
				f.Dials[server+":2049"] = answer
			}
		})
	}
	check(t, []branch{
		{"stale, and the server answers", share("ESTALE", "ok 1ms"), []string{"nfs-handle-stale certain Pod shop/web"}},
		{"stale, and nobody asked the server", share("ESTALE", ""), []string{"nfs-handle-stale likely Pod shop/web"}},
		{"stale, and the server is silent", share("ESTALE", "timeout 3s"), []string{"nfs-server-unreachable certain Node n1"}},
		{"words alone", newWorld(nfsPV()).pod("web", "n1", corev1.PodRunning).says("web", "failed to prepare subPath for volumeMount \"data\": stat /x: stale NFS file handle"), []string{"nfs-handle-stale likely Pod shop/web"}},
	})
}

func TestFUSEDaemonDead(t *testing.T) {
	t.Parallel()
	share := func(fstype, errno string) *world {
		w := newWorld(corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: "bucket-7"}}).pod("web", "n1", corev1.PodRunning)
		return w.probed("n1", func(f *probes.Facts) {
			point := "/var/lib/kubelet/pods/uid-web/volumes/kubernetes.io~csi/pv-data/mount"
			f.Namespaces[0].Mounts = append(f.Namespaces[0].Mounts, probes.Mount{ID: 7, Parent: 1, Dev: probes.Dev{Minor: 61}, Root: "/", Point: point, FSType: fstype, Source: "bucket", Line: 2})
			f.Statfs[point] = probes.FSStat{Err: errno}
		})
	}
	check(t, []branch{
		{"not connected", share("fuse.s3fs", "ENOTCONN"), []string{"fuse-daemon-dead certain Pod shop/web"}},
		{"another error", share("fuse.s3fs", "EIO"), clean},
		{"another filesystem", share("ceph", "ENOTCONN"), clean},
		{"words alone, no plugin that started later", newWorld(nfsPV()).pod("web", "n1", corev1.PodRunning).says("web", "cat: /data: Transport endpoint is not connected"), clean},
	})
}

func TestIdmap(t *testing.T) {
	t.Parallel()
	share := func(mine, theirs, disabled string, lines ...string) *world {
		w := newWorld(nfsPV()).pod("web", "n1", corev1.PodRunning).log("shop", "web", lines...)
		w.s.Cluster.Nodes[1].Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: server}}
		w.probed("n2", func(f *probes.Facts) {
			f.Files["etc/idmapd.conf"] = probes.File{Kind: "file", Content: "[General]\nDomain = " + theirs + "\n"}
		})
		return w.probed("n1", func(f *probes.Facts) {
			f.Statfs[mounted(f, "web", "hard")] = probes.FSStat{Blocks: 9}
			f.Dials[server+":2049"] = "ok 1ms"
			f.Files["etc/idmapd.conf"] = probes.File{Kind: "file", Content: "[General]\nDomain = " + mine + "\n"}
			f.Files["sys/module/nfs/parameters/nfs4_disable_idmapping"] = probes.File{Kind: "file", Content: disabled}
		})
	}
	const listing = "drwxr-xr-x 2 nobody nogroup 4096 Mar  2 02:00 data"
	check(t, []branch{
		{"two domains, names are translated", share("lan", "localdomain", "N", listing), []string{"nfs-idmap-mismatch certain Node n1"}},
		{"whether names are translated was not read", share("lan", "localdomain", "", listing), []string{"nfs-idmap-mismatch likely Node n1"}},
		{"one domain", share("lan", "LAN", "N", listing), clean},
		{"nobody complains", share("lan", "localdomain", "N", "started"), clean},
	})
}

func TestKernelIncompatible(t *testing.T) {
	t.Parallel()
	const protocol = "MountVolume.SetUp failed for volume \"pv-data\" : mount.nfs: Protocol not supported"
	share := func(kernel, answer string) *world {
		return newWorld(nfsPV()).pod("web", "n1", corev1.PodPending).says("web", protocol).probed("n1", func(f *probes.Facts) {
			f.Identity.Kernel = kernel
			f.Files["sbin/mount.nfs"] = probes.File{Kind: "file"}
			if answer != "" {
				f.Dials[server+":2049"] = answer
			}
		})
	}
	certain := []string{"nfs-kernel-incompatible certain Node n1"}
	check(t, []branch{
		{"the regression of 6.5.6", share("6.5.6-300.fc39.x86_64", "ok 1ms"), certain},
		{"what Ubuntu took from it", share("5.15.0-94-generic", "ok 1ms"), certain},
		{"its later build", share("5.15.0-97-generic", "ok 1ms"), []string{"nfs-version-unsupported likely Node n1"}},
		{"6.5.60 is another release", share("6.5.60", "ok 1ms"), []string{"nfs-version-unsupported likely Node n1"}},
		{"nobody asked the server", share("6.5.0-21-generic", ""), []string{"nfs-kernel-incompatible likely Node n1"}},
		{"an unlisted kernel while another works", share("6.9.0", "ok 1ms").pod("api", "n2", corev1.PodRunning).kernel("n2", "6.8.0"), []string{"nfs-kernel-incompatible likely Node n1"}},
	})
}
