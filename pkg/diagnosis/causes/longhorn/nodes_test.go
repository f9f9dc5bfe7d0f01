package longhorn

import (
	"slices"
	"strings"
	"testing"
)

func TestMigrationInconsistent(t *testing.T) {
	t.Parallel()
	migratable := func() *scene { return newScene().edit("volume", "migratable: false", "migratable: true") }
	twin := func(node string) *scene {
		return migratable().edit("volume", "ownerID: n1", "ownerID: n1, currentNodeID: n1").
			add("twin", lhAPI+"Engine\nmetadata: {name: "+vol+"-e-1, namespace: longhorn-system}\nspec: {volumeName: "+vol+", nodeID: "+node+", active: true, desireState: running}\nstatus: {currentState: stopped}\n")
	}
	degraded := func(text string) *scene {
		return migratable().edit("volume", "robustness: unknown", "robustness: degraded").attachError(text)
	}
	check(t, MigrationInconsistent, []branch{
		{"dangling target", migratable().edit("volume", "ownerID: n1", "ownerID: n1, currentMigrationNodeID: n2"), []string{"certain Volume " + vol}},
		{"target of a migration that is wanted", migratable().edit("volume", "ownerID: n1", "ownerID: n1, currentMigrationNodeID: n2").edit("volume", "nodeID: n1,", "nodeID: n1, migrationNodeID: n2,"), silent},
		{"dangling target, tickets were not read", migratable().edit("volume", "ownerID: n1", "ownerID: n1, currentMigrationNodeID: n2").file("snapshot.yaml", gapped("api/longhorn.io/volumeattachments")), silent},
		{"the migration has just ended", migratable().edit("volume", "ownerID: n1", "ownerID: n1, currentMigrationNodeID: n2").edit("volume", "state: attaching", "state: attached").edit("va", "attached: false", "attached: true").
			edit("tickets", "{satisfied: false, generation: 0}", "{satisfied: true, generation: 0}").drop("pod"), silent},
		{"healthy, and refused for it", degraded("volume must be healthy to start migration").edit("volume", "robustness: degraded", "robustness: healthy"), silent},
		{"two active engines", twin("n2"), []string{"certain Volume " + vol}},
		{"second engine is inactive", twin("n2").edit("twin", "active: true", "active: false"), silent},
		{"refused while degraded", degraded("unable to attach volume " + vol + " to n2: volume must be healthy to start migration"), []string{"certain Volume " + vol}},
		{"refused for something else", degraded("volume " + vol + " failed to attach to node n2"), silent},
		{"controller count", migratable().attachError("volume " + vol + " has invalid controller count 2"), []string{"likely Volume " + vol}},
		{"controller count, two engines", twin("n2").edit("twin", "active: true", "active: false").attachError("volume " + vol + " has invalid controller count 2"), []string{"certain Volume " + vol}},
		{"volume that nobody can migrate", twin("n2").edit("volume", "migratable: true", "migratable: false"), silent},
	})
	tests := []struct {
		name  string
		scene *scene
		want  bool
	}{
		{"left engine runs nowhere", twin("''").machine("n1"), true},
		{"node of the volume not read", twin("''"), false},
		{"node of the left engine not read", twin("n2"), false},
		{"node of the left engine shows no disk", twin("n2").machine("n1").machine("n2"), true},
		{"a migration goes to the other engine", twin("n2").machine("n1").machine("n2").edit("volume", "nodeID: n1,", "nodeID: n1, migrationNodeID: n2,"), false},
		{"volume is nowhere", twin("n2").machine("n2").edit("volume", "currentNodeID: n1", "currentNodeID: ''"), false},
	}
	for _, test := range tests {
		_, r := test.scene.run(t, MigrationInconsistent)
		got := false
		for _, m := range r.RootCauses[0].Remedies {
			got = got || m.Name == "delete-engine"
		}
		if got != test.want {
			t.Errorf("%s: got delete-engine offered %t, want %t", test.name, got, test.want)
		}
	}
}

