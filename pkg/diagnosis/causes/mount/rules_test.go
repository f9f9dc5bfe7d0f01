package mount

import (
	"slices"
	"strings"
	"testing"
)

func lines(parts ...string) string {
	s := ""
	for _, p := range parts {
		s += p + "\n"
	}
	return s
}

func TestMountPinnedInNamespace(t *testing.T) {
	t.Parallel()
	waiting := pod("db", podUID, "b", "waiting", claimVolume, claimMount)
	agent := pod("agent", agentUID, "a", "running", hostVolume, hostMount)
	copyOf := "40 30 8:16 / /host" + staging + " rw"
	probed := func(init, table string, more ...string) map[string]string {
		return map[string]string{"a": machine(init, slices.Concat(disk("sdb", "8:16"), process("77", agentUID, "4026532000", table), more)...)}
	}
	tests := []struct {
		name  string
		scene scene
		want  []string
	}{
		{"private copy in an agent", scene{pods: []string{waiting, agent}, nodes: probed("", copyOf+" - ext4 /dev/sdb rw")}, []string{"certain Pod shop/agent"}},
		{"copy that still receives unmounts", scene{pods: []string{waiting, agent}, nodes: probed("", copyOf+" master:9 - ext4 /dev/sdb rw")}, []string{"likely Pod shop/agent"}},
		{"the agent sees the kubelet's directory elsewhere", scene{pods: []string{waiting, agent}, nodes: probed("", "40 30 8:16 / /kubelet"+strings.TrimPrefix(staging, root)+" rw - ext4 /dev/mapper/x rw")}, []string{"certain Pod shop/agent"}},
		{"mounted on the host, too", scene{pods: []string{waiting, agent}, nodes: probed("31 21 8:16 / "+staging+" rw shared:9 - ext4 /dev/sdb rw", copyOf+" - ext4 /dev/sdb rw")}, nil},
		{"the holder is a pod of the claim", scene{pods: []string{pod("db", agentUID, "a", "running", claimVolume, claimMount)}, nodes: probed("", "40 30 8:16 / /data rw - ext4 /dev/sdb rw")}, nil},
		{"not probed, one pod may hold it", scene{pods: []string{waiting, agent}}, []string{"possible Pod shop/agent"}},
		{"not probed, propagation is set", scene{pods: []string{waiting, pod("agent", agentUID, "a", "running", hostVolume, "{name: host, mountPath: /host, mountPropagation: HostToContainer}")}}, nil},
		{"alive, and a namespace was not read", scene{pods: []string{waiting}, nodes: map[string]string{"a": machine("", append(disk("sdb", "8:16"), "sys/fs/ext4/sdb/errors_count", "0", "@claim/8:16", "EBUSY", "proc/88/comm", "x", "proc/88/ns/mnt", "@link mnt:[4026539999]")...)}}, []string{"possible Device a/8:16"}},
		{"a service of the host", scene{pods: []string{waiting}, nodes: map[string]string{"a": machine("", append(disk("sdb", "8:16"), "proc/88/comm", "php-fpm", "proc/88/cgroup", "0::/system.slice/php-fpm.service", "proc/88/ns/mnt", "@link mnt:[4026532001]", "proc/88/mountinfo", "39 1 8:2 / / rw - ext4 /dev/sda2 rw\n40 39 8:16 / "+staging+" rw - ext4 /dev/sdb rw")...)}}, []string{"certain Process a/88"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			check(t, tt.scene.run(t, claim, MountPinnedInNamespace), tt.want...)
		})
	}
}

func TestMountLazilyDetached(t *testing.T) {
	t.Parallel()
	waiting := pod("db", podUID, "b", "waiting", claimVolume, claimMount)
	alive := append(disk("sdb", "8:16"), "sys/fs/ext4/sdb/errors_count", "0", "proc/fs/jbd2/sdb-8/info", "x")
	holder := []string{"proc/88/comm", "tail", "proc/88/ns/mnt", "@link mnt:[4026531841]", "proc/88/cwd", "@link /", "@dev/proc/88/cwd", "8:16"}
	unread := []string{"proc/89/comm", "x", "proc/89/ns/mnt", "@link mnt:[4026539999]"}
	busy, free := []string{"@claim/8:16", "EBUSY"}, []string{"@claim/8:16", "free"}
	tests := []struct {
		name    string
		entries []string
		mounts  string
		want    []string
	}{
		{"alive, busy, nowhere mounted", slices.Concat(alive, busy, holder), "", []string{"certain Device a/8:16"}},
		{"the claim was not tested", alive, "", []string{"likely Device a/8:16"}},
		{"a namespace was not read, a holder is seen", slices.Concat(alive, busy, holder, unread), "", []string{"likely Device a/8:16"}},
		{"a namespace was not read", slices.Concat(alive, busy, unread), "", []string{"possible Device a/8:16"}},
		{"free now", slices.Concat(alive, free), "", nil},
		{"no living superblock", slices.Concat(disk("sdb", "8:16"), busy), "", nil},
		{"mounted", slices.Concat(alive, busy), "31 21 8:16 / " + staging + " rw shared:9 - ext4 /dev/sdb rw", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := scene{pods: []string{waiting}, nodes: map[string]string{"a": machine(tt.mounts, tt.entries...)}}
			check(t, s.run(t, claim, MountLazilyDetached), tt.want...)
		})
	}
}

