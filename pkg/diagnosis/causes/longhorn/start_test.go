package longhorn

import (
	"strings"
	"testing"
)

const engine = vol + "-e-0"

func TestEngineImageNotReady(t *testing.T) {
	t.Parallel()
	missing := func() *scene { return newScene().edit("image", "n2: true", "n2: false") }
	const (
		older    = lhAPI + "EngineImage\nmetadata: {name: ei-0, namespace: longhorn-system}\nspec: {image: 'e:v0'}\nstatus: {state: deployed, nodeDeploymentMap: {n1: true, n2: true, n3: true}}\n"
		nameless = `attached: false, attachError: {time: '2026-01-02T11:59:00Z', message: "cannot attach volume with image : unable to get engine image : engineimage.longhorn.io \"ei-cf83e135\" not found"}`
	)
	check(t, EngineImageNotReady, []branch{
		{"on the node of the engine", newScene().edit("image", "n1: true", "n1: false"), []string{"certain EngineImage ei-1"}},
		{"absent on the node of a replica that waits", newScene().edit("image", ", n2: true", "").edit("replica-2", "currentState: running", "currentState: stopped"), []string{"certain EngineImage ei-1"}},
		{"replica there runs already", missing(), silent},
		{"volume rests detached, one replica's node lacks it", missing().edit("replica-2", "currentState: running", "currentState: stopped").edit("replica-2", "desireState: running", "desireState: stopped").edit("volume", "state: attaching", "state: detached"), silent},
		{"volume rests detached, no replica's node has it", missing().edit("image", "n1: true, n2: false, n3: true", "n3: true, n9: true").edit("replica-2", "currentState: running", "currentState: stopped").edit("replica-2", "desireState: running", "desireState: stopped").edit("volume", "state: attaching", "state: detached"), []string{"certain EngineImage ei-1"}},
		{"on a node without any part", newScene().edit("image", "n3: true", "n3: false"), silent},
		{"node is down", missing().edit("replica-2", "currentState: running", "currentState: stopped").edit("node-n2", "status: 'True'", "status: Unknown"), silent},
		{"manager of the node is down", missing().edit("replica-2", "currentState: running", "currentState: stopped").edit("lhnode-n2", "{type: Ready, status: 'True'}], diskStatus", "{type: Ready, status: 'False', reason: ManagerPodDown}], diskStatus"), silent},
		{"incompatible image", newScene().edit("image", "state: deployed", "state: deployed, incompatible: true"), []string{"certain EngineImage ei-1"}},
		{"volume of the v2 data engine", newScene().edit("image", "n1: true", "n1: false").edit("volume", "accessMode: rwo", "accessMode: rwo, dataEngine: v2"), silent},
		{"another image of the volume", newScene().edit("image", "n1: true", "n1: false").edit("volume", "e:v1", "e:v0").add("older", older), silent},
		{"the image of the volume is gone", newScene().edit("volume", "e:v1", "e:v0"), []string{"certain Volume " + vol}},
		{"the image of the volume is gone, not all were read", newScene().edit("volume", "e:v1", "e:v0").file("snapshot.yaml", gapped("api/longhorn.io/engineimages")), silent},
		{"the image of an attached volume is gone", newScene().edit("volume", "e:v1", "e:v0").edit("volume", "state: attaching", "state: attached"), silent},
		{"no image is read at all", newScene().drop("image"), silent},
		{"volume without an image, the attacher says so", newScene().edit("volume", "image: 'e:v1'", "image: ''").edit("va", "attached: false", nameless), []string{"certain Volume " + vol}},
		{"volume without an image, nobody says so", newScene().edit("volume", "image: 'e:v1'", "image: ''"), silent},
		{"attached volume", newScene().edit("image", "n1: true", "n1: false").edit("volume", "state: attaching", "state: attached"), silent},
	})
}

