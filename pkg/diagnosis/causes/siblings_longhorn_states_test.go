package causes

import (
	"strings"
	"testing"
)

const (
	volDoc = "kind: Volume\nmetadata: {name: " + lhVol
	engDoc = "kind: Engine\nmetadata: {name: " + lhVol
	tktDoc = "kind: VolumeAttachment\nmetadata: {name: " + lhVol
	im1Doc = "kind: InstanceManager\nmetadata: {name: instance-manager-n1"
	im1Pod = "name: instance-manager-n1, uid"
	eiDoc  = "kind: EngineImage"
)

// lhSecond is another Longhorn volume of node n1 with its engine, without a pod that was read.
func lhSecond(w *world, more string) *world {
	return w.Add(lhDoc+"Volume\nmetadata: {name: pvc-second, namespace: longhorn-system}\nspec: {size: '1073741824', nodeID: n1, accessMode: rwo, numberOfReplicas: 1, image: 'longhornio/longhorn-engine:v1', dataEngine: v1}\nstatus: {state: attached, robustness: healthy, ownerID: n1, currentNodeID: n1"+more+"}\n",
		lhDoc+"Engine\nmetadata: {name: pvc-second-e-0, namespace: longhorn-system}\nspec: {volumeName: pvc-second, nodeID: n1, active: true, desireState: running}\nstatus: {currentState: running, instanceManagerName: instance-manager-n1}\n")
}

func lhRestart(w *world, at string) *world {
	w.EditIn(im1Pod, "startTime: '2025-12-20T08:00:00Z'", "startTime: '"+at+":00Z'").EditIn(im1Pod, "startedAt: '2025-12-20T08:00:05Z'", "startedAt: '"+at+":05Z'").
		EditIn(im1Pod, "lastTransitionTime: '2025-12-20T08:00:10Z'", "lastTransitionTime: '"+at+":10Z'").EditIn(im1Pod, "creationTimestamp: '2025-12-20T08:00:00Z'", "creationTimestamp: '"+at+":00Z'")
	return w.EditIn(volDoc, "remountRequestedAt: ''", "remountRequestedAt: '"+at+":40Z'")
}

// lhDead says that the disk under the mount of n1 went away and another came.
func lhDead(w *world) *world {
	w.Without("n1", "sys/class/block/sdb").Without("n1", "dev/sdb").Without("n1", "sys/fs/ext4/sdb").Without("n1", "@content/8:16").Without("n1", "proc/fs/jbd2/sdb").Without("n1", "dev/longhorn").Without("n1", "sys/class/iscsi").Without("n1", "@statfs"+w.Stage()).Without("n1", "@statfs"+w.Publish(0))
	w.Entries("n1", "@statfs"+w.Stage(), "@error EIO", "@statfs"+w.Publish(0), "@error EIO")
	return w.Disk("n1", "sdc", "8:32", "device/vendor", "IET     ", "device/model", "VIRTUAL-DISK    ", "device/state", "running").
		Entries("n1", "dev/longhorn/"+lhVol, "@device block 8:32", "sys/class/iscsi_session/session9/targetname", lhIQN, "sys/class/iscsi_session/session9/state", "LOGGED_IN", "sys/class/iscsi_session/session9/device/target9:0:0/9:0:0:1/block/sdc", "@dir")
}

func lhV2(w *world) *world { return w.Edit("dataEngine: v1", "dataEngine: v2") }

// lhIdle lets no replica run; lhImage makes the volume from a backing image.
func lhIdle(w *world) *world {
	for _, n := range []string{"1", "2"} {
		r := lhVol + "-r-" + n
		w.EditIn("kind: Replica\nmetadata: {name: "+r, "currentState: running, instanceManagerName: instance-manager-n"+n, "currentState: stopped, instanceManagerName: ''").
			EditIn("kind: InstanceManager\nmetadata: {name: instance-manager-n"+n, r+": {spec: {name: "+r+"}, status: {state: running}},", "")
	}
	return w
}

func lhImage(w *world, copies, cond string) *world {
	w.EditIn(volDoc, "backingImage: ''", "backingImage: base").EditIn(volDoc, "{type: WaitForBackingImage, status: 'False'}", "{type: WaitForBackingImage, status: '"+cond+"', reason: Waiting}")
	return w.Add(lhDoc + "BackingImage\nmetadata: {name: base, namespace: longhorn-system, creationTimestamp: '2026-01-02T11:00:00Z'}\nspec: {sourceType: download, disks: {disk-n1: '', disk-n2: ''}}\nstatus: {diskFileStatusMap: {" + copies + "}}\n")
}

