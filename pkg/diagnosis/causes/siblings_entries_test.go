package causes

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/render"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// starts is a second volume whose engine is to start on n1, too.
func starts(w *world) *world {
	w.EditIn(engDoc, "currentState: stopped", "currentState: starting").EditIn(engDoc, "instanceManagerName: ''", "instanceManagerName: instance-manager-n1")
	return w.Add(lhDoc+"Volume\nmetadata: {name: pvc-second, namespace: longhorn-system, creationTimestamp: '2025-12-01T08:00:00Z'}\nspec: {size: '1073741824', nodeID: n1, accessMode: rwo, numberOfReplicas: 1, image: 'longhornio/longhorn-engine:v1.7.2', dataEngine: v1, frontend: blockdev}\nstatus: {state: attaching, robustness: unknown, ownerID: n1, currentNodeID: '', currentImage: 'longhornio/longhorn-engine:v1.7.2'}\n",
		lhDoc+"Engine\nmetadata: {name: pvc-second-e-0, namespace: longhorn-system, labels: {longhornvolume: pvc-second}}\nspec: {volumeName: pvc-second, nodeID: n1, active: true, desireState: running, image: 'longhornio/longhorn-engine:v1.7.2', dataEngine: v1}\nstatus: {currentState: starting, instanceManagerName: instance-manager-n1, currentImage: ''}\n",
		lhDoc+"VolumeAttachment\nmetadata: {name: pvc-second, namespace: longhorn-system}\nspec: {volume: pvc-second, attachmentTickets: {csi-b: {id: csi-b, type: csi-attacher, nodeID: n1, generation: 0}}}\nstatus: {attachmentTicketStatuses: {csi-b: {satisfied: false, generation: 0, conditions: [{type: Satisfied, status: 'False', lastTransitionTime: '2026-01-02T11:31:00Z'}]}}}\n")
}

// TestListThatIsNotGot: longhorn-manager says in its client's words that an instance-manager does not answer.
func TestListThatIsNotGot(t *testing.T) {
	t.Parallel()
	said := func(im, words string) *world {
		return starts(lhWaits(lhWorld("v1.7.2"))).File("logs/longhorn-system/longhorn-manager-n1/longhorn-manager.log", "time=\"2026-01-02T11:58:40Z\" level=error msg=\"Failed to poll instance info to update instance manager\" error=\""+words+": rpc error: code = DeadlineExceeded desc = context deadline exceeded\" controller=longhorn-instance-manager instanceManager="+im+"\n")
	}
	const hangs = " longhorn-instance-manager-stuck InstanceManager longhorn-system/instance-manager-n1"
	showEach(t, map[string]shown{
		"of processes":          {said("instance-manager-n1", "failed to list processes"), "broken: certain" + hangs},
		"of instances":          {said("instance-manager-n1", "failed to list instances"), "broken: certain" + hangs},
		"of another manager":    {said("instance-manager-n3", "failed to list instances"), "broken: likely" + hangs},
		"something else failed": {said("instance-manager-n1", "failed to get version"), "broken: likely" + hangs},
	})
}

// TestLineBelowADatedOne: what SPDK prints without a time belongs to the record above it.
func TestLineBelowADatedOne(t *testing.T) {
	t.Parallel()
	said := func(at string) *world {
		w := lhV2(lhWaits(lhWorld("v1.8.1"))).EditIn(engDoc, "currentState: stopped", "currentState: error").
			EditIn(lhDoc+"Node\nmetadata: {name: n1,", "{type: HugePagesAvailable, status: 'True'}", "{type: HugePagesAvailable, status: 'False', reason: InsufficientHugePages, message: 'Insufficient HugePages-2Mi on node n1: 1024 required, 0 configured'}")
		return w.File("logs/longhorn-system/instance-manager-n1/instance-manager.log", at+"[ DPDK EAL parameters: spdk_tgt --no-shconf ]\nEAL: No free 2048 kB hugepages reported on node 0\nEAL: FATAL: Cannot get hugepage information.\n")
	}
	const short = " longhorn-v2-memory-short Node n1"
	showEach(t, map[string]shown{
		"of a minute ago": {said("[2026-01-02 11:58:40.100000] "), "broken: certain" + short},
		"of hours ago":    {said("[2026-01-02 08:58:40.100000] "), "broken: likely" + short},
		"below no date":   {said(""), "broken: likely" + short},
	})
}

