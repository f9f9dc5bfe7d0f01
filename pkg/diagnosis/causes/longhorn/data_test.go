package longhorn

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

func TestReplicaUnschedulable(t *testing.T) {
	t.Parallel()
	none := func() *scene {
		s := newScene().edit("volume", "{type: Scheduled, status: 'True'}", "{type: Scheduled, status: 'False', reason: ReplicaSchedulingFailure, message: tags not fulfilled}")
		return s.edit("replica-2", "nodeID: n2", "nodeID: ''")
	}
	all := func() *scene { return none().edit("replica-1", "nodeID: n1", "nodeID: ''") }
	unbound := func() *scene {
		s := all().drop("pv").drop("va").drop("tickets").drop("pod").edit("volume", "state: attaching", "state: detached")
		return s.edit("claim", "uid: c}", "uid: "+strings.TrimPrefix(vol, "pvc-")+"}").edit("claim", "volumeName: "+vol+", ", "").edit("claim", "phase: Bound", "phase: Pending")
	}
	check(t, ReplicaUnschedulable, []branch{
		{"claim still unbound", unbound(), []string{"certain Volume " + vol}},
		{"no replica placed", all(), []string{"certain Volume " + vol}},
		{"one of two placed, v1", none(), silent},
		{"replicas were not read", none().drop("replica-1").drop("replica-2").file("snapshot.yaml", gapped("api/longhorn.io/replicas")), silent},
		{"one of two placed, v2", none().edit("volume", "accessMode: rwo", "accessMode: rwo, dataEngine: v2"), []string{"certain Volume " + vol}},
		{"strict-local", none().edit("volume", "dataLocality: disabled", "dataLocality: strict-local"), []string{"certain Volume " + vol}},
		{"best effort, its node has no room", none().edit("volume", "dataLocality: disabled", "dataLocality: best-effort").edit("volume", "ReplicaSchedulingFailure", "LocalReplicaSchedulingFailure"), silent},
		{"the placed one failed, the other has no place", none().edit("replica-1", "failedAt: ''", "failedAt: '2026-01-02T11:00:00Z'"), silent},
		{"refused for it", none().attachError("rpc error: code = Aborted desc = volume " + vol + " is not ready for workloads: volume is currently in detached state with some un-schedulable replicas"), []string{"certain Volume " + vol}},
		{"attached and degraded", all().edit("volume", "state: attaching", "state: attached"), silent},
		{"scheduled", newScene(), silent},
	})
}

func TestVolumeStatusLeftover(t *testing.T) {
	t.Parallel()
	version := func(v string) *scene {
		return newScene().add("version", lhAPI+"Setting\nmetadata: {name: current-longhorn-version, namespace: longhorn-system}\nvalue: "+v+"\n").edit("volume", "ownerID: n1", "ownerID: n1, pendingNodeID: n9")
	}
	gone := func() *scene {
		return newScene().edit("volume", "nodeID: n1,", "nodeID: '',").edit("volume", "ownerID: n1", "ownerID: n1, currentNodeID: n9")
	}
	restored := func(progress string) *scene {
		return newScene().edit("volume", "ownerID: n1", "ownerID: n1, restoreRequired: true").edit("engine", "currentState: stopped", "currentState: stopped, restoreStatus: {a: {progress: "+progress+", isRestoring: false, error: ''}}")
	}
	check(t, VolumeStatusLeftover, []branch{
		{"pendingNodeID on 1.5.3", version("v1.5.3"), []string{"certain Volume " + vol}},
		{"pendingNodeID that names a living node", version("v1.5.0").edit("volume", "pendingNodeID: n9", "pendingNodeID: n2"), []string{"certain Volume " + vol}},
		{"pendingNodeID on 1.5.5", version("v1.5.5"), silent},
		{"pendingNodeID on 1.4.4", version("v1.4.4"), silent},
		{"pendingNodeID on an unknown version", version("v1.5.3").drop("version"), []string{"likely Volume " + vol}},
		{"currentNodeID of a removed node", gone(), []string{"certain Volume " + vol}},
		{"currentNodeID of a node that exists", gone().edit("volume", "n9", "n3"), silent},
		{"restore that is over", restored("100"), []string{"certain Volume " + vol}},
		{"restore that is over, still attached for it", restored("100").edit("volume", "state: attaching", "state: attached"), []string{"likely Volume " + vol}},
		{"restore that goes on", restored("40"), silent},
		{"wanted for a minute", version("v1.5.3").edit("va", "11:30:00Z", "11:59:00Z"), silent},
		{"attached", version("v1.5.3").edit("volume", "state: attaching", "state: attached"), silent},
	})
}