const lhStuck = "broken: unexplained attach-failed; unexplained pod-waiting-for-volume"

// TestSiblingsOfLonghorn are states as an outsider would write them down.
func TestSiblingsOfLonghorn(t *testing.T) {
	t.Parallel()
	runs := func() *world { return lhRuns(lhWorld("v1.8.1")) }
	waits := func() *world { return lhWaits(lhWorld("v1.8.1")) }
	record := func(state string) *world {
		return waits().EditIn(im1Doc, "instanceEngines: {}", "instanceEngines: {"+lhVol+"-e-0: {spec: {name: "+lhVol+"-e-0}, status: {state: "+state+"}}}")
	}
	crash := func(w *world) *world { // every manager
		for _, n := range []string{"n1", "n2", "n3"} {
			pod := "name: longhorn-manager-" + n + ", uid"
			w = w.EditIn(pod, "ready: true, restartCount: 0, state: {running: {startedAt: '2025-12-20T08:00:05Z'}}", "ready: false, restartCount: 30, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1, reason: Error, finishedAt: '2026-01-02T11:56:00Z'}}").
				EditIn(pod, "status: 'True', lastTransitionTime: '2025-12-20T08:00:10Z'", "status: 'False', lastTransitionTime: '2026-01-02T10:20:10Z'")
		}
		return w
	}
	twin := func() *world { // a second instance-manager of n1, without instances
		return waits().Add(lhDoc + "InstanceManager\nmetadata: {name: instance-manager-twin, namespace: longhorn-system, uid: twin, creationTimestamp: '2026-01-02T11:00:00Z'}\nspec: {nodeID: n1, type: aio, dataEngine: v1, image: 'longhornio/longhorn-instance-manager:v1.8.1'}\nstatus: {currentState: running, ip: 10.42.11.77, ownerID: n1, instanceEngines: {}, instanceReplicas: {}}\n")
	}
	noTicket := func() *world {
		id := ticketID("n1")
		return runs().EditIn(tktDoc, id+": {id: "+id+", type: csi-attacher, nodeID: n1, generation: 0, parameters: {disableFrontend: 'false'}}", "").
			EditIn(tktDoc, id+": {id: "+id+", satisfied: true, generation: 0, conditions: [{type: Satisfied, status: 'True', lastTransitionTime: '2026-01-02T11:30:05Z'}]}", "")
	}
	served := func() *world { return lhShare("v1.8.1") }
	down := func() *world {
		w := served().EditIn("kind: ShareManager", "state: running", "state: error").EditIn(volDoc, "shareState: running", "shareState: error")
		return w.EditIn("name: share-manager-", "phase: Running", "phase: Failed").EditIn("name: share-manager-", "status: 'True', lastTransitionTime: '2025-12-20T08:00:10Z'", "status: 'False', lastTransitionTime: '2026-01-02T11:20:10Z'").
			EditIn("name: share-manager-", "ready: true, restartCount: 0, state: {running: {startedAt: '2025-12-20T08:00:05Z'}}", "ready: false, restartCount: 0, state: {terminated: {exitCode: 1, reason: Error, finishedAt: '2026-01-02T11:20:00Z'}}")
	}
	// unread is a disk whose partitions could not be looked for: no line says that it is attached.
	unread := func(make, sector string) *world {
		return waits().EditIn(engDoc, "currentState: stopped", "currentState: error").
			Kernel("n1", "100|scsi 4:0:0:1: Direct-Access     "+make+"     0001 PQ: 0 ANSI: 5", "99|sd 4:0:0:1: [sdc] 20971520 512-byte logical blocks: (10.7 GB/10.0 GiB)",
				"84|sd 4:0:0:1: [sdc] tag#0 Sense Key : Medium Error [current]", "84|critical medium error, dev sdc, sector "+sector+" op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2")
	}
	// upkeep is a ticket of the UI for n1 that asks for a device or for none.
	upkeep := func(off string) *world {
		return waits().EditIn(tktDoc, "attachmentTickets: {", "attachmentTickets: {longhorn-ui: {id: longhorn-ui, type: longhorn-api, nodeID: n1, generation: 0, parameters: {disableFrontend: '"+off+"'}}, ").
			EditIn(tktDoc, "attachmentTicketStatuses: {", "attachmentTicketStatuses: {longhorn-ui: {satisfied: true, generation: 0, conditions: [{type: Satisfied, status: 'True', lastTransitionTime: '2026-01-02T11:00:00Z'}]}, ")
	}
	// clone is one that was begun at a time; says is what its engine tells of a replica.
	clone := func(at, says string) *world {
		return waits().EditIn(volDoc, "creationTimestamp: '2025-12-01T08:00:00Z'", "creationTimestamp: '"+at+"'").EditIn(volDoc, "restoreRequired: false", "restoreRequired: false, cloneStatus: {state: initiated, sourceVolume: v}").
			EditIn(engDoc, "restoreStatus: {}", "restoreStatus: {}, cloneStatus: {"+says+"}")
	}
	// silenced is an attacher of n1 that the security module keeps from the socket of the plugin.
	silenced := func(mode string) *world {
		w := waits().EditIn("name: csi-attacher-6fbf76ff66-dx454", "nodeName: n3", "nodeName: n1").EditIn("name: csi-attacher-6fbf76ff66-dx454", "args: ['--csi", "volumeMounts: [{name: socket-dir, mountPath: /csi/}], args: ['--csi").
			EditIn("name: csi-attacher-6fbf76ff66-dx454", "{type: Ready, status: 'True'}", "{type: Ready, status: 'False', lastTransitionTime: '2026-01-02T11:30:00Z'}").EditIn("name: csi-attacher-6fbf76ff66-dx454", "ready: true, restartCount: 0, state: {running: {startedAt: '2025-11-07T13:25:00Z'}}", "ready: false, restartCount: 9, state: {waiting: {reason: CrashLoopBackOff}}")
		return w.Entries("n1", "sys/fs/selinux/enforce", mode).Kernel("n1", "50|audit: type=1400 audit(1767355150.1:48): avc:  denied  { connectto } for  pid=3444 comm=\"csi-attacher\" path=\"/csi/csi.sock\" scontext=system_u:system_r:container_t:s0 tcontext=system_u:system_r:container_runtime_t:s0 tclass=unix_stream_socket permissive=0")
	}
	const (
		object = "longhorn-system/" + lhVol
		copied = "longhorn-restore-pending Volume " + object
		image  = "longhorn-engine-image-not-ready EngineImage longhorn-system/ei-51cc7b9c"
		base   = "longhorn-backing-image-unavailable BackingImage longhorn-system/base"
		imr    = "longhorn-instance-manager-restarted Pod longhorn-system/instance-manager-n1"
	)
	for name, c := range map[string]struct {
		want string
		w    *world
	}{
		"healthy": {"healthy", runs()}, "served": {"healthy", served()}, "waits": {lhStuck, waits()},
		"no ticket for its node":                   {"broken: certain longhorn-volume-driven-twice Volume " + object, noTicket()},
		"tickets of another volume only":           {"healthy", noTicket().EditIn(tktDoc, lhVol, "another")},
		"tickets not readable":                     {"unknown", noTicket().Drop(tktDoc).Gap("api/longhorn.io/volumeattachments", "Forbidden")},
		"record of an ended engine":                {"broken: certain longhorn-engine-record-stale Engine " + object + "-e-0", record("stopped")},
		"the same, and nobody writes records":      {"broken: likely longhorn-control-plane-down Pod longhorn-system/longhorn-manager-n1", crash(record("stopped"))},
		"two instance-managers of a kind":          {"broken: certain longhorn-instance-manager-stuck InstanceManager longhorn-system/instance-manager-twin", twin()},
		"two of a kind, and nobody chooses":        {"broken: likely longhorn-control-plane-down Pod longhorn-system/longhorn-manager-n1", crash(twin())},
		"record of an engine that starts":          {lhStuck, record("starting")},
		"record, managers not readable":            {lhStuck, record("stopped").Drop("kind: InstanceManager").Gap("api/longhorn.io/instancemanagers", "Forbidden")},
		"engine image away":                        {"broken: certain " + image, waits().EditIn(eiDoc, "n1: true", "n1: false")},
		"engine image away, 1.5":                   {"broken: certain " + image, lhWaits(lhWorld("v1.5.1")).EditIn(eiDoc, "n1: true", "n1: false").EditIn(volDoc, "image: 'longhornio", "engineImage: 'longhornio").EditIn(engDoc, "image: 'longhornio", "engineImage: 'longhornio")},
		"engine image away, and n3 is down":        {"broken: certain " + image, waits().EditIn(eiDoc, "n1: true", "n1: false").EditIn("metadata: {name: n3, uid", "status: 'True', reason: KubeletReady", "status: 'False', reason: KubeletNotReady")},
		"engine image away, nodes unreadable":      {"broken: likely " + image, waits().EditIn(eiDoc, "n1: true", "n1: false").Drop("apiVersion: v1\nkind: Node\n").Gap("api//nodes", "Forbidden")},
		"a webhook refuses, a manager says":        {"broken: likely longhorn-control-plane-down Service longhorn-system/longhorn-admission-webhook", waits().EditIn("status: {attached: false}", "attached: false", "attached: false, attachError: {time: '2026-01-02T11:58:00Z', message: 'rpc error: code = Internal desc = Bad response statusCode [500]. Body: [message=unable to attach volume: Internal error occurred: failed calling webhook \"mutator.longhorn.io\": failed to call webhook: Post \"https://longhorn-admission-webhook.longhorn-system.svc:9502/v1/webhook/mutation?timeout=10s\": dial tcp 10.96.3.3:9502: connect: connection refused] from [http://longhorn-backend:9500/v1/volumes/v?action=attach]'}")},
		"every copy failed":                        {"broken: certain " + base, lhImage(lhIdle(waits()), "disk-n1: {state: failed, message: 'checksum mismatch'}, disk-n2: {state: failed}", "True")},
		"a copy is made":                           {"waiting: certain " + base + " waiting", lhImage(lhIdle(waits()), "disk-n1: {state: in-progress, progress: 43}, disk-n2: {state: pending}", "True")},
		"no copy is begun for an hour":             {"broken: certain " + base, lhImage(lhIdle(waits()), "disk-n1: {state: pending, lastStateTransitionTime: '2026-01-02T11:00:00Z'}", "True")},
		"copies not readable":                      {"broken: possible " + base + "; unexplained attach-failed; unexplained pod-waiting-for-volume", lhImage(lhIdle(waits()), "disk-n1: {state: failed}", "True").Drop("kind: BackingImage").Gap("api/longhorn.io/backingimages", "Forbidden")},
		"copies ready":                             {lhStuck, lhImage(waits(), "disk-n1: {state: ready}, disk-n2: {state: ready}", "False")},
		"engine larger than its volume":            {"broken: certain longhorn-replica-inconsistent Volume " + object, waits().EditIn(engDoc, "currentSize: '10737418240'", "currentSize: '21474836480'").EditIn(engDoc, "{type: InstanceCreation, status: 'True'}", "{type: InstanceCreation, status: 'False', message: 'expected size 10737418240 should not be smaller than the current size 21474836480'}")},
		"v2 engine fails":                          {"broken: possible longhorn-v2-engine-stuck Volume " + object + "; unexplained attach-failed; unexplained pod-waiting-for-volume", lhV2(waits()).EditIn(engDoc, "currentState: stopped", "currentState: error")},
		"v2 engine is not begun":                   {lhStuck, lhV2(waits())},
		"first read fails, not yet attached":       {"broken: likely longhorn-engine-data-path-broken Node n1", unread("IET      VIRTUAL-DISK", "0")},
		"first read of another vendor's disk":      {lhStuck, unread("QEMU     QEMU HARDDISK", "0")},
		"a later sector cannot be read":            {lhStuck, unread("IET      VIRTUAL-DISK", "88064")},
		"share down with its node":                 {"broken: certain node-down Node n2", notReady(down(), "n2", "2026-01-02T11:00:00Z").Unprobed("n2", "NodeNotReady")},
		"share served, its node is silent":         {"unknown", notReady(served(), "n2", "2026-01-02T11:00:00Z").Unprobed("n2", "NodeNotReady")},
		"share down":                               {"broken: certain longhorn-share-manager-down ShareManager " + object, down()},
		"share down, damage that nobody mounts":    {"broken: likely longhorn-share-manager-down ShareManager " + object, down().Without("n2", "proc/7000").Without("n2", "@content/8:16").Entries("n2", "@content/8:16", "TYPE=ext4\nUUID=2f2f\nSTATE=errors")},
		"share down behind an IPv6 address":        {"broken: likely longhorn-share-manager-down ShareManager " + object, down().EditIn("name: share-manager-", "podIP: 10.42.12.30, podIPs: [{ip: 10.42.12.30}]", "podIP: 'fd42::30', podIPs: [{ip: 'fd42::30'}]")},
		"the same, those who dial it were heard":   {"broken: certain longhorn-share-manager-down ShareManager " + object, down().EditIn("name: share-manager-", "podIP: 10.42.12.30, podIPs: [{ip: 10.42.12.30}]", "podIP: 'fd42::30', podIPs: [{ip: 'fd42::30'}]").File("logs/longhorn-system/share-manager-"+lhVol+"/share-manager.log", `time="2026-01-02T11:58:00Z" level=info msg="Waiting"`+"\n")},
		"share down, its object may not be read":   {"broken: likely longhorn-share-manager-down ShareManager " + object, down().Drop("kind: ShareManager").Gap("api/longhorn.io/sharemanagers", "Forbidden")},
		"share served, its object may not be read": {"unknown", served().Drop("kind: ShareManager").Gap("api/longhorn.io/sharemanagers", "Forbidden")},
		"share down, its disk wants a check": {"broken: certain filesystem-needs-fsck Device n2/8:16", down().Without("n2", "proc/7000/").Without("n2", "sys/fs/ext4/sdb").Without("n2", "proc/fs/jbd2/sdb").Without("n2", "@content/8:16").Entries("n2", "@content/8:16", "TYPE=ext4\nUUID=1f\nSTATE=errors", "@claim/8:16", "free").
			File("logs/longhorn-system/share-manager-"+lhVol+"/share-manager.log", `time="2026-01-02T11:58:00Z" level=error msg="Failed to mount volume" error="'fsck' found errors on device /dev/longhorn/`+lhVol+` but could not correct them: fsck from util-linux 2.37.4\n/dev/longhorn/`+lhVol+`: UNEXPECTED INCONSISTENCY; RUN fsck MANUALLY." volume=`+lhVol+"\n")},
		"restart, two volumes, mount dead":  {"broken: certain " + imr, lhSecond(lhDead(lhRestart(runs(), "2026-01-02T11:40")), ", remountRequestedAt: '2026-01-02T11:40:50Z'")},
		"restart, mount dead":               {"broken: likely " + imr, lhDead(lhRestart(runs(), "2026-01-02T11:40"))},
		"restart, mount alive":              {"healthy", lhRestart(runs(), "2026-01-02T11:40")},
		"restart before the pod":            {"healthy", lhRestart(runs(), "2025-12-30T11:40")},
		"attached by hand without a device": {"broken: certain longhorn-attachment-ticket-leftover Volume " + object, upkeep("true").EditIn(volDoc, "currentNodeID: ''", "currentNodeID: n1")},
		"attached by hand with a device":    {lhStuck, upkeep("false").EditIn(volDoc, "currentNodeID: ''", "currentNodeID: n1")},
		"a clone has just begun":            {"waiting: certain " + copied + " waiting", clone("2026-01-02T11:40:00Z", "")},
		"a clone moves":                     {"waiting: certain " + copied + " waiting", clone("2026-01-02T01:40:00Z", "'tcp://10.42.11.20:10010': {isCloning: true, progress: 40, state: in_progress}")},
		"nobody is at a clone":              {"broken: certain " + copied, clone("2026-01-02T01:40:00Z", "")},
		"the attacher may not connect":      {"broken: certain security-module-denies Pod longhorn-system/csi-attacher-6fbf76ff66-dx454", silenced("1")},
		"the attacher is down, and may":     {"broken: certain attacher-not-working Pod longhorn-system/csi-attacher-6fbf76ff66-dx454", silenced("0")},
		"restart without effect":            {"healthy", lhRestart(runs(), "2026-01-02T11:40").EditIn(volDoc, "remountRequestedAt: '2026-01-02T11:40:40Z'", "remountRequestedAt: ''")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.w, "pvc shop/data", c.want)
		})
	}
	log := "logs/longhorn-system/share-manager-" + lhVol + "/share-manager.log"
	_, r := down().File(log, "02/01/2026 11:58:10 : epoch 1 : share-manager : nfs-ganesha-35[main] longhorn_recov_init :CLIENT ID :EVENT :HTTP call error: res=-1 ((null))\n").Verdict(t, Catalog(), "pvc shop/data")
	if !strings.Contains(r.RootCauses[0].Message, "longhorn-recovery-backend:9503") {
		t.Errorf("the recovery backend is not named: %s", r.RootCauses[0].Message)
	}
}

