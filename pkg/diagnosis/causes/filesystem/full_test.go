package filesystem_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/filesystem"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// volumePoint is where mounts puts the volume.
const volumePoint = "/var/lib/kubelet/pods/uid-db/volumes/kubernetes.io~iscsi/pv-data"

// statfs sets what statfs(2) says of a path: blocks, free, available, inodes, free ones.
func (h *host) statfs(path string, n ...uint64) *host {
	if h.f.Statfs == nil {
		h.f.Statfs = map[string]probes.FSStat{}
	}
	h.f.Statfs[path] = probes.FSStat{Blocks: n[0], Free: n[1], Avail: n[2], Files: n[3], FilesFree: n[4], BlockSize: 4096}
	return h
}

// logs adds a line of the pod, whose container mounts the volume at /data.
func (h *host) logs(line string) *host {
	h.s.Cluster.Pods[0].Spec.Containers = []corev1.Container{{Name: "app", VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}}}
	h.s.Logs = append(h.s.Logs, snapshot.Log{Namespace: "shop", Pod: "db", Container: "app", Lines: []string{"2026-03-02T02:58:00Z ERROR " + line}})
	return h
}

func TestFull(t *testing.T) {
	t.Parallel()
	const root = "/var/lib/kubelet"
	enospc := "could not extend file \"/data/base/16384/2619\": No space left on device"
	event := "MountVolume.SetUp failed for volume \"kube-api-access-x\" : write /var/lib/kubelet/pods/uid-db/volumes/kubernetes.io~projected/kube-api-access-x/token: no space left on device"
	watch := "MountVolume.SetUp failed for volume \"pv-data\" : failed to add inotify watch of /var/lib/kubelet/plugins/x: no space left on device"
	volume := func(certainty string) []string {
		return []string{"filesystem-full " + certainty + " PersistentVolumeClaim shop/data"}
	}
	node := func(certainty string) []string { return []string{"filesystem-full " + certainty + " Node n1"} }
	running := func() *host { return newHost(corev1.PodRunning).mounts("ext4", "rw") }
	waiting := func() *host { return newHost(corev1.PodPending) }
	checkRules(t, []*diagnosis.Rule{filesystem.Full}, []branch{
		{"no bytes", running().statfs(volumePoint, 1000, 0, 0, 100, 50), volume("certain")},
		{"only root's reserve", running().logs(enospc).statfs(volumePoint, 1000, 50, 0, 100, 50), volume("certain")},
		{"no inodes", running().statfs(volumePoint, 1000, 500, 450, 100, 0), volume("certain")},
		{"next to nothing, and somebody complains", running().logs(enospc).statfs(volumePoint, 100_000, 60, 60, 100, 50), volume("likely")},
		{"next to nothing, and nobody complains", running().statfs(volumePoint, 100_000, 60, 60, 100, 50), clean},
		{"words of the pod alone", running().logs(enospc).unprobed(), volume("likely")},
		{"words of the pod, statfs was not read", running().logs(enospc), volume("likely")},
		{"words about another directory", running().logs("write /tmp/x: no space left on device").unprobed(), clean},
		{"a quota is used up, of which statfs knows nothing", running().logs("write /data/wal/12: Disk quota exceeded (os error 122)").statfs(volumePoint, 1000, 500, 450, 100, 50), volume("likely")},
		{"another quota", running().logs("write /tmp/x: Disk quota exceeded").statfs(volumePoint, 1000, 500, 450, 100, 50), clean},
		{"there is room by now", running().logs(enospc).statfs(volumePoint, 1000, 500, 450, 100, 50), clean},
		{"a filesystem without counted inodes", running().statfs(volumePoint, 1000, 500, 450, 0, 0), clean},
		{"an image is full by nature", newHost(corev1.PodRunning).mounts("squashfs", "ro").statfs(volumePoint, 1000, 0, 0, 100, 0), clean},
		{"statfs failed", running().change(func(h *host) { h.f.Statfs = map[string]probes.FSStat{volumePoint: {Err: "EIO"}} }), clean},
		{"the node has no inodes", waiting().says(event).statfs(root, 1000, 500, 450, 100, 0), node("certain")},
		{"the node has no bytes, events expired", waiting().statfs(root, 1000, 0, 0, 100, 50), node("certain")},
		{"the kubelet says so, node not seen", waiting().says(event).unprobed(), node("likely")},
		{"the node is full and the pod runs", running().statfs(root, 1000, 0, 0, 100, 50), clean},
		{"the limit of inotify", waiting().says(watch).statfs(root, 1000, 500, 450, 100, 50), clean},
		{"the limit of inotify, node not seen", waiting().says(watch).unprobed(), clean},
		{"the kubelet found room since", waiting().says(event).statfs(root, 1000, 500, 450, 100, 50), clean},
	})
}