func TestRestorePending(t *testing.T) {
	t.Parallel()
	restore := func(engine string) *scene {
		return newScene().edit("volume", "ownerID: n1", "ownerID: n1, restoreRequired: true").edit("engine", "currentState: stopped", "currentState: running"+engine)
	}
	refused := "rpc error: code = Aborted desc = volume " + vol + " is restoring data"
	waitsHealthy := func() *scene {
		return newScene().edit("volume", "ownerID: n1", "ownerID: n1, cloneStatus: {state: copy-completed-awaiting-healthy}")
	}
	ticket := snapshot.AttachmentName(vol, snapshot.LonghornDriver, "n1") + ": {type: csi-attacher, nodeID: n1, generation: 0}"
	check(t, RestorePending, []branch{
		{"in progress", restore(", restoreStatus: {a: {progress: 40, isRestoring: true}}"), []string{"certain Volume " + vol}},
		{"refused for it", restore("").attachError(refused), []string{"certain Volume " + vol}},
		{"flag alone, no replica has begun", restore(""), []string{"certain Volume " + vol}},
		{"flag alone, engines unread", restore("").drop("engine").file("snapshot.yaml", gapped("api/longhorn.io/engines")), []string{"likely Volume " + vol}},
		{"one replica is done, one has no entry", restore(", restoreStatus: {'tcp://10.1.0.1:1': {progress: 100, isRestoring: false, error: ''}}").
			edit("engine", "active: true,", "active: true, replicaAddressMap: {r-1: '10.1.0.1:1', r-2: '10.1.0.2:1'},"), []string{"certain Volume " + vol}},
		{"standby on purpose that nobody wants", newScene().edit("volume", "accessMode: rwo", "accessMode: rwo, Standby: true").drop("pod").drop("va").drop("tickets"), silent},
		{"activation that nobody waits for", newScene().edit("volume", "ownerID: n1", "ownerID: n1, isStandby: true").drop("pod").drop("va").drop("tickets"), []string{"certain Volume " + vol}},
		{"over", restore(", restoreStatus: {a: {progress: 100, isRestoring: false, error: ''}}"), silent},
		{"clone", newScene().edit("volume", "ownerID: n1", "ownerID: n1, cloneStatus: {state: initiated}").attachError("volume request cloning data but has not finished copying data"), []string{"certain Volume " + vol}},
		{"clone that waits to be rebuilt, and has its ticket", waitsHealthy(), silent},
		{"clone that waits to be rebuilt, refused", waitsHealthy().edit("tickets", ticket, ""), []string{"certain Volume " + vol}},
		{"clone that waits to be rebuilt, tickets unread", waitsHealthy().edit("tickets", ticket, "").file("snapshot.yaml", gapped("api/longhorn.io/volumeattachments")), silent},
		{"clone that waits to be rebuilt on another node", waitsHealthy().edit("volume", "ownerID: n1", "ownerID: n1, currentNodeID: n2"), []string{"certain Volume " + vol}},
		{"clone that waits to be rebuilt, attached", waitsHealthy().edit("tickets", ticket, "").edit("va", "attached: false", "attached: true"), silent},
		{"clone that waits to be rebuilt, and nobody wants it", waitsHealthy().edit("tickets", ticket, "").drop("va").drop("pod"), silent},
		{"clone that failed", newScene().edit("volume", "ownerID: n1", "ownerID: n1, cloneStatus: {state: failed}"), []string{"certain Volume " + vol}},
		{"clone completed", newScene().edit("volume", "ownerID: n1", "ownerID: n1, cloneStatus: {state: completed}"), silent},
		{"nobody waits", restore("").drop("pod").drop("va").drop("tickets"), []string{"certain Volume " + vol}},
		{"nothing to restore", newScene(), silent},
	})
	verdicts := []struct {
		name  string
		scene *scene
		want  string
	}{
		{"slow progress is broken", restore(", restoreStatus: {a: {progress: 1, isRestoring: true}}").edit("volume", "conditions: [", "conditions: [{type: Restore, status: 'True', lastTransitionTime: '2026-01-02T06:00:00Z'}, "), "broken"},
		{"progress of hours waits", restore(", restoreStatus: {a: {progress: 40, isRestoring: true}}").edit("volume", "conditions: [", "conditions: [{type: Restore, status: 'True', lastTransitionTime: '2026-01-02T06:00:00Z'}, "), "waiting"},
		{"nothing after 40 minutes is broken", restore(", restoreStatus: {a: {progress: 0, isRestoring: true}}").edit("volume", "conditions: [", "conditions: [{type: Restore, status: 'True', lastTransitionTime: '2026-01-02T11:20:00Z'}, "), "broken"},
		{"nothing after a minute waits", restore(", restoreStatus: {a: {progress: 0, isRestoring: true}}").edit("volume", "conditions: [", "conditions: [{type: Restore, status: 'True', lastTransitionTime: '2026-01-02T11:59:00Z'}, "), "waiting"},
		{"activation under way waits", restore(", restoreStatus: {a: {progress: 40, isRestoring: true}}").edit("volume", "restoreRequired: true", "isStandby: true"), "waiting"},
		{"progress waits", restore(", restoreStatus: {a: {progress: 40, isRestoring: true}}"), "waiting"},
		{"failure is broken", restore(", restoreStatus: {a: {progress: 40, isRestoring: false, error: 'no such backup'}}"), "broken"},
		{"activation that hangs is broken", restore(", restoreStatus: {a: {progress: 100, isRestoring: false, error: ''}}").edit("volume", "ownerID: n1", "ownerID: n1, isStandby: true").edit("replica-2", "failedAt: ''", "failedAt: '2026-01-02T11:00:00Z'"), "broken"},
		{"standby is broken", newScene().edit("volume", "accessMode: rwo", "accessMode: rwo, Standby: true").attachError("volume " + vol + " is not ready for workloads: volume requires restoration"), "broken"},
	}
	for _, v := range verdicts {
		if _, r := v.scene.run(t, RestorePending); string(r.Verdict) != v.want {
			t.Errorf("%s: got verdict %s, want %s", v.name, r.Verdict, v.want)
		}
	}
}