func TestBackingImageUnavailable(t *testing.T) {
	t.Parallel()
	image := func(state, condition string) *scene {
		s := newScene().edit("volume", "accessMode: rwo", "accessMode: rwo, backingImage: base").add("backing", lhAPI+"BackingImage\nmetadata: {name: base, namespace: longhorn-system}\nspec: {sourceType: upload}\nstatus: {diskFileStatusMap: {"+state+"}}\n")
		if condition != "" {
			s.edit("volume", "conditions: [", "conditions: [{type: WaitForBackingImage, status: 'True', reason: "+condition+"}, ")
		}
		return s
	}
	check(t, BackingImageUnavailable, []branch{
		{"every copy failed", image("d1: {state: failed}", "Waiting"), []string{"certain BackingImage base"}},
		{"no copy on any disk", image("", "Waiting"), []string{"certain BackingImage base"}},
		{"image does not exist", image("", "GetBackingImageFailed").drop("backing"), []string{"certain BackingImage base"}},
		{"failed without a condition", image("d1: {state: failed}", ""), []string{"likely BackingImage base"}},
		{"one ready copy, the one of a replica failed", image("disk-n2: {state: failed}, d2: {state: ready}", "Waiting").edit("replica-2", "currentState: running", "currentState: stopped, conditions: [{type: WaitForBackingImage, status: 'True', reason: Waiting}]"), []string{"likely BackingImage base"}},
		{"one ready copy", image("d1: {state: failed}, d2: {state: ready}", "Waiting"), silent},
	})
	got, r := image("d1: {state: in-progress, progress: 40}", "Waiting").run(t, BackingImageUnavailable)
	if len(got) != 1 || r.Verdict != "waiting" {
		t.Errorf("a copy in progress: got %v with verdict %s, want one cause that waits", got, r.Verdict)
	}
}

func TestEngineRecordStale(t *testing.T) {
	t.Parallel()
	record := func(state string) *scene {
		return newScene().edit("im-n1", "instanceEngines: {}", "instanceEngines: {"+engine+": {status: {state: "+state+"}}}")
	}
	check(t, EngineRecordStale, []branch{
		{"record of an ended process", record("stopped"), []string{"certain Engine " + engine}},
		{"record in error", record("error"), []string{"certain Engine " + engine}},
		{"no record", newScene(), silent},
		{"record starts", record("starting"), silent},
		{"engine has its instance-manager", record("stopped").edit("engine", "instanceManagerName: ''", "instanceManagerName: im-n1"), silent},
		{"attaching for a minute", record("stopped").edit("va", "11:30:00Z", "11:59:00Z"), silent},
		{"starts and fails again and again", record("error").event("Engine", engine, "FailedStarting", "exit status 7", 9, "2026-01-02T11:59:00Z"), silent},
		{"volume detached", record("stopped").edit("volume", "state: attaching", "state: detached"), silent},
	})
}

func TestEngineRecordAdvice(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"other-r-n1: {status: {state: running}}": false, "": true} {
		s := newScene().edit("im-n1", "instanceEngines: {}", "instanceEngines: {"+engine+": {status: {state: stopped}}}")
		s.edit("im-n1", "other-r-n1: {status: {state: running}}", name)
		if name == "" {
			s.edit("replica-1", "currentState: running, instanceManagerName: im-n1", "currentState: stopped, instanceManagerName: ''")
		}
		_, r := s.run(t, EngineRecordStale)
		offered := false
		for _, m := range r.RootCauses[0].Remedies {
			offered = offered || m.Name == "delete-instance-manager"
		}
		if offered != want {
			t.Errorf("delete-instance-manager with replicas {%s}: got offered %t, want %t", name, offered, want)
		}
	}
}

func TestInstanceManagerStuck(t *testing.T) {
	t.Parallel()
	twin := func(image string) *scene {
		return newScene().edit("replica-2", "currentState: running, instanceManagerName: im-n2", "currentState: stopped, instanceManagerName: ''").
			add("twin", lhAPI+"InstanceManager\nmetadata: {name: im-twin, namespace: longhorn-system, creationTimestamp: '2026-01-02T00:00:00Z'}\nspec: {nodeID: n2, type: aio, dataEngine: v1, image: '"+image+"'}\nstatus: {currentState: running}\n")
	}
	stuck := func(state string) *scene {
		return newScene().edit("im-n1", "instanceEngines: {}", "instanceEngines: {"+engine+": {status: {state: "+state+"}}}").edit("engine", "instanceManagerName: ''", "instanceManagerName: im-n1")
	}
	timeout := "time=\"2026-01-02T11:58:00Z\" level=error msg=\"ProcessList of instance manager im-n1 failed: context deadline exceeded\"\n"
	check(t, InstanceManagerStuck, []branch{
		{"two of one image", twin("im:v1"), []string{"certain InstanceManager im-twin"}},
		{"two of different images", twin("im:v2"), silent},
		{"two on a node without any part", twin("im:v1").edit("twin", "nodeID: n2", "nodeID: n3"), silent},
		{"what was to start there runs", twin("im:v1").edit("replica-2", "currentState: stopped", "currentState: running"), silent},
		{"one volume alone", stuck("starting"), silent},
		{"one volume, and calls time out", stuck("starting").file("logs/longhorn-system/longhorn-manager-1/longhorn-manager.log", timeout), []string{"likely InstanceManager im-n1"}},
		{"calls timed out yesterday", stuck("starting").file("logs/longhorn-system/longhorn-manager-1/longhorn-manager.log", "time=\"2026-01-01T11:58:00Z\""+timeout[27:]), silent},
	})
}