// TestDirectoryThatServesElsewhere: Longhorn's disk is a directory of the root filesystem on every node; that
// nothing is mounted there is no fault.
func TestDirectoryThatServesElsewhere(t *testing.T) {
	t.Parallel()
	lost := func() *world {
		r := "kind: Replica\nmetadata: {name: " + lhVol + "-r-2"
		w := lhRuns(lhWorld("v1.7.2")).EditIn(volDoc, "robustness: healthy", "robustness: degraded").EditIn(engDoc, lhVol+"-r-2: RW", lhVol+"-r-2: ERR").EditIn(r, "failedAt: '', lastFailedAt: ''", "failedAt: '2026-01-02T11:20:02Z', lastFailedAt: ''").EditIn(r, "currentState: running, instanceManagerName: instance-manager-n2", "currentState: stopped, instanceManagerName: ''")
		w.EditIn(lhDoc+"Node\nmetadata: {name: n2,", "storageScheduled: 10737418240, conditions: [{type: Ready, status: 'True'}", "storageScheduled: 10737418240, conditions: [{type: Ready, status: 'False', reason: DiskFilesystemChanged, message: \"record diskUUID doesn't match the one on the disk\"}")
		return w.Without("n2", "var/lib/longhorn/longhorn-disk.cfg")
	}
	own := func(w *world, nodes ...string) *world {
		for _, n := range nodes {
			w.Mounts(n, "8:48 / /var/lib/longhorn rw,relatime shared:70 - ext4 /dev/sdd rw").Disk(n, "sdd", "8:48")
		}
		return w
	}
	showEach(t, map[string]shown{
		"a directory everywhere":         {lost(), "degraded: likely longhorn-disk-unusable Node n2"},
		"a disk of its own on others":    {own(lost(), "n1", "n3"), "degraded: certain longhorn-disk-unusable Node n2"},
		"other nodes were not looked at": {lost().Unprobed("n1", "PodRejected").Unprobed("n3", "PodRejected"), "degraded: certain longhorn-disk-unusable Node n2"},
	})
}