func TestEngineOrphaned(t *testing.T) {
	t.Parallel()
	left := func() *scene {
		return newScene().edit("im-n2", "instanceEngines: {}", "instanceEngines: {"+engine+": {status: {state: running}}}").
			edit("engine", "desireState: running", "desireState: stopped").edit("volume", "state: attaching", "state: detached")
	}
	quiet := func() *scene { return left().drop("pod").drop("va").drop("tickets") }
	moved := func(at string) *scene {
		return newScene().drop("pod").drop("tickets").edit("im-n2", "instanceEngines: {}", "instanceEngines: {"+engine+": {status: {state: running}}}").
			edit("engine", "currentState: stopped", "currentState: running").edit("engine", "instanceManagerName: ''", "instanceManagerName: im-n1").edit("volume", "state: attaching", "state: attached, currentNodeID: n1").
			edit("va", "attached: false", "attached: true").edit("va", "11:30:00Z", at)
	}
	check(t, EngineOrphaned, []branch{
		{"volume detached and wanted", left(), []string{"certain Engine " + engine}},
		{"nobody wants the volume, time unknown", quiet(), []string{"likely Engine " + engine}},
		{"detached an hour ago", quiet().event("Volume", vol, "Detached", "detached", 1, "2026-01-02T11:00:00Z"), []string{"certain Engine " + engine}},
		{"detached a moment ago", quiet().event("Volume", vol, "Detached", "detached", 1, "2026-01-02T11:59:30Z"), []string{"likely Engine " + engine}},
		{"detached an hour ago, and no manager works since", quiet().event("Volume", vol, "Detached", "detached", 1, "2026-01-02T11:00:00Z").add("m1", manager("False")), []string{"likely Engine " + engine}},
		{"Engine object is gone", left().drop("engine"), []string{"certain InstanceManager im-n2"}},
		{"detach in progress", left().edit("volume", "state: detached", "state: detaching"), silent},
		{"instance-manager does not answer", left().edit("im-n2", "currentState: running", "currentState: unknown"), silent},
		{"node is down, its list an old one", left().edit("node-n2", "status: 'True'", "status: Unknown"), silent},
		{"detached a moment ago, wanted for long", left().event("Volume", vol, "Detached", "detached", 1, "2026-01-02T11:59:30Z"), []string{"likely Engine " + engine}},
		{"engine runs on another node", moved("11:30:00Z"), []string{"certain InstanceManager im-n2"}},
		{"engine runs on another node for a moment", moved("11:59:00Z"), silent},
		{"engine runs", left().edit("engine", "currentState: stopped", "currentState: running"), silent},
		{"record ended", left().edit("im-n2", engine+": {status: {state: running}}", engine+": {status: {state: stopped}}"), silent},
	})
	const session, disk = "sys/class/iscsi_session/session3/", "sys/class/block/sdd/"
	served := []string{session + "targetname", "iqn.2019-10.io.longhorn:" + vol, session + "state", "LOGGED_IN", session + "device/target3:0:0/3:0:0:1/block/sdd", "@dir",
		disk + "dev", "8:48", disk + "size", "20971520", disk + "ro", "0", disk + "holders", "@dir", "dev/sdd", "@device block 8:48", "proc/swaps", "Filename\tType\tSize\tUsed\tPriority"}
	for name, c := range map[string]struct {
		more []string
		says string
	}{
		"a mount of its disk": {[]string{"proc/77/comm", "sh", "proc/77/ns/mnt", "@link mnt:[4026532001]", "proc/77/mountinfo", "30 1 8:48 / /mnt/rescue rw - ext4 /dev/sdd rw"}, "release it first"},
		"nobody has its disk": {nil, "Nothing on node n2 uses the disk"},
	} {
		_, r := left().machine("n2", append(slices.Clone(served), c.more...)...).run(t, EngineOrphaned)
		said, whole := "", false
		for _, m := range r.RootCauses[0].Remedies {
			said += m.Title + "\n"
			whole = whole || m.Name == "delete-instance-manager"
		}
		if !strings.Contains(said, c.says) || whole && c.more != nil {
			t.Errorf("%s: the whole instance-manager is offered: %t, and the steps are\n%s", name, whole, said)
		}
	}
}

func TestShareManagerMisplaced(t *testing.T) {
	t.Parallel()
	pod := func(name, app, node string) string {
		return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: longhorn-system, labels: {app: " + app + "}, creationTimestamp: '2026-01-02T11:30:00Z'}\nspec: {nodeName: " + node + ", containers: [{name: " + app + ", image: i}]}\nstatus: {phase: Running}\n"
	}
	share := func(node string) *scene {
		return newScene().edit("volume", "accessMode: rwo", "accessMode: rwx").
			add("share", lhAPI+"ShareManager\nmetadata: {name: "+vol+", namespace: longhorn-system}\nstatus: {state: error}\n").
			add("share-pod", pod("share-manager-"+vol, "share-manager", node)).
			add("manager-n1", pod("longhorn-manager-1", "longhorn-manager", "n1")).add("plugin-n1", pod("longhorn-csi-plugin-1", "longhorn-csi-plugin", "n1"))
	}
	check(t, ShareManagerMisplaced, []branch{
		{"node without Longhorn", share("n3").drop("lhnode-n3"), []string{"certain ShareManager " + vol}},
		{"both pods missing on a node that Longhorn knows", share("n3"), []string{"certain ShareManager " + vol}},
		{"one pod missing on a node that Longhorn knows", share("n3").add("manager-n3", pod("longhorn-manager-3", "longhorn-manager", "n3")), []string{"likely ShareManager " + vol}},
		{"node is down", share("n3").edit("node-n3", "status: 'True'", "status: Unknown"), silent},
		{"share runs", share("n3").edit("share", "state: error", "state: running"), silent},
	})
}

