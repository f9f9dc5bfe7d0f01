package mount

import (
	"slices"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
)

func replace(template, value string) string { return strings.Replace(template, "%s", value, 1) }

func TestSubpathBindStale(t *testing.T) {
	t.Parallel()
	const bind = root + "/pods/" + podUID + "/volume-subpaths/cfg/app/0"
	volumes := claimVolume + ", {name: cfg, configMap: {name: cfg}}"
	mounts := claimMount + ", {name: cfg, mountPath: /etc/x, subPath: x}"
	table := "31 21 8:16 / " + publish + " rw shared:9 - ext4 /dev/sdb rw\n32 21 8:2 /cfg/..1/x//deleted " + bind + " rw shared:1 - ext4 /dev/sda2 rw"
	alive := strings.Replace(table, "//deleted", "", 1)
	tests := []struct {
		name, state, table string
		entries            []string
		want               []string
	}{
		{"deleted under a container that cannot start", "waiting", table, nil, []string{"certain Pod shop/db"}},
		{"deleted under a running container", "running", table, nil, nil},
		{"deleted, and the pod has ended", "ended", table, nil, []string{"certain Pod shop/db"}},
		{"stale handle", "running", alive, []string{"@statfs" + bind, "@error ESTALE"}, []string{"certain Pod shop/db"}},
		{"well", "waiting", alive, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := scene{pods: []string{pod("db", podUID, "a", tt.state, volumes, mounts)}, nodes: map[string]string{"a": machine(tt.table, append(disk("sdb", "8:16"), tt.entries...)...)}}
			check(t, s.run(t, claim, SubpathBindStale), tt.want...)
		})
	}
}

func TestPodDirectoryOrphaned(t *testing.T) {
	t.Parallel()
	left := "31 21 8:16 / " + staging + " rw shared:9 - ext4 /dev/sdb rw\n32 21 8:16 / " + orphaned + " rw shared:9 - ext4 /dev/sdb rw"
	tests := []struct {
		name    string
		pods    []string
		entries []string
		want    []string
	}{
		{"mount of a pod that is gone", nil, disk("sdb", "8:16"), []string{"certain Node a"}},
		{"a process still carries the UID", nil, slices.Concat(disk("sdb", "8:16"), process("77", goneUID, "4026532000", "")), nil},
		{"the pod exists", []string{pod("db", goneUID, "a", "running", claimVolume, claimMount)}, disk("sdb", "8:16"), nil},
		{"the device is gone", nil, disk("sde", "8:64"), nil},
		{"a file is open in it", nil, slices.Concat(disk("sdb", "8:16"), []string{"proc/88/comm", "tail", "proc/88/ns/mnt", "@link mnt:[4026531841]", "proc/88/fd/3", "@link " + orphaned + "/log", "@dev/proc/88/fd/3", "8:16"}), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := scene{pods: tt.pods, nodes: map[string]string{"a": machine(left, tt.entries...)}}
			check(t, s.run(t, claim, PodDirectoryOrphaned), tt.want...)
		})
	}
}

func TestKubeletInContainer(t *testing.T) {
	t.Parallel()
	waiting := pod("db", podUID, "b", "waiting", claimVolume, claimMount)
	left := "31 21 8:16 / " + staging + " rw shared:9 - ext4 /dev/sdb rw"
	twice := lines("30 1 8:2 / / rw - ext4 /dev/sda2 rw", "31 30 8:16 / "+staging+" rw shared:9 - ext4 /dev/sdb rw", "32 30 8:16 / /rootfs"+staging+" rw master:9 - ext4 /dev/sdb rw")
	kubelet := func(cgroup, table string) []string {
		return []string{
			"proc/911/comm", "kubelet", "proc/911/cmdline", "kubelet␀", "proc/911/cgroup", cgroup,
			"proc/911/ns/mnt", "@link mnt:[4026532330]", "proc/911/mountinfo", "28 1 0:50 / / rw - overlay overlay rw\n" + table,
		}
	}
	const docker = "0::/docker/9d3ebc7eb9b3d6f1e205da9cfab437c89d3760d0765a29a6bcbccf4ad51a2cb1"
	tests := []struct {
		name    string
		pods    []string
		entries []string
		want    []string
	}{
		{"counted twice", []string{waiting}, kubelet(docker, twice), []string{"certain Node a"}},
		{"seen once", []string{waiting}, kubelet(docker, left+"\n"), nil},
		{"in use", []string{pod("db", podUID, "a", "running", claimVolume, claimMount)}, kubelet(docker, twice), nil},
		{"a namespace of its own, but no container", []string{waiting}, kubelet("0::/system.slice/kubelet.service", twice), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := scene{pods: tt.pods, nodes: map[string]string{"a": machine(left, append(disk("sdb", "8:16"), tt.entries...)...)}}
			check(t, s.run(t, claim, KubeletInContainer), tt.want...)
		})
	}
}

const blockDir = "var/lib/kubelet/plugins/kubernetes.io/csi/volumeDevices"