// TestWatcherOfALivingNode: a watch lasts half a minute longer than its client. At the address of a node from
// which nobody was seen to go it is that of a client that lives.
func TestWatcherOfALivingNode(t *testing.T) {
	t.Parallel()
	const used = "MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = rbd image kube/csi-vol-bbbb is still being used"
	watched := func() *world {
		return rbd().Waits().Attached("n1").FailedMount(used + ": watcher=10.0.0.12:0/3411223344 client.64123 cookie=18446")
	}
	left := func() *world {
		return second(watched(), "web-9", "n2", "", "Running", ", deletionTimestamp: '2026-01-02T11:58:30Z', deletionGracePeriodSeconds: 30")
	}
	showEach(t, map[string]shown{
		"nobody was seen to go":       {watched(), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"a pod goes from that node":   {left(), "broken: certain rbd-lock-or-watcher-stale PersistentVolume pv-data"},
		"it is one of its pods":       {left().Edit("watcher=10.0.0.12", "watcher=10.42.12.9"), "waiting: likely rbd-lock-or-watcher-stale PersistentVolume pv-data waiting"},
		"a pod goes from another one": {left().EditIn("name: web-9", "nodeName: n2", "nodeName: n3"), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
	})
	_, r := watched().Unprobed("n2", "PodRejected").Verdict(t, Catalog(), "pvc shop/data")
	if !slices.ContainsFunc(r.NotChecked, func(n report.NotChecked) bool { return n.Node == "n2" }) {
		t.Errorf("nobody looked at n2, which may have the image: %v", r.NotChecked)
	}
	notRuledOut(t, notReady(watched(), "n2", "2026-01-02T11:20:00Z"), "node-down")
	for name, w := range map[string]*world{
		"its address": watched(),
		"of its pods": watched().Edit("watcher=10.0.0.12", "watcher=10.42.12.9"),
		"of its pod, which has an address of another's range": watched().Edit("watcher=10.0.0.12", "watcher=10.42.11.9").
			Add("apiVersion: v1\nkind: Pod\nmetadata: {namespace: tools, name: backup, uid: '8a0c0de0-0000-4000-8000-000000000009'}\nspec: {nodeName: n2, containers: [{name: b, image: b}]}\nstatus: {phase: Running, podIP: 10.42.11.9}\n"),
		"the second of it": watched().Edit("watcher=10.0.0.12", "watcher=10.0.0.11:0/7 client.7 cookie=1\\twatcher=10.0.0.12"),
	} {
		_, r := w.Verdict(t, Catalog(), "pvc shop/data")
		for _, u := range r.Unexplained {
			if !strings.Contains(u.Answer, "an address of node n2") || slices.ContainsFunc(u.RuledOut, func(e report.Excluded) bool { return e.Cause == "device-mapped-on-other-node" }) {
				t.Errorf("%s: %s; ruled out: %v", name, u.Answer, u.RuledOut)
			}
		}
	}
}

// TestCheckThatDidNotLook: a check that found the device in use says nothing of the filesystem.
func TestCheckThatDidNotLook(t *testing.T) {
	t.Parallel()
	says := func(out string) *world {
		return rbdMapped(rbd().Waits().Attached("n1"), "n1").Entries("n1", "@claim/252:0", "free").FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = 'fsck' found errors on device /dev/rbd0 but could not correct them: fsck from util-linux 2.37.4\n" + out)
	}
	showEach(t, map[string]shown{
		"it found damage":       {says("/dev/rbd0: Inode 12 has an invalid extent node\n/dev/rbd0: UNEXPECTED INCONSISTENCY; RUN fsck MANUALLY.\n"), "broken: certain filesystem-needs-fsck Device n1/252:0"},
		"the device was in use": {says("/dev/rbd0 is in use.\ne2fsck: Cannot continue, aborting.\n"), "broken: unexplained fsck-failed; unexplained mount-failed; unexplained pod-waiting-for-volume"},
	})
}

// TestOldClaimIsAnswered: what is to be done stands before what is not; a claim that was bound once compares uids alone
// (zonca/jupyterhub-deploy-kubernetes-jetstream: "Two claims are bound to the same volume").
func TestOldClaimIsAnswered(t *testing.T) {
	t.Parallel()
	const pv, old, own = "kind: PersistentVolume\nmeta", ", uid: 'c0000000-0000-4000-8000-0000000000ff'", `{"op":"replace","value":"c0000000-0000-4000-8000-000000000001","path":"/spec/claimRef/uid"}`
	for _, c := range []struct{ claim, volume, uid, says string }{{"Pending", "Released", old, "clear the old uid"}, {"Lost", "Bound", old, own}, {"Lost", "Available", "", strings.Replace(own, "replace", "add", 1)}} {
		w := rbd().Waits().EditIn(pv, "status: {phase: Bound}", "status: {phase: "+c.volume+"}").EditIn(pv, "persistentVolumeReclaimPolicy: Delete", "persistentVolumeReclaimPolicy: Retain").
			EditIn(pv, ", uid: 'c0000000-0000-4000-8000-000000000001'", c.uid).EditIn("kind: PersistentVolumeClaim\n", "status: {phase: Bound, accessModes: [ReadWriteOnce], capacity: {storage: 10Gi}}", "status: {phase: "+c.claim+"}")
		_, r := w.Verdict(t, Catalog(), "pvc shop/data")
		var b bytes.Buffer
		if err := render.Text(&b, r, render.Options{}); err != nil || !strings.Contains(b.String(), c.says) {
			t.Errorf("%v: the text does not say how the volume is given to the claim that is %s:\n%s", err, c.claim, b.String())
		}
	}
}

// TestConfigurationOfKeys: what a driver says of its configuration tells which ConfigMap is shown, not a name in its words.
func TestConfigurationOfKeys(t *testing.T) {
	t.Parallel()
	for words, shown := range map[string]string{"Internal desc = missing configuration for cluster ID \"rook-ceph\"": "configmap ceph-csi-config ", "InvalidArgument desc = missing encryption KMS configuration with vault-x": "configmap ceph-csi-kms-config "} {
		w := rbd().Waits().Edit("volumes: [{name: socket-dir", "volumes: [{name: conf, configMap: {name: ceph-csi-config}}, {name: keys, configMap: {name: ceph-csi-kms-config}}, {name: socket-dir").
			FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = "+words).Moved("pv-data", "kms-data")
		_, r := w.Verdict(t, Catalog(), "pvc shop/data")
		var b bytes.Buffer
		if err := render.Text(&b, r, render.Options{}); err != nil || !strings.Contains(b.String(), shown) {
			t.Errorf("%v: %s: the text does not show the driver's %s:\n%s", err, words, shown, b.String())
		}
	}
}
