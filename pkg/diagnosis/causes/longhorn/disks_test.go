package longhorn

import "testing"

// failed is the scene with replica 2 failed on n2.
func failed() *scene {
	return newScene().edit("replica-2", "failedAt: ''", "failedAt: '2026-01-02T11:00:00Z'")
}

// homeless is the scene with replicas that have no place.
func homeless() *scene {
	s := newScene().edit("volume", "{type: Scheduled, status: 'True'}", "{type: Scheduled, status: 'False', reason: ReplicaSchedulingFailure, message: insufficient storage}")
	return s.edit("replica-1", "nodeID: n1", "nodeID: ''").edit("replica-2", "nodeID: n2", "nodeID: ''")
}

const pressed = "{type: Schedulable, status: 'False', reason: DiskPressure, message: below the threshold}"

func pressure(s *scene, nodes ...string) *scene {
	for _, n := range nodes {
		s.edit("lhnode-"+n, "{type: Schedulable, status: 'True'}", pressed)
	}
	return s
}

func TestDiskFull(t *testing.T) {
	t.Parallel()
	statfs := func(avail string) *scene {
		return pressure(failed(), "n2").machine("n2", "@statfs/var/lib/longhorn", "1000 "+avail+" "+avail+" 1000 900 4096")
	}
	certain := []string{"certain Node n2"}
	check(t, DiskFull, []branch{
		{"pressure on the disk of a failed replica", pressure(failed(), "n2"), certain},
		{"conditions as a map (v1beta1)", failed().edit("lhnode-n2", "v1beta2", "v1beta1").
			edit("lhnode-n2", "[{type: Ready, status: 'True'}, {type: Schedulable, status: 'True'}]", "{Ready: {type: Ready, status: 'True'}, Schedulable: "+pressed+"}"), certain},
		{"pressure on the disk of a sound replica", pressure(newScene(), "n2"), silent},
		{"pressure on a disk of nobody", pressure(failed(), "n3"), silent},
		{"the node agrees", statfs("10"), certain},
		{"the node has space", statfs("800"), []string{"likely Node n2"}},
		{"no inode is left, Longhorn counts bytes", failed().machine("n2", "@statfs/var/lib/longhorn", "1000 500 500 1000 0 4096"), []string{"likely Node n2"}},
		{"a filesystem without inode counts", failed().machine("n2", "@statfs/var/lib/longhorn", "1000 500 500 0 0 4096"), silent},
		{"no disk takes a replica, one is rejected", pressure(homeless(), "n1", "n2").edit("lhnode-n3", "{type: Schedulable, status: 'True'}", "{type: Schedulable, status: 'False', reason: DiskNotReady}"), []string{"certain Node n1", "certain Node n2"}},
		{"no disk takes a replica", pressure(homeless(), "n1", "n2", "n3"), []string{"certain Node n1", "certain Node n2", "certain Node n3"}},
		{"one disk has room", pressure(homeless(), "n1", "n2"), silent},
		{"the disk with room has not the wanted tag", pressure(homeless(), "n1", "n2").edit("volume", "size: ", "diskSelector: [ssd], size: ").
			edit("lhnode-n1", "diskType: filesystem", "diskType: filesystem, tags: [ssd]").edit("lhnode-n2", "diskType: filesystem", "diskType: filesystem, tags: [ssd, big]"), []string{"certain Node n1", "certain Node n2"}},
		{"the disk with room is on a node without the wanted tag", pressure(homeless(), "n1").edit("volume", "size: ", "nodeSelector: [gpu], size: ").edit("lhnode-n1", "spec: {", "spec: {tags: [gpu], "), []string{"certain Node n1"}},
		{"the disk with room is switched off", pressure(homeless(), "n1", "n2").edit("lhnode-n3", "spec: {allowScheduling: true", "spec: {allowScheduling: false"), []string{"certain Node n1", "certain Node n2"}},
		{"all are switched off", homeless().edit("lhnode-n1", "spec: {allowScheduling: true", "spec: {allowScheduling: false").edit("lhnode-n2", "spec: {allowScheduling: true", "spec: {allowScheduling: false").edit("lhnode-n3", "spec: {allowScheduling: true", "spec: {allowScheduling: false"), silent},
		{"Longhorn's nodes were not read whole", pressure(homeless(), "n1", "n2", "n3").file("snapshot.yaml", gapped("api/longhorn.io/nodes")), silent},
	})
}

