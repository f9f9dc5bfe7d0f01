package transport_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// TestRefusedOption tells a version from a lock daemon: mount.nfs has one line for both.
func TestRefusedOption(t *testing.T) {
	t.Parallel()
	const option = "MountVolume.SetUp failed for volume \"pv-data\" : mount.nfs: an incorrect mount option was specified"
	const protocol = "MountVolume.SetUp failed for volume \"pv-data\" : mount.nfs: Protocol not supported"
	build := func(text string, options []string, files map[string]string) *world {
		w := newWorld(nfsPV()).pod("web", "n1", corev1.PodPending).says("web", text)
		w.s.Cluster.PVs[0].Spec.MountOptions = options
		return w.probed("n1", func(f *probes.Facts) {
			f.Identity.Kernel = "5.10.0"
			f.Files["sbin/mount.nfs"] = probes.File{Kind: "file"}
			for path, content := range files {
				f.Files[path] = probes.File{Kind: "file", Content: content}
			}
		})
	}
	config := func(lines string) map[string]string {
		return map[string]string{"boot/config-5.10.0": "CONFIG_NFS_FS=m\n" + lines}
	}
	check(t, []branch{
		{"a kernel without the version", build(option, []string{"vers=4.1"}, config("CONFIG_NFS_V4=m\n# CONFIG_NFS_V4_1 is not set\n")), []string{"nfs-version-unsupported certain Node n1"}},
		{"a kernel with the version", build(option, []string{"vers=4.1"}, config("CONFIG_NFS_V4=m\nCONFIG_NFS_V4_1=y\n")), clean},
		{"another version by default", build(protocol, []string{"vers=4.1"}, map[string]string{"etc/nfsmount.conf": "[ NFSMount_Global_Options ]\nNfsvers=3\n"}), []string{"nfs-version-unsupported certain Node n1"}},
		{"words of the protocol alone", build(protocol, []string{"vers=4.2"}, nil), []string{"nfs-version-unsupported likely Node n1"}},
		{"NFSv3 with locks and no rpc.statd", build(option, []string{"nfsvers=3"}, nil), []string{"nfs-statd-missing likely Node n1"}},
		{"NFSv3 without locks", build(option, []string{"nfsvers=3", "nolock"}, nil), clean},
	})
}