// TestLonghornUnreadable takes one list away from volumes that work: nothing is named.
func TestLonghornUnreadable(t *testing.T) {
	t.Parallel()
	kinds := map[string]string{"volumes": "Volume", "engines": "Engine", "replicas": "Replica", "instancemanagers": "InstanceManager", "volumeattachments": "VolumeAttachment", "engineimages": "EngineImage", "nodes": "Node", "settings": "Setting", "sharemanagers": "ShareManager"}
	for name, one := range map[string]func() *world{"rwo": func() *world { return lhRuns(lhWorld("v1.12.0")) }, "v2": func() *world { return lhV2(lhRuns(lhWorld("v1.8.1"))) }, "rwx": func() *world { return lhShare("v1.7.2") }} {
		for resource, kind := range kinds {
			t.Run(name+" without "+resource, func(t *testing.T) {
				t.Parallel()
				show(t, one().Drop(lhDoc+kind+"\n").Gap("api/longhorn.io/"+resource, "Forbidden"), "pvc shop/data", "unknown")
			})
		}
	}
}

// TestMigrationSource is a live migration that both ends have had for 40 minutes, while
// the source pod is told to end.
func TestMigrationSource(t *testing.T) {
	t.Parallel()
	told := func(at string) *world {
		w := lhRuns(lhWorld("v1.8.1")).EditIn(volDoc, "migratable: false", "migratable: true").EditIn(volDoc, "accessMode: rwo", "accessMode: rwx").Edit("volumeMode: Filesystem", "volumeMode: Block").
			Edit("accessModes: [ReadWriteOnce]\n", "accessModes: [ReadWriteMany]\n").Edit("accessModes: [ReadWriteOnce]", "accessModes: [ReadWriteMany]").EditIn(volDoc, "migrationNodeID: ''", "migrationNodeID: n2").EditIn(volDoc, "currentMigrationNodeID: ''", "currentMigrationNodeID: n2")
		id := ticketID("n2")
		w.EditIn(tktDoc, "attachmentTickets: {", "attachmentTickets: {"+id+": {id: "+id+", type: csi-attacher, nodeID: n2, generation: 0}, ").
			EditIn(tktDoc, "attachmentTicketStatuses: {", "attachmentTicketStatuses: {"+id+": {satisfied: true, generation: 0, conditions: [{type: Satisfied, status: 'True', lastTransitionTime: '2026-01-02T11:20:00Z'}]}, ")
		return w.EditIn("name: web-0, uid", "creationTimestamp: '2025-12-31T12:00:00Z'", "creationTimestamp: '2025-12-31T12:00:00Z', deletionTimestamp: '"+at+"', deletionGracePeriodSeconds: 30")
	}
	named := func(at string) bool {
		_, r := told(at).Verdict(t, Catalog(), "pvc shop/data")
		return len(r.RootCauses) > 0 && r.RootCauses[0].Name == "longhorn-migration-inconsistent"
	}
	if !named("2026-01-02T11:25:00Z") || named("2026-01-02T11:59:50Z") {
		t.Error("a source that does not end is to be named, one that was told to ten seconds ago is not")
	}
}