func TestExpansionIncomplete(t *testing.T) {
	t.Parallel()
	grown := func() *scene { return newScene().edit("claim", "storage: 10Gi}}}", "storage: 20Gi}}}") }
	pending := func(kind, since string) *scene {
		return grown().edit("claim", "capacity: {storage: 10Gi}", "capacity: {storage: 10Gi}, conditions: [{type: "+kind+", status: 'True', lastTransitionTime: '"+since+"'}]")
	}
	check(t, ExpansionIncomplete, []branch{
		{"resizing for an hour", pending("Resizing", "2026-01-02T11:00:00Z"), []string{"certain PersistentVolumeClaim data"}},
		{"resizing for a minute", pending("Resizing", "2026-01-02T11:59:00Z"), []string{"likely PersistentVolumeClaim data"}},
		{"engine behind, with its error", newScene().edit("volume", "10737418240", "21474836480").edit("engine", "currentSize: '10737418240'", "currentSize: '10737418240', lastExpansionError: no space, lastExpansionFailedAt: '2026-01-02T11:00:00Z'"), []string{"certain PersistentVolumeClaim data"}},
		{"Longhorn says so, engine not seen", newScene().edit("volume", "ownerID: n1", "ownerID: n1, expansionRequired: true").drop("engine"), []string{"likely PersistentVolumeClaim data"}},
		{"the filesystem has to be checked first", pending("Resizing", "2026-01-02T11:00:00Z").event("PersistentVolumeClaim", "data", "VolumeResizeFailed", "resize failed: Please run 'e2fsck -f /dev/longhorn/x' first.", 1, "2026-01-02T11:58:00Z").edit("event-PersistentVolumeClaim-data-VolumeResizeFailed", "longhorn-system", "shop"), silent},
		{"engine ahead", pending("Resizing", "2026-01-02T11:00:00Z").edit("engine", "currentSize: '10737418240'", "currentSize: '32212254720'"), silent},
		{"block volume needs no filesystem", newScene().edit("pv", "accessModes", "volumeMode: Block, accessModes").edit("claim", "capacity: {storage: 10Gi}", "capacity: {storage: 10Gi}, conditions: [{type: FileSystemResizePending, status: 'True', lastTransitionTime: '2026-01-02T11:00:00Z'}]"), silent},
		{"equal sizes", newScene(), silent},
	})
}

// TestExpansionWithoutRoom: a size for which the disks have no room is not reached by waiting.
func TestExpansionWithoutRoom(t *testing.T) {
	t.Parallel()
	s := newScene().edit("claim", "storage: 10Gi}}}", "storage: 9999999Gi}}}").edit("volume", "state: attaching", "state: attached")
	s.event("PersistentVolumeClaim", "data", "VolumeResizeFailed", "resize failed: unable to expand volume: cannot schedule 53686822764544 more bytes to disk d1", 9, "2026-01-02T11:58:00Z").edit("event-PersistentVolumeClaim-data-VolumeResizeFailed", "longhorn-system", "shop")
	_, r := s.run(t, ExpansionIncomplete)
	if len(r.RootCauses) != 1 {
		t.Fatalf("want one cause, got %+v", r.RootCauses)
	}
	var titles []string
	for _, m := range r.RootCauses[0].Remedies {
		titles = append(titles, m.Title)
	}
	if all := strings.Join(titles, "\n"); !strings.Contains(all, "Make room on the disks of the replicas") || strings.Contains(all, "Scale the workload to 0") {
		t.Errorf("it advises: %s", all)
	}
}