func TestDiskUnusable(t *testing.T) {
	t.Parallel()
	rejected := func() *scene {
		return failed().edit("lhnode-n2", "conditions: [{type: Ready, status: 'True'}, {type: Schedulable", "conditions: [{type: Ready, status: 'False', reason: DiskFilesystemChanged, message: another disk}, {type: Schedulable")
	}
	mounted := func(s *scene, options string) *scene {
		return s.file("nodes/n2.txtar", "-- proc/1/mountinfo --\n21 1 8:2 / / rw shared:1 - ext4 /dev/sda2 rw\n22 21 8:16 / /var/lib/longhorn "+options+" shared:2 - ext4 /dev/sdb "+options+
			"\n-- proc/1/ns/mnt --\n@link mnt:[4026531841]\n-- proc/1/comm --\nsystemd\n-- sys/class/block/sda2/dev --\n8:2\n-- sys/class/block/sdb/dev --\n8:16\n")
	}
	certain, likely := []string{"certain Node n2"}, []string{"likely Node n2"}
	check(t, DiskUnusable, []branch{
		{"Longhorn says so, node not looked at", rejected(), likely},
		{"nothing is mounted there", rejected().machine("n2"), certain},
		{"a directory of a mounted disk", mounted(rejected().edit("lhnode-n2", "path: /var/lib/longhorn/", "path: /var/lib/longhorn/sub"), "rw"), likely},
		{"the machine's table mounts it", rejected().edit("lhnode-n2", "DiskFilesystemChanged", "NoDiskInfo").machine("n2", "etc/fstab", "UUID=1 /var/lib/longhorn ext4 defaults,nofail 0 2"), certain},
		{"only Schedulable says so", failed().edit("lhnode-n2", "{type: Schedulable, status: 'True'}", "{type: Schedulable, status: 'False', reason: DiskFilesystemChanged}").machine("n2"), certain},
		{"the replica does not start", rejected().edit("replica-2", "failedAt: '2026-01-02T11:00:00Z'", "failedAt: ''").edit("replica-2", "currentState: running", "currentState: stopped"), likely},
		{"the node has other disks now", failed().edit("replica-2", "disk-n2, diskPath: /var/lib/longhorn/", "disk-old, diskPath: /mnt/old"), likely},
		{"read-only", mounted(rejected(), "ro"), certain},
		{"mounted and writable", mounted(rejected(), "rw"), likely},
		{"the manager there is down", rejected().machine("n2").edit("lhnode-n2", "status: {conditions: [{type: Ready, status: 'True'}]", "status: {conditions: [{type: Ready, status: 'False', reason: ManagerPodDown}]"), likely},
		{"another disk at the same path", failed().edit("replica-2", "disk-n2", "disk-old"), likely},
		{"another disk at the same path, rejected", rejected().edit("replica-2", "disk-n2", "disk-old"), certain},
		{"failed on a sound disk", failed(), silent},
		{"it was wiped, and Longhorn knows it", rejected().machine("n2", "var/lib/longhorn/longhorn-disk.cfg", `{"diskName":"d1","diskUUID":"disk-other"}`), certain},
		{"no replica is placed, the only tagged disk is rejected", homeless().edit("volume", "size: ", "diskSelector: [ssd], size: ").edit("lhnode-n3", "diskType: filesystem", "diskType: filesystem, tags: [ssd]").
			edit("lhnode-n3", "{type: Ready, status: 'True'}, {type: Schedulable", "{type: Ready, status: 'False', reason: NoDiskInfo}, {type: Schedulable"), []string{"likely Node n3"}},
		{"no replica is placed, two disks have the tag", homeless().edit("volume", "size: ", "diskSelector: [ssd], size: ").edit("lhnode-n3", "diskType: filesystem", "diskType: filesystem, tags: [ssd]").edit("lhnode-n1", "diskType: filesystem", "diskType: filesystem, tags: [ssd]").
			edit("lhnode-n3", "{type: Ready, status: 'True'}, {type: Schedulable", "{type: Ready, status: 'False', reason: NoDiskInfo}, {type: Schedulable"), silent},
		{"rejected, but the replica works", rejected().edit("replica-2", "failedAt: '2026-01-02T11:00:00Z'", "failedAt: ''"), silent},
	})
}

