package causes

import (
	"slices"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// TestSiblingsElsewhere: a share that one node mounts and another may not, asked from all sides.
func TestSiblingsElsewhere(t *testing.T) {
	t.Parallel()
	shared := func() *world {
		w := sketch.NewWorld("nfs.csi.k8s.io", "10.9.9.9#exp##", "accessModes: [ReadWriteMany]\nvolumeMode: Filesystem\ncsi: {driver: nfs.csi.k8s.io, volumeHandle: '10.9.9.9#exp##', volumeAttributes: {server: 10.9.9.9, share: /exp}}").Runs(0)
		w.Mounts("n1", "0:90 / "+w.Publish(0)+" rw,relatime shared:90 - nfs4 10.9.9.9:/exp rw,vers=4.1,soft,addr=10.9.9.9").Answers("n1", w.Publish(0)).
			Entries("n1", "@dial/10.9.9.9:2049", "ok 1ms").Entries("n2", "@dial/10.9.9.9:2049", "ok 1ms")
		return w.Add(`
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: web-1, uid: '`+sketch.UID+`01', creationTimestamp: '2026-01-02T11:30:00Z', labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: web, uid: 'e0000000-0000-4000-8000-000000000001', controller: true}]}
spec: {nodeName: n2, restartPolicy: Always, volumes: [{name: data, persistentVolumeClaim: {claimName: data}}], containers: [{name: app, image: 'registry.example/web:1', volumeMounts: [{name: data, mountPath: /data}]}]}
status: {phase: Pending, startTime: '2026-01-02T11:30:00Z', conditions: [{type: PodScheduled, status: 'True', lastTransitionTime: '2026-01-02T11:30:00Z'}], containerStatuses: [{name: app, ready: false, restartCount: 0, image: i, imageID: '', state: {waiting: {reason: ContainerCreating}}}]}
`).Event("Pod", "web-1", sketch.UID+"01", "FailedMount", "kubelet", "n2", "2026-01-02T11:59:00Z", "MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t nfs 10.9.9.9:/exp /x\nOutput: mount.nfs: access denied by server while mounting 10.9.9.9:/exp")
	}
	for question, want := range map[string]string{
		"pvc shop/data":  "broken: certain nfs-access-denied Node n2",
		"pod shop/web-1": "broken: certain nfs-access-denied Node n2",
		"node n2":        "broken: certain nfs-access-denied Node n2",
		"node n1":        "healthy",
	} {
		t.Run(question, func(t *testing.T) {
			t.Parallel()
			show(t, shared(), question, want)
		})
	}
}

// TestPluginWhereNothingArrivesYet: what is missing where a pod waits keeps no other node from giving the volume up.
func TestPluginWhereNothingArrivesYet(t *testing.T) {
	t.Parallel()
	const statefulSet = "{apiVersion: apps/v1, kind: StatefulSet, name: web, uid: 'e0000000-0000-4000-8000-000000000001', controller: true}"
	build := func() *world {
		w := second(cinderW().Waits().Attached("n2"), "web-x", "n2", statefulSet, "Running", deleted)
		return notReady(mulattach(w, "web-x"), "n2", "2026-01-02T11:20:00Z").Unprobed("n2", "NodeNotReady").
			Edit("'70000000-0000-4000-8000-000000000001'}\nspec: {drivers: [{name: "+w.Driver+", nodeID: n1, topologyKeys: null}]}", "'70000000-0000-4000-8000-000000000001'}\nspec: {drivers: []}")
	}
	for cause, w := range map[string]*world{
		"csi-plugin-not-registered": build(),
		"csi-plugin-not-on-node":    build().Drop("name: plugin-1,").Edit("spec: {podCIDR: 10.42.11.0/24}", "spec: {podCIDR: 10.42.11.0/24, taints: [{key: gpu, effect: NoSchedule}]}"),
	} {
		t.Run(cause, func(t *testing.T) {
			t.Parallel()
			_, r := w.Unprobed("n1", "PodRejected").Verdict(t, Catalog(), "pvc shop/data")
			for _, c := range r.RootCauses {
				if c.Name == cause && !slices.Equal(c.Explains, []string{"pod-waiting-for-volume"}) {
					t.Errorf("explains %v", c.Explains)
				}
			}
			if len(r.RootCauses) != 2 || !slices.ContainsFunc(r.RootCauses, func(c report.Cause) bool { return c.Name == cause }) {
				t.Errorf("got %v", sketch.Causes(r))
			}
		})
	}
}

// TestSiblingsOfATakenTarget: a target of one volume that refuses a node while another one is logged in to it.
func TestSiblingsOfATakenTarget(t *testing.T) {
	t.Parallel()
	const iqn, session, rejected = "iqn.2000-01.com.synology:nas.pvc-1", "sys/class/iscsi_session/session9/", "; likely iscsi-login-rejected PersistentVolume pv-data"
	refused := func(w *world, number string) *world {
		return w.FailedMount(stageFails("Failed to login with target iqn [" + iqn + "], err: iscsiadm: Could not login to [iface: default, target: " + iqn + ", portal: 10.9.3.1,3260].\niscsiadm: initiator reported error (" + number + ")"))
	}
	const fatal = "19 - encountered non-retryable iSCSI login failure"
	kept := func(disks ...string) *world { // n2 has the volume as sdc
		w := sanDisk(pureISCSI().Waits().Attached("n1"), "n2", "sdc", "8:32").Entries("n2", "@content/8:32", "TYPE=xfs\nUUID=2f", session+"targetname", iqn, session+"state", "LOGGED_IN").
			Entries("n1", "proc/modules", "iscsi_tcp 28672 0 - Live 0x0\nlibiscsi 28672 0 - Live 0x0\nscsi_transport_iscsi 28672 0 - Live 0x0\noverlay 28672 0 - Live 0x0")
		for _, d := range disks {
			w.Entries("n2", session+"device/target9:0:0/9:0:0:1/block/"+d, "@dir")
		}
		return w
	}
	staged := func(w *world) *world {
		return w.Mounts("n2", "8:32 / "+pureISCSI().Stage()+" rw,relatime shared:64 - xfs /dev/sdc rw")
	}
	pinned := func(w *world) *world { // a container that was there before has it mounted
		return w.Process("n2", 9100, "deadc0de-0f3d-4a6b-9a55-6d3b7f2a0c99", "agent", 4026532999, "900 1 8:32 / /host"+pureISCSI().Stage()+" rw,relatime - xfs /dev/sdc rw").
			Entries("n2", "sys/fs/xfs/sdc/stats/stats", "x", "@claim/8:32", "EBUSY")
	}
	const behind = "broken: certain device-mapped-on-other-node Device n2/8:32"
	showEach(t, map[string]shown{
		"the old node has it staged":        {refused(staged(kept("sdc")), fatal), behind},
		"the old node is only logged in":    {refused(kept("sdc"), fatal), behind},
		"nobody listed the session's disks": {refused(staged(kept()), fatal), behind},
		"the target carries other volumes":  {refused(staged(kept("sdc", "sdd")).Disk("n2", "sdd", "8:48"), fatal), behind + rejected},
		"it is about who asks":              {refused(staged(kept("sdc")), "24 - iSCSI login failed due to authorization failure"), behind + rejected},
		"no session was seen there":         {refused(staged(kept("sdc").Without("n2", session)), fatal), behind + rejected},
		"a third node is logged in, too":    {refused(staged(kept("sdc")).Entries("n3", session+"targetname", iqn, session+"state", "LOGGED_IN"), fatal), behind + rejected},
		"the volume is for many nodes":      {refused(staged(kept("sdc")).Edit("accessModes: [ReadWriteOnce]", "accessModes: [ReadWriteMany]"), fatal), behind + rejected},
		"a container keeps it mounted":      {refused(pinned(kept("sdc")), fatal), "broken: likely mount-pinned-in-namespace Process n2/9100"},
		"nobody looked at any node but its": {refused(staged(kept("sdc")).Unprobed("n2", "PodRejected"), fatal), "broken: likely iscsi-login-rejected PersistentVolume pv-data"},
	})
}

// TestWhatIsLeftElsewhere: what is left of a volume on another node is no mate's of a pod that runs, and may harm it.
func TestWhatIsLeftElsewhere(t *testing.T) {
	t.Parallel()
	twice := rbdMapped(rbdMounted(rbd().Runs(0).Attached("n1"), "n1", 0), "n2").Answers("n1", rbd().Publish(0)).
		Mounts("n2", "252:0 / "+rbd().Stage()+"/0001-0009-rook-ceph-0000000000000002-bbbb rw,relatime shared:63 - ext4 /dev/rbd0 rw")
	show(t, twice, "pod shop/web-0", "broken: certain device-mapped-on-other-node Device n2/252:0")
}

// TestRefusedForWhoHasIt: a driver's word that somebody has the volume is about another pod of it only where it names somebody else.
func TestRefusedForWhoHasIt(t *testing.T) {
	t.Parallel()
	const shared, own = "broken: certain rwo-shared-by-workloads PersistentVolumeClaim shop/data", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"
	const job = "{apiVersion: batch/v1, kind: Job, name: backup, uid: 'e4000000-0000-4000-8000-000000000001', controller: true}"
	for text, want := range map[string]string{
		"volume v-7 is in use by node n2":                            shared,
		"volume v-7 is locked by client 10.9.9.9":                    shared,
		"volume v-7 is still attached to node n1, and no disk came":  own,
		"volume v-7 is attached to the instance, but no device came": own,
		"the disk is mapped to LUN 3, which the scan did not find":   own,
	} {
		w := vol("csi.some.example", "v-7", "").Waits()
		w = second(w, "other", "n2", job, "Running", "").FailedMount(stageFails(text))
		show(t, w.Unprobed("n2", "PodRejected"), "pod shop/web-0", want)
	}
}