func TestReplicaInconsistent(t *testing.T) {
	t.Parallel()
	local := func() *scene {
		return newScene().edit("volume", "dataLocality: disabled", "dataLocality: strict-local")
	}
	large := func() *scene {
		return newScene().edit("engine", "currentSize: '10737418240'", "currentSize: '21474836480'")
	}
	said := "BUG: The expected size 10737418240 of engine " + engine + " should not be smaller than the current size 21474836480"
	half := func(entries ...string) *scene {
		return newScene().edit("engine", "currentState: stopped", "currentState: error").machine("n2", entries...)
	}
	dir := "var/lib/longhorn/replicas/dir-2/"
	building := []string{dir + "volume.meta", `{"Size":10737418240,"Rebuilding":true}`, dir + "volume-snap-a.img", "x"}
	check(t, ReplicaInconsistent, []branch{
		{"strict-local with two", local().attachError("number of replica count should be 1 when data locality is strict-local"), []string{"certain Volume " + vol}},
		{"strict-local with two, nothing refused", local(), []string{"likely Volume " + vol}},
		{"strict-local with one", local().drop("replica-2"), silent},
		{"engine too large, replica not read", large().attachError(said), []string{"certain Volume " + vol}},
		{"engine too large, replica read", large().attachError(said).machine("n2", dir+"volume.meta", `{"Size":21474836480}`), []string{"certain Replica " + vol + "-r-2"}},
		{"half built, object agrees", half(building...).edit("replica-2", "healthyAt: '2026-01-01T00:00:00Z'", "healthyAt: ''"), []string{"certain Replica " + vol + "-r-2"}},
		{"half built, object says healthy", half(building...), []string{"likely Replica " + vol + "-r-2"}},
		{"failed replica may be half built", half(building...).edit("replica-2", "failedAt: ''", "failedAt: '2026-01-02T11:00:00Z'"), silent},
		{"rebuild in progress", half(building...).edit("engine", "currentState: error", "currentState: running").edit("volume", "state: attaching", "state: attached"), silent},
		{"complete directory", half(dir+"volume.meta", `{"Size":10737418240}`, dir+"volume-snap-a.img", "x", dir+"volume-snap-a.img.meta", "{}"), silent},
	})
}

func TestDeleteReplicaIsGuarded(t *testing.T) {
	t.Parallel()
	refused := "number of replica count should be 1 when data locality is strict-local"
	base := func() *scene {
		return newScene().edit("volume", "dataLocality: disabled", "dataLocality: strict-local").attachError(refused)
	}
	tests := []struct {
		name  string
		scene *scene
		want  bool
	}{
		{"both were healthy", base(), false},
		{"second never was, node not read", base().edit("replica-2", "healthyAt: '2026-01-01T00:00:00Z'", "healthyAt: ''"), false},
		{"second never was, no snapshot files", base().edit("replica-2", "healthyAt: '2026-01-01T00:00:00Z'", "healthyAt: ''").machine("n2", "var/lib/longhorn/replicas/dir-2/volume.meta", "{}"), true},
		{"second never was, has a snapshot", base().edit("replica-2", "healthyAt: '2026-01-01T00:00:00Z'", "healthyAt: ''").machine("n2", "var/lib/longhorn/replicas/dir-2/volume-snap-a.img", "x"), false},
		{"second never was, the name of a snapshot's image was not read", base().edit("replica-2", "healthyAt: '2026-01-01T00:00:00Z'", "healthyAt: ''").machine("n2", "var/lib/longhorn/replicas/dir-2/volume-snap-a.img.meta", "{}"), false},
		{"second never was, its head lies on a snapshot", base().edit("replica-2", "healthyAt: '2026-01-01T00:00:00Z'", "healthyAt: ''").machine("n2", "var/lib/longhorn/replicas/dir-2/volume.meta", `{"Parent":"volume-snap-a.img"}`), false},
		{"never placed", base().edit("replica-2", "healthyAt: '2026-01-01T00:00:00Z'", "healthyAt: ''").edit("replica-2", "nodeID: n2", "nodeID: ''"), true},
		{"the other one failed", base().edit("replica-2", "healthyAt: '2026-01-01T00:00:00Z'", "healthyAt: ''").edit("replica-2", "nodeID: n2", "nodeID: ''").edit("replica-1", "failedAt: ''", "failedAt: '2026-01-02T11:00:00Z'"), false},
	}
	for _, test := range tests {
		_, r := test.scene.run(t, ReplicaInconsistent)
		got := false
		for _, m := range r.RootCauses[0].Remedies {
			got = got || m.Name == "delete-replica" && strings.HasSuffix(m.Commands[0], "-r-2")
		}
		if got != test.want {
			t.Errorf("%s: got delete-replica offered %t, want %t", test.name, got, test.want)
		}
	}
}