// TestLonghornUnwanted are states from which nobody suffers, and that are no health.
func TestLonghornUnwanted(t *testing.T) {
	t.Parallel()
	runs := func() *world { return lhRuns(lhWorld("v1.8.1")) }
	idle := func() *world {
		return lhWaits(lhWorld("v1.8.1")).Drop("name: web-0, uid").Drop("kind: VolumeAttachment\nmetadata: {name: " + ticketID("n1")).Drop(tktDoc).Drop(lhDoc + "Volume\n").Drop(lhDoc + "Engine\n").Drop(lhDoc + "Replica\n")
	}
	const node3 = lhDoc + "Node\nmetadata: {name: n3, "
	const im3 = "kind: InstanceManager\nmetadata: {name: instance-manager-n3"
	rebuilt := func(times, last string) *world {
		return runs().EditIn(volDoc, "robustness: healthy", "robustness: degraded").Add("apiVersion: v1\nkind: Event\nmetadata: {namespace: longhorn-system, name: r1}\ninvolvedObject: {kind: Engine, namespace: longhorn-system, name: " + lhVol + "-e-0}\nreason: FailedRebuilding\nmessage: 'Failed rebuilding replica with Address 10.42.13.20:10000: HTTP/1.1 400 Invalid header'\ntype: Warning\ncount: " + times + "\nfirstTimestamp: '2026-01-02T09:00:00Z'\nlastTimestamp: '" + last + "'\n")
	}
	ended := func() *world { return runs().EditIn(im3, "currentState: running", "currentState: error") }
	unwanted := backupRuns("v1.9.0").Drop("kind: Backup\n").Drop("kind: Pod\nmetadata: {namespace: shop, name: web-0").Drop("kind: VolumeAttachment\nmetadata: {name: " + ticketID("n1") + ", uid")
	for name, c := range map[string]struct {
		question, want string
		w              *world
	}{
		"a volume that does not go":      {"pvc shop/data", "broken: unexplained claim-pending", runs().EditIn(volDoc, "creationTimestamp: '2025-12-01T08:00:00Z'", "creationTimestamp: '2025-12-01T08:00:00Z', deletionTimestamp: '2026-01-02T10:00:00Z', finalizers: [longhorn.io]")},
		"a volume that goes":             {"pvc shop/data", "healthy", runs().EditIn(volDoc, "creationTimestamp: '2025-12-01T08:00:00Z'", "creationTimestamp: '2025-12-01T08:00:00Z', deletionTimestamp: '2026-01-02T11:59:00Z', finalizers: [longhorn.io]")},
		"a ticket that nobody waits for": {"pvc shop/data", "degraded: likely longhorn-attachment-ticket-leftover Volume longhorn-system/" + lhVol, unwanted},
		"a disk of a node":               {"node n3", "degraded: likely longhorn-disk-unusable Node n3", runs().EditIn(node3, "storageScheduled: 10737418240, conditions: [{type: Ready, status: 'True'}", "storageScheduled: 10737418240, conditions: [{type: Ready, status: 'False', reason: DiskNotReady}")},
		"the same, for a claim":          {"pvc shop/data", "healthy", runs().EditIn(node3, "storageScheduled: 10737418240, conditions: [{type: Ready, status: 'True'}", "storageScheduled: 10737418240, conditions: [{type: Ready, status: 'False', reason: DiskNotReady}")},
		"a manager of a node is down":    {"node n3", "degraded: certain longhorn-control-plane-down Pod longhorn-system/longhorn-manager-n3", runs().EditIn(node3, "status: {conditions: [{type: Ready, status: 'True'}", "status: {conditions: [{type: Ready, status: 'False', reason: ManagerPodDown}").EditIn("name: longhorn-manager-n3, uid", "ready: true, restartCount: 0, state: {running: {startedAt: '2025-12-20T08:00:05Z'}}", "ready: false, restartCount: 0, state: {waiting: {reason: ImagePullBackOff}}").EditIn("name: longhorn-manager-n3, uid", "status: 'True', lastTransitionTime: '2025-12-20T08:00:10Z'", "status: 'False', lastTransitionTime: '2026-01-02T11:20:10Z'")},
		"rebuilds fail":                  {"pvc shop/data", "degraded: unexplained volume-degraded", rebuilt("14", "2026-01-02T11:57:00Z")},
		"a rebuild failed once":          {"pvc shop/data", "healthy", rebuilt("1", "2026-01-02T11:57:00Z")},
		"rebuilds failed before":         {"pvc shop/data", "healthy", rebuilt("14", "2026-01-02T10:57:00Z")},
		"an instance-manager is gone":    {"node n3", "healthy: likely longhorn-instance-manager-restarted Pod longhorn-system/instance-manager-n3", ended().Drop("name: instance-manager-n3, uid")},
		"one that begins":                {"node n3", "healthy", ended().EditIn("name: instance-manager-n3, uid", "creationTimestamp: '2025-12-20T08:00:00Z'", "creationTimestamp: '2026-01-02T11:59:00Z'")},
		"one of an older release":        {"node n3", "healthy", ended().Add(lhDoc + "Setting\nmetadata: {name: default-instance-manager-image, namespace: longhorn-system}\nvalue: other\n")},
		"Longhorn lost the volume":       {"pvc shop/data", "broken: unexplained claim-pending", idle()},
		"volumes were not read":          {"pvc shop/data", "unknown", idle().Gap("api/longhorn.io/volumes", "Forbidden")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.w, c.question, c.want)
		})
	}
}