// TestDetachedOnSharedKernel: the nodes of kind are containers of one machine, so each
// sees in /sys what another one has mounted.
func TestDetachedOnSharedKernel(t *testing.T) {
	t.Parallel()
	boot := func(id string) []string { return []string{"proc/sys/kernel/random/boot_id", id} }
	alive := append(disk("sdb", "8:16"), "sys/fs/ext4/sdb/errors_count", "0", "@claim/8:16", "EBUSY")
	waiting := pod("db", podUID, "b", "waiting", claimVolume, claimMount)
	for name, want := range map[string][]string{"one": nil, "two": {"certain Device a/8:16"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scene{pods: []string{waiting}, nodes: map[string]string{
				"a": machine("", slices.Concat(alive, boot("one"))...),
				"b": machine("31 21 8:16 / "+staging+" rw shared:9 - ext4 /dev/sdb rw", slices.Concat(alive, boot(name))...),
			}}
			check(t, s.run(t, claim, MountLazilyDetached), want...)
		})
	}
}

func TestMountPropagationOff(t *testing.T) {
	t.Parallel()
	plugin := pod("plugin", agentUID, "a", "running", "{name: pods, hostPath: {path: "+root+"/pods}}", "{name: pods, mountPath: "+root+"/pods, mountPropagation: Bidirectional}")
	user := pod("db", podUID, "a", "waiting", claimVolume, claimMount)
	said := `apiVersion: v1
kind: Event
metadata: {namespace: shop, name: e1}
involvedObject: {kind: Pod, namespace: shop, name: plugin, uid: ` + agentUID + `}
reason: Failed
message: 'Error: failed to generate spec: path "/var/lib/kubelet/pods" is mounted on "/" but it is not a shared mount'
lastTimestamp: '%s'
`
	private := "-- proc/1/mountinfo --\n21 1 8:2 / / rw - ext4 /dev/sda2 rw\n-- proc/1/ns/mnt --\n@link mnt:[1]\n-- sys/class/block/sda2/dev --\n8:2\n"
	tests := []struct {
		name  string
		scene scene
		want  []string
	}{
		{"private root", scene{pods: []string{plugin, user}, nodes: map[string]string{"a": private}}, []string{"certain Node a"}},
		{"shared root", scene{pods: []string{plugin, user}, nodes: map[string]string{"a": machine("")}}, nil},
		{"shared root, private kubelet directory", scene{pods: []string{plugin, user}, nodes: map[string]string{"a": machine("22 21 8:3 / /var rw - ext4 /dev/sda3 rw")}}, []string{"certain Node a"}},
		{"only the runtime's words, fresh", scene{pods: []string{plugin, user}, extra: []string{replace(said, "2026-01-02T11:59:00Z")}}, []string{"certain Node a"}},
		{"only the runtime's words, old", scene{pods: []string{plugin, user}, extra: []string{replace(said, "2026-01-02T11:10:00Z")}}, []string{"likely Node a"}},
		{"old words, shared now", scene{pods: []string{plugin, user}, extra: []string{replace(said, "2026-01-02T11:59:00Z")}, nodes: map[string]string{"a": machine("")}}, nil},
		{"the claim's own pod is refused", scene{pods: []string{user}, extra: []string{strings.NewReplacer("name: plugin", "name: db", agentUID, podUID, `path "/var/lib/kubelet/pods"`, `path "/"`, "shared mount", "shared or slave mount").Replace(replace(said, "2026-01-02T11:59:00Z"))}}, []string{"certain Node a"}},
		{"private root, nobody asks for propagation", scene{pods: []string{user}, nodes: map[string]string{"a": private}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			check(t, tt.scene.run(t, claim, MountPropagationOff), tt.want...)
		})
	}
}

