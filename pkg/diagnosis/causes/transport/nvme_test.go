package transport_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// TestNVMeSessionLost judges the controllers of a disk on a fabric.
func TestNVMeSessionLost(t *testing.T) {
	t.Parallel()
	disk := probes.Dev{Major: 259, Minor: 3}
	build := func(states ...string) *world {
		w := newWorld(corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "nvme.example.org", VolumeHandle: "vol-7"}}).pod("web", "n1", corev1.PodRunning)
		return w.probed("n1", func(f *probes.Facts) {
			point := "/var/lib/kubelet/pods/uid-web/volumes/kubernetes.io~csi/pv-data/mount"
			f.Namespaces[0].Mounts = append(f.Namespaces[0].Mounts, probes.Mount{ID: 7, Parent: 1, Dev: disk, Root: "/", Point: point, FSType: "xfs", Source: "/dev/nvme1n1", Line: 2})
			f.Block = append(f.Block, probes.BlockDevice{Name: "nvme1n1", Dev: disk, Sectors: 1 << 20})
			for i, s := range states {
				n := string(rune('1' + i))
				f.NVMe = append(f.NVMe, probes.NVMeSubsystem{Name: "nvme" + n, Transport: "tcp", State: s, Namespaces: []string{"nvme1c" + n + "n1"}})
			}
		})
	}
	lost := []string{"iscsi-session-lost certain Device n1/259:3"}
	check(t, []branch{
		{"the only controller is dead", build("dead"), lost},
		{"all controllers are dead", build("dead", "dead"), lost},
		{"one path lives", build("dead", "live"), clean},
		{"it connects again", build("connecting"), []string{"iscsi-session-lost likely Device n1/259:3"}},
	})
}