func TestShareManagerDown(t *testing.T) {
	t.Parallel()
	shared := func(state string) *scene {
		return newScene().edit("volume", "accessMode: rwo", "accessMode: rwx").edit("volume", "ownerID: n1", "ownerID: n1, currentNodeID: n2").
			add("share", lhAPI+"ShareManager\nmetadata: {name: "+vol+", namespace: longhorn-system}\nspec: {}\nstatus: {state: "+state+"}\n")
	}
	check(t, ShareManagerDown, []branch{
		{"in error, its node looked at", shared("error").machine("n2"), []string{"certain ShareManager " + vol}},
		{"in error, its node not looked at", shared("error"), []string{"likely ShareManager " + vol}},
		{"in error, pods were not read", shared("error").machine("n2").file("snapshot.yaml", gapped("api//pods")), []string{"likely ShareManager " + vol}},
		{"in error, attached nowhere", shared("error").edit("volume", "currentNodeID: n2", "currentNodeID: ''").edit("volume", "nodeID: n1,", "nodeID: '',"), []string{"likely ShareManager " + vol}},
		{"running", shared("running").machine("n2").add("smpod", sharePod("Running", "True")), silent},
		{"called running, its pod ended", shared("running").machine("n2").add("smpod", sharePod("Succeeded", "False")), []string{"certain ShareManager " + vol}},
		{"called running, its pod is not Ready", shared("running").machine("n2").add("smpod", sharePod("Running", "False")), []string{"certain ShareManager " + vol}},
		{"called running, its pod does not exist", shared("running").machine("n2"), []string{"certain ShareManager " + vol}},
		{"called running, pods were not read", shared("running").machine("n2").file("snapshot.yaml", gapped("api//pods")), silent},
		{"called in error, its pod is Ready for half an hour", shared("error").machine("n2").add("smpod", sharePod("Running", "True")), []string{"certain ShareManager " + vol}},
		{"starting anew each minute while a pod waits", shared("starting").machine("n2").
			add("smpod", "apiVersion: v1\nkind: Pod\nmetadata: {namespace: longhorn-system, name: share-manager-"+vol+", creationTimestamp: '2026-01-02T11:59:20Z'}\nspec: {nodeName: n2, containers: [{name: m, image: m}]}\nstatus: {phase: Pending}\n"), []string{"certain ShareManager " + vol}},
		{"starting for a minute", shared("starting").edit("pod", "11:30:00Z", "11:59:00Z"), silent},
	})
}

// sharePod is the share-manager's pod since half an hour.
func sharePod(phase, ready string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {namespace: longhorn-system, name: share-manager-" + vol + ", creationTimestamp: '2026-01-02T11:30:00Z'}\nspec: {nodeName: n2, containers: [{name: m, image: m}]}\n" +
		"status: {phase: " + phase + ", conditions: [{type: Ready, status: '" + ready + "', lastTransitionTime: '2026-01-02T11:31:00Z'}]}\n"
}

// TestFullDiskOfAVolumeThatWorks is a lost replica that keeps nobody waiting: the pod
// waits for something else.
func TestFullDiskOfAVolumeThatWorks(t *testing.T) {
	t.Parallel()
	s := pressure(failed(), "n2").edit("volume", "state: attaching, robustness: unknown", "state: attached, robustness: degraded, currentNodeID: n1")
	_, r := s.run(t, DiskFull)
	if len(r.RootCauses) != 1 || string(r.RootCauses[0].Severity) != "degraded" || len(r.Unexplained) == 0 {
		t.Errorf("want a degraded disk-full beside an unexplained symptom, got %+v", r)
	}
}
