package longhorn

import (
	"slices"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// held is the scene with the volume attached on n2 by another ticket.
func held(ticket, status string) *scene {
	s := newScene().edit("volume", "state: attaching", "state: attached").edit("volume", "nodeID: n1,", "nodeID: n2,").edit("volume", "ownerID: n1", "ownerID: n1, currentNodeID: n2")
	return s.edit("tickets", "attachmentTickets: {", "attachmentTickets: {"+ticket+", ").edit("tickets", "attachmentTicketStatuses: {", "attachmentTicketStatuses: {"+status)
}

func TestAttachmentTicketLeftover(t *testing.T) {
	t.Parallel()
	gone := "csi-0000: {type: csi-attacher, nodeID: n2, generation: 0}"
	backup := "backup-controller-b1: {type: backup-controller, nodeID: n2, generation: 0}"
	clone := "volume-clone-controller-a: {type: volume-clone-controller, nodeID: n2, generation: 0}"
	changed := func(at string) string {
		return "volume-clone-controller-a: {satisfied: true, generation: 0, conditions: [{type: Satisfied, status: 'True', lastTransitionTime: '" + at + "'}]}, "
	}
	cloned := func(at, state string) *scene {
		return held(clone, changed(at)).edit("volume", "ownerID: n1", "ownerID: n1, cloneStatus: {state: "+state+"}")
	}
	va := snapshot.AttachmentName(vol, snapshot.LonghornDriver, "n2")
	certain := []string{"certain Volume " + vol}
	check(t, AttachmentTicketLeftover, []branch{
		{"csi ticket without attachment", held(gone, ""), certain},
		{"attachments were not read", held(gone, "").file("snapshot.yaml", gapped("api/storage.k8s.io/volumeattachments")), silent},
		{"volume is on a third node", held(gone, "").edit("volume", "nodeID: n2,", "nodeID: n3,").edit("volume", "currentNodeID: n2", "currentNodeID: n3"), silent},
		{"another ticket needs the node, too", held(gone+", restore: {type: volume-restore-controller, nodeID: n2, generation: 0}", ""), silent},
		{"csi ticket with its attachment", held(va+": {type: csi-attacher, nodeID: n2, generation: 0}", "").
			add("va-2", "apiVersion: storage.k8s.io/v1\nkind: VolumeAttachment\nmetadata: {name: "+va+"}\nspec: {attacher: driver.longhorn.io, nodeName: n2, source: {persistentVolumeName: "+vol+"}}\nstatus: {attached: true}\n"), silent},
		{"backup that is gone", held(backup, ""), certain},
		{"backup in progress", held(backup, "").add("backup", lhAPI+"Backup\nmetadata: {name: b1, namespace: longhorn-system, creationTimestamp: '2026-01-02T11:50:00Z'}\nstatus: {state: InProgress}\n"), silent},
		{"backup that is gone, one with a longer name lives", held(backup, "").add("backup", lhAPI+"Backup\nmetadata: {name: b12, namespace: longhorn-system}\nstatus: {state: InProgress}\n"), certain},
		{"backup in progress, one whose name is the end of it failed", held(strings.ReplaceAll(backup, "b1", "a-b1"), "").
			add("backup", lhAPI+"Backup\nmetadata: {name: a-b1, namespace: longhorn-system, creationTimestamp: '2026-01-02T11:50:00Z'}\nstatus: {state: InProgress}\n").
			add("other", lhAPI+"Backup\nmetadata: {name: b1, namespace: longhorn-system}\nstatus: {state: Error}\n"), silent},
		{"the one that waits is left over, too", held(gone, "").drop("va"), silent},
		{"clone that ended half an hour ago", cloned("2026-01-02T11:30:00Z", "completed"), certain},
		{"clone that ended just now", cloned("2026-01-02T11:59:00Z", "completed"), silent},
		{"clone that goes on", cloned("2026-01-02T11:30:00Z", "initiated"), silent},
		{"made by hand, another waits", held("longhorn-ui: {type: longhorn-api, nodeID: n2, generation: 0}", ""), certain},
		{"made by hand, nobody waits, no date", held("longhorn-ui: {type: longhorn-api, nodeID: n2, generation: 0}", "").drop("va").drop("pod").
			edit("tickets", snapshot.AttachmentName(vol, snapshot.LonghornDriver, "n1")+": {type: csi-attacher, nodeID: n1, generation: 0}", ""), silent},
	})
}

// TestManualTicket is a ticket made by hand on a node while no pod names the claim.
func TestManualTicket(t *testing.T) {
	t.Parallel()
	waits := snapshot.AttachmentName(vol, snapshot.LonghornDriver, "n1") + ": {type: csi-attacher, nodeID: n1, generation: 0}"
	manual := func(status string) *scene {
		return held("longhorn-ui: {type: longhorn-api, nodeID: n2, generation: 0}", status).drop("va").drop("pod").edit("tickets", waits, "")
	}
	since := "longhorn-ui: {satisfied: true, generation: 0, conditions: [{type: Satisfied, status: 'True', lastTransitionTime: '2026-01-02T09:00:00Z'}]}, "
	cordoned := func() *scene {
		return manual("").edit("node-n2", "metadata: {name: n2}", "metadata: {name: n2}\nspec: {unschedulable: true}")
	}
	app := "apiVersion: v1\nkind: Pod\nmetadata: {namespace: shop, name: other}\nspec: {nodeName: n2, containers: [{name: a, image: i}]}\nstatus: {phase: Running}\n"
	certain, likely := []string{"certain Volume " + vol}, []string{"likely Volume " + vol}
	snapshots := func(since string) *scene {
		return held("snapshot-controller-s1: {type: snapshot-controller, nodeID: n2, generation: 0}", strings.ReplaceAll(since, "longhorn-ui", "snapshot-controller-s1")).drop("va").drop("pod").edit("tickets", waits, "")
	}
	check(t, AttachmentTicketLeftover, []branch{
		{"for hours", manual(since), likely},
		{"for hours, its pods were not recorded", manual(since).edit("volume", "ownerID: n1", "ownerID: n1, kubernetesStatus: {lastPodRefAt: 'null', workloadsStatus: [{podName: db-0, podStatus: Running}]}"), silent},
		{"for hours, pods were not read", manual(since).file("snapshot.yaml", gapped("api//pods")), silent},
		{"cordoned, only its DaemonSets were read", cordoned().add("daemon", strings.ReplaceAll(app, "name: other", "name: proxy, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: proxy, uid: d, controller: true}]")).file("snapshot.yaml", gapped("api//pods")), silent},
		{"snapshot that is gone, no Snapshot was seen", snapshots(since), likely},
		{"snapshot that is gone, others exist", snapshots(since).add("s", lhAPI+"Snapshot\nmetadata: {name: s2, namespace: longhorn-system}\n"), certain},
		{"snapshot, five minutes ago", snapshots(strings.ReplaceAll(since, "09:00:00", "11:55:00")), silent},
		{"cordoned, an hour of nothing", cordoned().add("app", app), silent},
		{"cordoned, eviction refused", cordoned().add("app", app).event("Pod", "im-n2", "EvictionBlocked", "Cannot evict pod as it would violate the pod's disruption budget.", 9, "2026-01-02T11:59:00Z"), certain},
		{"cordoned, only its DaemonSets are left", cordoned().add("daemon", strings.ReplaceAll(app, "name: other", "name: proxy, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: proxy, uid: d, controller: true}]")), certain},
	})
}

// TestManualTicketIsAWish: what somebody attached by hand, and may work with, does not stay attached for nobody.
func TestManualTicketIsAWish(t *testing.T) {
	t.Parallel()
	waits := snapshot.AttachmentName(vol, snapshot.LonghornDriver, "n1") + ": {type: csi-attacher, nodeID: n1, generation: 0}"
	tickets := "longhorn-ui: {type: longhorn-api, nodeID: n2, generation: 0}"
	for ticket, stays := range map[string]bool{tickets: false, "gone: {type: csi-attacher, nodeID: n2, generation: 0}": true} {
		s := held(tickets, "").drop("va").drop("pod").edit("tickets", waits, "").edit("tickets", tickets, ticket)
		_, r := s.run(t, AttachmentTicketLeftover)
		if got := slices.ContainsFunc(r.Symptoms, func(s report.Symptom) bool { return s.Name == "detach-stuck" }); got != stays {
			t.Errorf("with the ticket %q it stays attached for nobody: %v, want %v", ticket, got, stays)
		}
	}
}

func TestVolumeFaulted(t *testing.T) {
	t.Parallel()
	faulted := func() *scene {
		s := newScene().edit("volume", "robustness: unknown", "robustness: faulted")
		return s.edit("replica-1", "failedAt: ''", "failedAt: '2026-01-02T11:00:00Z'").edit("replica-2", "failedAt: ''", "failedAt: '2026-01-02T11:00:20Z'")
	}
	check(t, VolumeFaulted, []branch{
		{"faulted, no node looked at", faulted(), []string{"certain Volume " + vol}},
		{"unknown while detached", newScene(), silent},
		{"restore", faulted().edit("volume", "ownerID: n1", "ownerID: n1, restoreRequired: true"), silent},
		{"one replica runs and never failed", faulted().edit("replica-1", "failedAt: '2026-01-02T11:00:00Z'", "failedAt: ''"), silent},
		{"replicas were not read", faulted().drop("replica-1").drop("replica-2").file("snapshot.yaml", gapped("api/longhorn.io/replicas")), []string{"likely Volume " + vol}},
		{"replicas were not read, detached", faulted().edit("volume", "state: attaching", "state: detached").drop("replica-1").drop("replica-2").file("snapshot.yaml", gapped("api/longhorn.io/replicas")), []string{"certain Volume " + vol}},
		{"no replica is left", faulted().drop("replica-1").drop("replica-2"), []string{"certain Volume " + vol}},
		{"none was ever placed", newScene().edit("volume", "robustness: unknown", "robustness: faulted").edit("volume", "{type: Scheduled, status: 'True'}", "{type: Scheduled, status: 'False'}").drop("replica-1").drop("replica-2"), silent},
		{"none is left of a volume with data, and none finds a place", newScene().edit("volume", "robustness: unknown", "robustness: faulted, actualSize: 4096").edit("volume", "{type: Scheduled, status: 'True'}", "{type: Scheduled, status: 'False'}").drop("replica-1").drop("replica-2"), []string{"certain Volume " + vol}},
		{"written as null by a bundle", newScene().edit("replica-1", "failedAt: ''", "failedAt: 'null'"), silent},
	})
}

// TestFaultedOfGoneNode: a replica's node that left the cluster is to be brought back.
func TestFaultedOfGoneNode(t *testing.T) {
	t.Parallel()
	s := newScene().edit("volume", "robustness: unknown", "robustness: faulted").drop("node-n2")
	s.edit("replica-1", "failedAt: ''", "failedAt: '2026-01-02T11:00:00Z'").edit("replica-2", "failedAt: ''", "failedAt: '2026-01-02T11:00:20Z'")
	_, r := s.run(t, VolumeFaulted)
	if len(r.RootCauses) != 1 || !strings.Contains(r.RootCauses[0].Message, "Replicas lie on nodes that are down or gone: n2.") {
		t.Errorf("got %+v, want the node that is gone", r.RootCauses)
	}
}

// TestNothingToSalvage: where no replica is left, salvage is not advised.
func TestNothingToSalvage(t *testing.T) {
	t.Parallel()
	gone := func() *scene {
		return newScene().edit("volume", "robustness: unknown", "robustness: faulted").drop("replica-1").drop("replica-2")
	}
	orphan := lhAPI + "Orphan\nmetadata: {name: orphan-1, namespace: longhorn-system}\nspec: {nodeID: n2, orphanType: replica-data, parameters: {DataName: " + vol + "-0a1b2c3d}}\n"
	for _, c := range []struct {
		name  string
		scene *scene
		says  string
	}{
		{"nothing is left", gone(), "nothing can be salvaged"},
		{"an orphan is left", gone().add("orphan", orphan), vol + "-0a1b2c3d on node n2"},
		{"a directory is left", gone().machine("n2", "var/lib/longhorn/replicas/"+vol+"-0a1b2c3d/volume.meta", "{}"), vol + "-0a1b2c3d on node n2"},
	} {
		_, r := c.scene.run(t, VolumeFaulted)
		if len(r.RootCauses) != 1 || !strings.Contains(r.RootCauses[0].Message, c.says) {
			t.Fatalf("%s: want %q, got %+v", c.name, c.says, r.RootCauses)
		}
		for _, m := range r.RootCauses[0].Remedies {
			if strings.Contains(m.Title, "salvage the volume") {
				t.Errorf("%s: it advises: %s", c.name, m.Title)
			}
		}
	}
}

func TestRemountPending(t *testing.T) {
	t.Parallel()
	asked := func(at string) *scene {
		s := newScene().edit("volume", "state: attaching", "state: attached").edit("volume", "ownerID: n1", "ownerID: n1, currentNodeID: n1, remountRequestedAt: '"+at+"'")
		return s.edit("pod", "status: {phase: Pending}", "status: {phase: Running, startTime: '2026-01-02T11:30:00Z', containerStatuses: [{name: app, ready: true, state: {running: {startedAt: '2026-01-02T11:30:00Z'}}}]}").edit("va", "attached: false", "attached: true")
	}
	owned := func(at string) *scene {
		return asked(at).edit("pod", "uid: u,", "uid: u, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: s, controller: true}],")
	}
	const sick = "apiVersion: v1\nkind: Pod\nmetadata: {namespace: longhorn-system, name: longhorn-manager-x, labels: {app: longhorn-manager}}\nspec: {nodeName: n1, containers: [{name: m, image: m}]}\nstatus: {phase: Running, conditions: [{type: Ready, status: 'False'}]}\n"
	for manager, want := range map[string]bool{"": true, sick: false} {
		s := owned("2026-01-02T11:45:00Z")
		if manager != "" {
			s.add("m", manager)
		}
		_, r := s.run(t, RemountPending)
		if got := slices.ContainsFunc(r.RootCauses[0].Remedies, func(m report.Remedy) bool { return strings.Contains(m.Title, "elete pod") }); got != want {
			t.Errorf("a pod is to be deleted: %t, want %t", got, want)
		}
	}
	certain := []string{"certain Pod db-0"}
	check(t, RemountPending, []branch{
		{"bare pod", asked("2026-01-02T11:45:00Z"), certain},
		{"owned, the setting is off", owned("2026-01-02T11:45:00Z").add("auto", lhAPI+"Setting\nmetadata: {name: auto-delete-pod-when-volume-detached-unexpectedly, namespace: longhorn-system}\nvalue: 'false'\n"), certain},
		{"owned, the manager of the node is not Ready", owned("2026-01-02T11:45:00Z").add("m", sick), certain},
		{"owned, a quarter of an hour ago", owned("2026-01-02T11:45:00Z"), []string{"likely Pod db-0"}},
		{"owned, three seconds ago", owned("2026-01-02T11:59:57Z"), certain},
		{"before the pod started", asked("2026-01-02T11:00:00Z"), silent},
		{"bare pod, started again later: a boot would have mounted anew", asked("2026-01-02T11:45:00Z").edit("pod", "startedAt: '2026-01-02T11:30:00Z'", "startedAt: '2026-01-02T11:50:00Z'").edit("node-n1", "2026-01-01T00:00:00Z", "2026-01-02T11:49:00Z"), []string{"likely Pod db-0"}},
		{"bare pod, started again on a node that was Ready all the time", asked("2026-01-02T11:45:00Z").edit("pod", "startedAt: '2026-01-02T11:30:00Z'", "startedAt: '2026-01-02T11:50:00Z'"), certain},
		{"shared volume without an error, 1.8", asked("2026-01-02T11:45:00Z").edit("volume", "accessMode: rwo", "accessMode: rwx").add("version", release("v1.8.1")), silent},
		{"shared volume without an error, 1.6", asked("2026-01-02T11:45:00Z").edit("volume", "accessMode: rwo", "accessMode: rwx").add("version", release("v1.6.2")), certain},
		{"shared volume without an error, 1.12", asked("2026-01-02T11:45:00Z").edit("volume", "accessMode: rwo", "accessMode: rwx").add("version", release("v1.12.0")), certain},
		{"shared volume without an error", asked("2026-01-02T11:45:00Z").edit("volume", "accessMode: rwo", "accessMode: rwx"), silent},
	})
}

func release(version string) string {
	return lhAPI + "Setting\nmetadata: {name: current-longhorn-version, namespace: longhorn-system}\nvalue: " + version + "\n"
}