func TestBlockVolumeStagingLost(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, state string
		entries     []string
		want        []string
	}{
		{"the publish path is a plain file", "waiting", []string{blockDir + "/publish/pv-1/" + podUID, ""}, []string{"certain PersistentVolume pv-1"}},
		{"the staging path is a plain file", "waiting", []string{blockDir + "/staging/pv-1/dev", "", blockDir + "/publish/pv-1/" + podUID, "@device block 8:16"}, []string{"certain PersistentVolume pv-1"}},
		{"as it should be", "waiting", []string{blockDir + "/staging/pv-1/dev", "@device block 8:16", blockDir + "/publish/pv-1/" + podUID, "@device block 8:16"}, nil},
		{"the pod cannot end", "ended", []string{blockDir + "/publish/pv-1/" + podUID, ""}, []string{"certain PersistentVolume pv-1"}},
		{"the pod runs", "running", []string{blockDir + "/publish/pv-1/" + podUID, ""}, nil},
		{"not staged yet", "waiting", nil, nil},
	}
	t.Run("a stray entry binds another device", func(t *testing.T) {
		t.Parallel()
		table := "31 21 0:5 /sdc /" + blockDir + "/pv-1/dev/" + goneUID + " rw shared:2 - devtmpfs udev rw"
		s := scene{mode: "Block", pods: []string{pod("vm", podUID, "a", "waiting", claimVolume, "")}, nodes: map[string]string{"a": machine(table, append(disk("sdb", "8:16"), "dev/sdc", "@device block 8:32")...)}}
		check(t, s.run(t, claim, BlockVolumeStagingLost), "certain PersistentVolume pv-1")
	})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := scene{mode: "Block", pods: []string{pod("vm", podUID, "a", tt.state, claimVolume, "")}, nodes: map[string]string{"a": machine("", append(disk("sdb", "8:16"), tt.entries...)...)}}
			check(t, s.run(t, claim, BlockVolumeStagingLost), tt.want...)
		})
	}
}

func TestBlockVolumeUnmapStuck(t *testing.T) {
	t.Parallel()
	loop := func(uid string) []string {
		return []string{"sys/class/block/loop0/dev", "7:0", "sys/class/block/loop0/holders", "@dir", "sys/class/block/loop0/loop/backing_file", "/" + blockDir + "/pv-1/dev/" + uid + " (deleted)"}
	}
	ended := pod("vm", podUID, "a", "ended", claimVolume, "")
	tests := []struct {
		name    string
		pods    []string
		entries []string
		want    []string
		offers  []string
	}{
		{"loop of a pod that is gone", nil, loop(goneUID), []string{"certain Device a/7:0"}, []string{"unmap-device"}},
		{"loop of a pod that cannot end", []string{ended}, loop(podUID), []string{"certain Device a/7:0"}, []string{}},
		{"loop of a running pod", []string{pod("vm", podUID, "a", "running", claimVolume, "")}, loop(podUID), nil, []string{}},
		{"something lies on the loop", nil, append(loop(goneUID)[:2:2], append(loop(goneUID)[4:], "sys/class/block/loop0/holders/dm-0", "@dir", "sys/class/block/dm-0/dev", "253:0", "sys/class/block/dm-0/dm/uuid", "LVM-x")...), nil, []string{}},
		{"a process of the pod is left", nil, slices.Concat(loop(goneUID), process("77", goneUID, "4026532000", "")), nil, []string{}},
		{"only a bind is left", []string{ended}, nil, []string{"certain Pod shop/vm"}, []string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			mounts := ""
			if tt.entries == nil {
				mounts = "31 21 0:5 /sdb /" + blockDir + "/pv-1/dev/" + podUID + " rw shared:2 - devtmpfs udev rw"
			}
			r := scene{mode: "Block", pods: tt.pods, nodes: map[string]string{"a": machine(mounts, append(disk("sdb", "8:16"), tt.entries...)...)}}.run(t, claim, BlockVolumeUnmapStuck)
			check(t, r, tt.want...)
			if got := offered(r); !slices.Equal(got, tt.offers) {
				t.Errorf("offers = %v, want %v", got, tt.offers)
			}
		})
	}
}

// TestLeftSubpathDirectory wants the leftovers of an old kubelet named for a
// question about the node, and nothing of them for one about a claim.
func TestLeftSubpathDirectory(t *testing.T) {
	t.Parallel()
	dir := []string{"var/lib/kubelet/pods/" + goneUID + "/volume-subpaths/pv-9/app/0", "@dir"}
	s := scene{extra: []string{node("old", "v1.21.5")}, nodes: map[string]string{"old": machine("", dir...), "a": machine("", dir...)}}
	check(t, s.run(t, diagnosis.Question{Kind: "node", Name: "old"}, PodDirectoryOrphaned), "certain Node old")
	check(t, s.run(t, diagnosis.Question{Kind: "node", Name: "a"}, PodDirectoryOrphaned))
	check(t, s.run(t, claim, PodDirectoryOrphaned))
}
