package longhorn

import "testing"

func TestV2EngineStuck(t *testing.T) {
	t.Parallel()
	const mapped = "sys/class/block/dm-0/"
	stuck := func(entries ...string) *scene {
		s := newScene().edit("volume", "spec: {", "spec: {dataEngine: v2, ").edit("volume", "status: {", "status: {currentNodeID: n1, ").edit("engine", "currentState: stopped", "currentState: error")
		if len(entries) > 0 {
			s.machine("n1", entries...)
		}
		return s
	}
	dead := []string{mapped + "dev", "253:0", mapped + "dm/name", vol, mapped + "dm/uuid", "", mapped + "dm/suspended", "0", mapped + "size", "1000", mapped + "slaves/nvme0n1", "@link ../../../nvme0n1"}
	alive := append([]string{"sys/class/block/nvme0n1/dev", "259:0", "sys/class/block/nvme0n1/size", "1000"}, dead...)
	nqn := func(state string) []string {
		return []string{"sys/class/nvme/nvme2/subsysnqn", spdkNQN, "sys/class/nvme/nvme2/state", state, "sys/class/nvme/nvme2/transport", "tcp"}
	}
	restarted := func(s *scene) *scene {
		return s.edit("im-n1", "creationTimestamp: '2026-01-01T00:00:00Z'", "creationTimestamp: '2026-01-02T11:45:00Z'").edit("im-n1", "dataEngine: v1", "dataEngine: v2")
	}
	other := func(target string) []string {
		return []string{"sys/class/nvme-subsystem/nvme-subsys0/subsysnqn", target, "sys/class/nvme-subsystem/nvme-subsys0/nvme0n1", "@link ../../nvme0n1",
			"sys/class/nvme/nvme0/subsysnqn", target, "sys/class/nvme/nvme0/state", "live", "sys/class/nvme/nvme0/transport", "tcp", "sys/class/nvme/nvme0/nvme0n1", "@dir"}
	}
	frontend := func(state, endpoint string) *scene {
		return stuck().edit("engine", "currentState: error", "currentState: running, endpoint: ''").
			add("frontend", lhAPI+"EngineFrontend\nmetadata: {name: "+vol+"-ef-0, namespace: longhorn-system}\nspec: {volumeName: "+vol+", engineName: "+vol+"-e-0, nodeID: n1, active: true, desireState: running}\nstatus: {currentState: "+state+", endpoint: '"+endpoint+"'}\n")
	}
	found := []string{"certain Volume " + vol}
	check(t, V2EngineStuck, []branch{
		{"the map has lost its namespace", stuck(dead...), found},
		{"the map is well", stuck(alive...), silent},
		{"a controller connects", stuck(append(nqn("connecting"), alive...)...), found},
		{"a controller lives", stuck(nqn("live")...), silent},
		{"the node was not seen, and it was restarted", restarted(stuck()), []string{"likely Volume " + vol}},
		{"the node was not seen", stuck(), []string{"possible Volume " + vol}},
		{"the map lies on another engine's namespace", stuck(append(other("nqn.2023-01.io.longhorn.spdk:"+vol+"-e-9"), alive...)...), found},
		{"the map lies on its own engine's namespace", stuck(append(other("nqn.2023-01.io.longhorn.spdk:"+vol+"-e-0"), alive...)...), silent},
		{"a frontend hangs, the engine runs", frontend("error", "").machine("n1", dead...), found},
		{"a frontend hangs, the node was not seen, and it was restarted", restarted(frontend("stopped", "")), []string{"likely Volume " + vol}},
		{"a frontend runs; the engine has no endpoint by design", frontend("running", "/dev/longhorn/x").machine("n1", dead...), silent},
		{"the frontend is on another node than the engine", frontend("error", "").edit("engine", "nodeID: n1", "nodeID: n2").machine("n1", dead...), found},
		{"v1", stuck(dead...).edit("volume", "dataEngine: v2, ", ""), silent},
		{"attached", stuck(dead...).edit("volume", "state: attaching", "state: attached"), silent},
		{"a pod of a minute", stuck(dead...).edit("pod", "11:30:00Z", "11:59:00Z"), silent},
	})
}

const spdkNQN = "nqn.2023-01.io.longhorn.spdk:volume-" + vol

func TestEngineDataPathBroken(t *testing.T) {
	t.Parallel()
	kernel := func(sector, gap string) string {
		return "6,1,86000000000,-;scsi 3:0:0:1: Direct-Access     IET      VIRTUAL-DISK     0001 PQ: 0 ANSI: 5\n" +
			"5,2,86100000000,-;sd 3:0:0:1: [sdb] Attached SCSI disk\n" +
			"3,3," + gap + ",-;blk_update_request: critical medium error, dev sdb, sector " + sector + " op 0x0:(READ) flags 0x0"
	}
	failing := func(log string) *scene {
		s := newScene().edit("engine", "currentState: stopped", "currentState: error")
		if log != "" {
			s.machine("n1", "@kmsg", log)
		}
		return s
	}
	const soon, late = "86120000000", "86390000000"
	other := lhAPI + "Volume\nmetadata: {name: w, namespace: longhorn-system}\nspec: {size: '1'}\nstatus: {state: attached}\n---\n" +
		lhAPI + "Engine\nmetadata: {name: w-e-0, namespace: longhorn-system}\nspec: {volumeName: w, nodeID: n2}\nstatus: {currentState: running, endpoint: /dev/longhorn/w}\n"
	check(t, EngineDataPathBroken, []branch{
		{"the first read fails, another node works", failing(kernel("0", soon)).add("other", other), []string{"certain Node n1"}},
		{"nothing to compare with", failing(kernel("0", soon)), []string{"likely Node n1"}},
		{"another sector", failing(kernel("20480", soon)).add("other", other), silent},
		{"long after the attach", failing(kernel("0", late)).add("other", other), silent},
		{"another disk", failing(kernel("0", soon)).add("other", other).file("nodes/n1.txtar", ""), silent},
		{"a replica has failed", failing(kernel("0", soon)).add("other", other).edit("replica-1", "failedAt: ''", "failedAt: '2026-01-02T11:00:00Z'"), silent},
		{"the volume is up", failing(kernel("0", soon)).add("other", other).edit("engine", "currentState: error", "currentState: running, endpoint: /dev/longhorn/x").edit("volume", "state: attaching", "state: attached"), silent},
		{"only tgtd speaks", failing("").add("other", other).file("logs/longhorn-system/im-n1/app.log", "tgtd: bs_longhorn_request(111) fail to read at 0 for 4096\n"), []string{"likely Node n1"}},
		{"nobody speaks", failing("").add("other", other), silent},
	})
}