func TestV2MemoryShort(t *testing.T) {
	t.Parallel()
	v2 := func() *scene {
		return newScene().edit("volume", "accessMode: rwo", "accessMode: rwo, dataEngine: v2").edit("im-n1", "dataEngine: v1", "dataEngine: v2")
	}
	short := func() *scene {
		return v2().edit("lhnode-n1", "conditions: [{type: Ready, status: 'True'}], diskStatus", "conditions: [{type: HugePagesAvailable, status: 'False', reason: InsufficientHugePages}], diskStatus")
	}
	log := func(s *scene, at string) *scene {
		return s.file("logs/longhorn-system/im-n1/instance-manager.log", "time=\""+at+"\" level=error msg=\"spdk: cannot allocate memory for the bdev_io pool\"\n")
	}
	const hugepages = "sys/kernel/mm/hugepages/hugepages-2048kB/"
	pages := func(free string) *scene {
		return v2().machine("n1", hugepages+"free_hugepages", free, hugepages+"nr_hugepages", "1024")
	}
	const now = "2026-01-02T11:58:00Z"
	check(t, V2MemoryShort, []branch{
		{"condition and a fresh error", log(short(), now), []string{"certain Node n1"}},
		{"condition alone", short(), []string{"likely Node n1"}},
		{"condition and an old error", log(short(), "2026-01-01T11:58:00Z"), []string{"likely Node n1"}},
		{"no free page and a fresh error", log(pages("0"), now), []string{"certain Node n1"}},
		{"no free page alone", pages("0"), silent},
		{"condition, and nobody wants the volume", short().drop("pod").drop("va").drop("tickets"), silent},
		{"free pages and a fresh error", log(pages("512"), now), silent},
		{"a fresh error, pages not seen", log(v2(), now), []string{"likely Node n1"}},
		{"an error of the v1 instance-manager", log(v2(), now).edit("im-n1", "dataEngine: v2", "dataEngine: v1"), silent},
		{"volume of the v1 data engine", log(short(), now).edit("volume", "dataEngine: v2", "dataEngine: v1"), silent},
	})
}

func TestReplicaNetworkUnstable(t *testing.T) {
	t.Parallel()
	const broken = "failed to add replica tcp://10.1.0.2:10010: read tcp 10.1.0.1:4->10.1.0.2:5: i/o timeout"
	flaky := func(count int, text string) *scene {
		return newScene().edit("volume", "state: attaching, robustness: unknown", "state: attached, robustness: degraded, currentNodeID: n1").
			edit("engine", "currentState: stopped, instanceManagerName: ''", "currentState: running, instanceManagerName: im-n1, replicaModeMap: {"+vol+"-r-2: WO}").
			event("Engine", engine, "FailedRebuilding", text, count, "2026-01-02T11:55:00Z")
	}
	counters := func(s *scene, node, again string) *scene {
		return s.machine(node, "proc/net/snmp", "Tcp: OutSegs RetransSegs\nTcp: 1000000 "+again)
	}
	lines := ""
	for _, ip := range []string{"10.9.0.2", "10.9.0.3"} {
		lines += "[" + engine + "] time=\"2026-01-02T11:58:00Z\" level=error msg=\"Failed to read from replica tcp://" + ip + ":10000: r/w timeout\"\n"
	}
	check(t, ReplicaNetworkUnstable, []branch{
		{"words alone", flaky(9, broken), []string{"possible Volume " + vol}},
		{"one end retransmits", counters(flaky(9, broken), "n2", "90000"), []string{"likely Volume " + vol}},
		{"both ends, one volume", counters(counters(flaky(9, broken), "n2", "90000"), "n1", "80000"), []string{"likely Volume " + vol}},
		{"clean counters", counters(flaky(9, broken), "n2", "90"), []string{"possible Volume " + vol}},
		{"engine log names two replicas", flaky(9, "Detected replica "+vol+"-r-2 in error").file("logs/longhorn-system/im-n1/instance-manager.log", lines), []string{"likely Volume " + vol}},
		{"in error without a word of the network", flaky(9, "Detected replica "+vol+"-r-2 in error"), silent},
		{"in error without a reason, an end retransmits", counters(flaky(9, "Detected replica "+vol+"-r-2 (10.1.0.2:10010) in error"), "n2", "90000"), []string{"likely Volume " + vol}},
		{"fails for its files, an end retransmits", counters(flaky(9, "failed to sync files: file sizes are not equal, replica 10.1.0.2:10010"), "n2", "90000"), silent},
		{"happened twice", flaky(2, broken), silent},
		{"fails for its files", flaky(9, "failed to sync files: file sizes are not equal, replica 10.1.0.2:10010"), silent},
		{"replica works again", flaky(9, broken).edit("engine", "r-2: WO", "r-2: RW"), silent},
		{"instance-manager restarted meanwhile", flaky(9, broken).add("im-pod", "apiVersion: v1\nkind: Pod\nmetadata: {name: im-n2, namespace: longhorn-system}\nspec: {nodeName: n2, containers: [{name: i, image: i}]}\nstatus: {phase: Running, startTime: '2026-01-02T11:30:00Z'}\n"), silent},
		{"healthy", newScene(), silent},
	})
}