func TestMountOfDeadDevice(t *testing.T) {
	t.Parallel()
	user := pod("db", podUID, "a", "running", claimVolume, claimMount)
	ended := pod("db", podUID, "a", "ended", claimVolume, claimMount)
	old := "31 21 8:16 / " + publish + " rw shared:9 - ext4 /dev/sdb rw"
	other := []string{"sys/class/block/sdb/dev", "8:16", "sys/class/block/sdb/device/serial", "somebody-else", "sys/class/block/sdb/device/state", "running"}
	kmsg := func(name, text string) []string {
		return []string{"@kmsg", "5,1," + text + ",-;sd 2:0:0:1: [" + name + "] Attached SCSI disk"}
	}
	const before, after = "72000000000", "86000000000" // of the container's start at 79260 s
	tests := []struct {
		name    string
		pod     string
		entries []string
		want    []string
		offers  []string
	}{
		{"the number is gone", user, disk("sde", "8:64"), []string{"certain Device a/8:16"}, []string{"delete-pod"}},
		{"the number is gone, the pod has ended", ended, disk("sde", "8:64"), []string{"certain Device a/8:16"}, []string{"unmount-lazy"}},
		{"the number is the volume's", user, disk("sdb", "8:16"), nil, []string{}},
		{"another disk took the number later", user, slices.Concat(disk("sde", "8:64"), other, kmsg("sdb", after)), []string{"certain Device a/8:16"}, []string{}},
		{"the volume's disk came later", user, slices.Concat(disk("sde", "8:64"), other, kmsg("sde", after)), []string{"certain Device a/8:16"}, []string{"delete-pod"}},
		{"the mount was made of the wrong disk", user, slices.Concat(disk("sde", "8:64"), other, kmsg("sdb", before)), nil, []string{}},
		{"another disk has it, the kernel log is too short", user, slices.Concat(disk("sde", "8:64"), other), []string{"likely Device a/8:16"}, []string{}},
		{"offline, and the volume's disk is another", user, slices.Concat(disk("sde", "8:64"), []string{"sys/class/block/sdb/dev", "8:16", "sys/class/block/sdb/device/state", "transport-offline"}), []string{"certain Device a/8:16"}, []string{"delete-pod"}},
		{"offline and EIO", user, []string{"sys/class/block/sdb/dev", "8:16", "sys/class/block/sdb/device/state", "offline", "@statfs" + publish, "@error EIO"}, []string{"certain Device a/8:16"}, []string{"delete-pod"}},
		{"offline, the mount still answers", user, []string{"sys/class/block/sdb/dev", "8:16", "sys/class/block/sdb/device/state", "offline"}, nil, []string{}},
	}
	t.Run("only the container still has it", func(t *testing.T) {
		t.Parallel()
		inside := process("77", podUID, "4026532000", "31 30 8:16 / /data rw - ext4 /dev/sdb rw")
		anew := "31 21 8:64 / " + publish + " rw shared:9 - ext4 /dev/sde rw"
		check(t, scene{pods: []string{user}, nodes: map[string]string{"a": machine(anew, append(disk("sde", "8:64"), inside...)...)}}.run(t, claim, MountOfDeadDevice), "certain Device a/8:16")
	})
	t.Run("a multipath map without any path", func(t *testing.T) {
		t.Parallel()
		bare := []string{"sys/class/block/dm-3/dev", "253:3", "sys/class/block/dm-3/dm/name", "mpatha", "sys/class/block/dm-3/dm/uuid", "mpath-3600a0b800011", "sys/class/block/dm-3/slaves", "@dir"}
		back := []string{"sys/class/block/sdh/dev", "8:112", "sys/class/block/sdh/device/wwid", "naa.600a0b800011", "sys/class/block/sdh/device/state", "running"}
		table := "31 21 253:3 / " + publish + " rw shared:9 - ext4 /dev/mapper/mpatha rw"
		check(t, scene{pods: []string{user}, nodes: map[string]string{"a": machine(table, bare...)}}.run(t, claim, MountOfDeadDevice), "certain Device a/253:3")
		check(t, scene{pods: []string{user}, nodes: map[string]string{"a": machine(table, append(bare, back...)...)}}.run(t, claim, MountOfDeadDevice))
	})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := scene{pods: []string{tt.pod}, nodes: map[string]string{"a": machine(old, tt.entries...), "b": machine("")}}.run(t, claim, MountOfDeadDevice)
			check(t, r, tt.want...)
			if got := offered(r); !slices.Equal(got, tt.offers) {
				t.Errorf("offers = %v, want %v", got, tt.offers)
			}
		})
	}
}