func TestVolumeDrivenTwice(t *testing.T) {
	t.Parallel()
	driven := func(state string) *scene {
		return newScene().edit("tickets", "nodeID: n1", "nodeID: n2").edit("volume", "state: attaching", "state: "+state)
	}
	check(t, VolumeDrivenTwice, []branch{
		{"attached for twenty minutes", driven("attached").event("Volume", vol, "Attached", "attached to n1", 1, "2026-01-02T11:40:00Z"), []string{"certain Volume " + vol}},
		{"ticket just removed", driven("detaching"), silent},
		{"in turns", driven("detaching").event("Volume", vol, "Attached", "attached to n1", 9, "2026-01-02T11:58:00Z").event("Volume", vol, "Detached", "detached", 9, "2026-01-02T11:59:00Z"), []string{"certain Volume " + vol}},
		{"its pod has been running for long, no event", driven("attached").edit("pod", "status: {phase: Pending}", "status: {phase: Running, containerStatuses: [{name: app, ready: true, state: {running: {startedAt: '2026-01-02T11:30:00Z'}}}]}"), []string{"certain Volume " + vol}},
		{"attached, nobody knows for how long", driven("attached"), []string{"likely Volume " + vol}},
		{"attached a moment ago", driven("attached").event("Volume", vol, "Attached", "attached to n1", 1, "2026-01-02T11:59:50Z"), silent},
		{"writer names itself", driven("attached").edit("volume", "nodeID: n1", "nodeID: n1, lastAttachedBy: virt"), []string{"likely Volume " + vol}},
		{"a ticket explains the node", newScene(), silent},
		{"before there were tickets", driven("attached").drop("tickets").event("Volume", vol, "Attached", "attached to n1", 1, "2026-01-02T11:40:00Z"), silent},
	})
}

func TestInstanceManagerHangsForTwo(t *testing.T) {
	t.Parallel()
	two := func(state string) *scene {
		s := newScene().edit("engine", "instanceManagerName: ''", "instanceManagerName: im-n1")
		for _, name := range []string{"volume", "engine", "replica-1", "replica-2", "pv", "claim", "va", "pod"} {
			text := strings.ReplaceAll(s.objects[name], vol, "pvc-other")
			text = strings.ReplaceAll(strings.ReplaceAll(text, "data, uid: c}", "data2, uid: c2}"), "claimName: data}", "claimName: data2}")
			text = strings.ReplaceAll(strings.ReplaceAll(text, "name: csi-", "name: csi-0"), "db-0, uid: u", "db2-0, uid: u2")
			s.add("second-"+name, text)
		}
		return s.edit("im-n1", "instanceEngines: {}", "instanceEngines: {"+engine+": {status: {state: "+state+"}}, pvc-other-e-0: {status: {state: "+state+"}}}")
	}
	check(t, InstanceManagerStuck, []branch{
		{"two engines start for ever", two("starting"), []string{"certain InstanceManager im-n1"}},
		{"two engines that have no process", two("starting").edit("im-n1", "instanceEngines: {"+engine+": {status: {state: starting}}, pvc-other-e-0: {status: {state: starting}}}", "instanceEngines: {}"), []string{"likely InstanceManager im-n1"}},
		{"two engines that have no process, replicas were not read", two("starting").edit("im-n1", "instanceEngines: {"+engine+": {status: {state: starting}}, pvc-other-e-0: {status: {state: starting}}}", "instanceEngines: {}").file("snapshot.yaml", gapped("api/longhorn.io/replicas")), silent},
		{"two engines ended", two("stopped"), silent},
		{"node is down", two("starting").edit("node-n1", "status: 'True'", "status: Unknown"), silent},
	})
}
