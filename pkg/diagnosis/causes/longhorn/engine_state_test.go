package longhorn

import "testing"

// degraded is an attached volume whose engine knows r-1 only; r-2 runs with an address.
func degraded() *scene {
	s := newScene()
	s.edit("volume", "state: attaching, robustness: unknown", "state: attached, robustness: degraded, currentNodeID: n1")
	s.edit("engine", "desireState: running,", "desireState: running, replicaAddressMap: {"+vol+"-r-1: '10.1.0.1:10000'},")
	s.edit("engine", "currentState: stopped", "currentState: running, endpoint: /dev/longhorn/x, replicaModeMap: {"+vol+"-r-1: RW}")
	s.edit("replica-2", "currentState: running", "currentState: running, ip: 10.1.0.2, storageIP: 10.1.0.2, port: 10010")
	s.edit("replica-1", "currentState: running", "currentState: running, ip: 10.1.0.1, storageIP: 10.1.0.1, port: 10000")
	return s
}

func TestReplicaNotInEngine(t *testing.T) {
	t.Parallel()
	third := lhAPI + "Replica\nmetadata: {name: " + vol + "-r-3, namespace: longhorn-system}\nspec: {volumeName: " + vol + ", nodeID: n3, active: true, failedAt: ''}\nstatus: {currentState: starting}\n"
	blocked := func() *scene { return degraded().add("replica-3", third) }
	found := []string{"certain Replica " + vol + "-r-2"}
	check(t, ReplicaNotInEngine, []branch{
		{"a sibling does not run", blocked(), found},
		{"all run: no reason", degraded(), silent},
		{"the sibling has failed", blocked().edit("replica-3", "failedAt: ''", "failedAt: '2026-01-02T10:00:00Z'"), silent},
		{"the sibling has no node", blocked().edit("replica-3", "nodeID: n3, ", ""), silent},
		{"a ghost", degraded().edit("engine", "10.1.0.1:10000'}", "10.1.0.1:10000', gone: '10.1.0.9:1'}").edit("engine", "r-1: RW}", "r-1: RW, gone: ERR}"), found},
		{"the engine knows it", blocked().edit("engine", "10.1.0.1:10000'}", "10.1.0.1:10000', "+vol+"-r-2: '10.1.0.2:10010'}"), silent},
		{"a rebuild is under way", blocked().edit("engine", "replicaModeMap:", "rebuildStatus: {'tcp://10.1.0.1:10000': {isRebuilding: true}}, replicaModeMap:"), silent},
		{"no rebuild is allowed", blocked().add("setting", lhAPI+"Setting\nmetadata: {name: concurrent-replica-rebuild-per-node-limit, namespace: longhorn-system}\nvalue: '0'\n"), silent},
		{"settings were not read", blocked().file("snapshot.yaml", gapped("api/longhorn.io/settings")), []string{"likely Replica " + vol + "-r-2"}},
		{"it began a moment ago", blocked().edit("replica-2", "creationTimestamp: '2026-01-01T00:00:00Z'", "creationTimestamp: '2026-01-02T11:58:00Z'"), silent},
		{"healthy", blocked().edit("volume", "robustness: degraded", "robustness: healthy"), silent},
		{"v2", blocked().edit("volume", "spec: {", "spec: {dataEngine: v2, "), []string{"likely Replica " + vol + "-r-2"}},
		{"no manager works", blocked().add("m1", manager("False")), []string{"likely Replica " + vol + "-r-2"}},
		{"a manager works", blocked().add("m1", manager("True")), found},
	})
}

func TestEngineUpgradeStuck(t *testing.T) {
	t.Parallel()
	left := func() *scene {
		s := newScene()
		s.edit("engine", "desireState: running,", "desireState: running, frontend: blockdev, upgradedReplicaAddressMap: {"+vol+"-r-9: '10.1.0.9:1'},")
		s.edit("engine", "currentState: stopped", "currentState: running, currentImage: 'e:v1', endpoint: ''")
		return s
	}
	found := []string{"certain Volume " + vol}
	image := func() *scene {
		return degraded().edit("volume", "image: 'e:v1'", "image: 'e:v2'").edit("volume", "state: attached", "currentImage: 'e:v1', state: attached")
	}
	check(t, EngineUpgradeStuck, []branch{
		{"a map is left", left(), found},
		{"a map, and an endpoint", left().edit("engine", "endpoint: ''", "endpoint: /dev/longhorn/x"), silent},
		{"a map, and the engine is stopped", left().edit("engine", "currentState: running", "currentState: stopped"), silent},
		{"a map of minutes", left().edit("va", "11:30:00Z", "11:55:00Z"), silent},
		{"a map, and nobody wants the volume", left().drop("pod").edit("va", "attached: false", "attached: true"), silent},
		{"the engine's image differs", newScene().edit("engine", "desireState: running,", "desireState: running, frontend: blockdev,").edit("engine", "currentState: stopped", "currentState: running, currentImage: 'e:v0'").
			edit("volume", "state: attaching", "currentImage: 'e:v0', state: attaching"), found},
		{"no upgrade", newScene(), silent},
		{"degraded", image(), found},
		{"healthy", image().edit("volume", "robustness: degraded", "robustness: healthy"), silent},
		{"too many replicas", image().edit("volume", "numberOfReplicas: 2", "numberOfReplicas: 1"), found},
		{"a new replica does not run", image().edit("volume", "robustness: degraded", "robustness: healthy").edit("replica-2", "active: true", "active: false").edit("replica-2", "currentState: running", "currentState: stopped"), found},
		{"v2", left().edit("volume", "spec: {", "spec: {dataEngine: v2, "), silent},
	})
}