// TestDeadUnseen has no recording of the node: only an attachment that is younger than
// the running pod makes the words about dead mounts mean something.
func TestDeadUnseen(t *testing.T) {
	t.Parallel()
	said := func(pod, uid, message string) string {
		return "apiVersion: v1\nkind: Event\nmetadata: {namespace: shop, name: e1}\ninvolvedObject: {kind: Pod, namespace: shop, name: " + pod + ", uid: " + uid + "}\nreason: FailedMount\nmessage: '" + message + "'\nlastTimestamp: '2026-01-02T11:59:00Z'\n"
	}
	user, waiting := pod("db", podUID, "a", "running", claimVolume, claimMount), pod("db", podUID, "a", "waiting", claimVolume, claimMount)
	eio := said("db", podUID, `MountVolume.SetUp failed for volume "pv-1" : readdirent /data: input/output error`)
	gone := said("db", podUID, `MountVolume.SetUp failed for volume "pv-1" : rpc error: code = FailedPrecondition desc = Staging target path /x/globalmount is no longer valid`)
	check(t, scene{pods: []string{user}, extra: []string{eio}}.run(t, claim, MountOfDeadDevice))
	check(t, scene{pods: []string{strings.ReplaceAll(user, "2026-01-02T10:0", "2026-01-02T08:0")}, extra: []string{eio}}.run(t, claim, MountOfDeadDevice), "likely Pod shop/db")
	check(t, scene{pods: []string{waiting}, extra: []string{gone}}.run(t, claim, MountOfDeadDevice), "possible Pod shop/db")
	check(t, scene{pods: []string{waiting}, extra: []string{eio}}.run(t, claim, MountOfDeadDevice))
}

func TestMountMissingUnderPod(t *testing.T) {
	t.Parallel()
	user := pod("db", podUID, "a", "running", claimVolume, claimMount)
	ended := pod("db", podUID, "a", "ended", claimVolume, claimMount)
	left := []string{root[1:] + "/pods/" + podUID + "/volumes/kubernetes.io~csi/pv-1/mount/log", "x"}
	tests := []struct {
		name    string
		pod     string
		mounts  string
		entries []string
		want    []string
	}{
		{"no mount under a running pod", user, "", slices.Concat(disk("sdb", "8:16"), process("77", podUID, "4026532000", "31 30 8:2 / /data rw - ext4 /dev/sda2 rw")), []string{"certain Pod shop/db"}},
		{"no mount, and the node's clock was set back to before the pod's start", user, "", slices.Concat(disk("sdb", "8:16"), []string{"@clock", "2026-01-02T09:00:00Z\n86400.00"}, process("77", podUID, "4026532000", "31 30 8:2 / /data rw - ext4 /dev/sda2 rw")), []string{"certain Pod shop/db"}},
		{"no mount under a virtual machine of Kata", strings.Replace(user, "nodeName:", "runtimeClassName: kata-qemu, nodeName:", 1), "", slices.Concat(disk("sdb", "8:16"), process("77", podUID, "4026532000", "31 30 8:2 / /data rw - ext4 /dev/sda2 rw")), []string{"likely Pod shop/db"}},
		{"a pod that the node's record does not know", user, "", disk("sdb", "8:16"), nil},
		{"bind of a plain directory", user, "31 21 8:2 " + staging + " " + publish + " rw shared:1 - ext4 /dev/sda2 rw", disk("sdb", "8:16"), []string{"certain Pod shop/db"}},
		{"mounted", user, "31 21 8:16 / " + publish + " rw shared:9 - ext4 /dev/sdb rw", disk("sdb", "8:16"), nil},
		{"the pod has the device in its own namespace", user, "", slices.Concat(disk("sdb", "8:16"), process("77", podUID, "4026532000", "31 30 8:16 / /data rw - ext4 /dev/sdb rw")), nil},
		{"ended and clean", ended, "", disk("sdb", "8:16"), nil},
		{"ended with files left", ended, "", left, []string{"certain Pod shop/db"}},
		{"ended with files left where an in-tree plugin mounts", ended, "", []string{root[1:] + "/pods/" + podUID + "/volumes/kubernetes.io~nfs/pv-1/sub/log", "x"}, []string{"certain Pod shop/db"}},
		{"waiting", pod("db", podUID, "a", "waiting", claimVolume, claimMount), "", disk("sdb", "8:16"), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := scene{pods: []string{tt.pod}, nodes: map[string]string{"a": machine(tt.mounts, tt.entries...)}}
			check(t, s.run(t, claim, MountMissingUnderPod), tt.want...)
		})
	}
}
