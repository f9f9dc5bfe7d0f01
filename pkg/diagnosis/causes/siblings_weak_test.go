package causes

import (
	"slices"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// TestAttachmentUnderARunningPod: nobody waits and nothing fails, but the API has another
// picture of where the disk is than the pod that works with it.
func TestAttachmentUnderARunningPod(t *testing.T) {
	t.Parallel()
	runs := func() *world { return ebsMounted(ebs().Runs(0), "n1", 0).Answers("n1", ebs().Publish(0)) }
	restarts := func(began string) *world {
		return runs().Edit("state: {running: {startedAt: '2025-12-31T12:00:10Z'}}}]", "lastState: {terminated: {exitCode: 1, reason: Error, startedAt: '"+began+"', finishedAt: '2026-01-02T11:59:20Z'}}, state: {waiting: {reason: CrashLoopBackOff}}}]")
	}
	const driver = "name: ebs.csi.aws.com, uid: '30000000-0000-4000-8000-000000000001', creationTimestamp: '2025-11-01T08:00:00Z'}\nspec: {attachRequired: "
	showEach(t, map[string]shown{
		"attached":                             {runs().Attached("n1"), "healthy"},
		"no attachment at all":                 {runs(), "degraded: certain attach-state-out-of-step Node n1"},
		"attached to another node":             {runs().Attached("n2"), "degraded: certain attach-state-out-of-step Node n1"},
		"not attached":                         {runs().Attached("n1").EditIn("kind: VolumeAttachment", "attached: true", "attached: false"), "degraded: certain attach-state-out-of-step Node n1"},
		"being deleted":                        {runs().Attached("n1").EditIn("kind: VolumeAttachment", "finalizers:", "deletionTimestamp: '2026-01-02T11:50:00Z', finalizers:"), "degraded: certain attach-state-out-of-step Node n1"},
		"being deleted since a moment":         {runs().Attached("n1").EditIn("kind: VolumeAttachment", "finalizers:", "deletionTimestamp: '2026-01-02T11:59:50Z', finalizers:"), "healthy"},
		"made anew a moment ago":               {runs().Attached("n1").EditIn("kind: VolumeAttachment", "attached: true", "attached: false").EditIn("kind: VolumeAttachment", "2025-12-31T12:00:02Z", "2026-01-02T11:59:10Z"), "healthy"},
		"its container starts again and again": {restarts("2026-01-02T11:52:00Z"), "degraded: certain attach-state-out-of-step Node n1"},
		"its container never lasted":           {restarts("2026-01-02T11:59:00Z"), "healthy"},
		"attachments were not read":            {runs().Gap("api/storage.k8s.io/volumeattachments", "Forbidden"), "unknown"},
		"the driver does not attach":           {runs().Edit(driver+"true", driver+"false"), "healthy"},
		"the node was not looked at":           {runs().Attached("n2").Unprobed("n1", "NoImage"), "degraded: likely attach-state-out-of-step Node n1"},
	})
}

// TestDriverThatAnswers: a driver whose node plugin is in no pod that is known as one works
// nevertheless, when it answers.
func TestDriverThatAnswers(t *testing.T) {
	t.Parallel()
	// The plugin of n1 is a service of the machine.
	waits := func() *world {
		return ebsDisk(ebs().Waits().Attached("n1"), "n1").Drop("name: plugin-1,").Drop("kind: DaemonSet").EditIn("name: csi-", "2025-12-31T12:00:02Z", "2026-01-02T11:30:02Z")
	}
	at := func(w *world, when, text string) *world {
		return w.Event("Pod", "web-0", sketchUID, "FailedMount", "kubelet", "n1", when, "MountVolume.MountDevice failed for volume \"pv-data\" : "+text)
	}
	const unknown = "kubernetes.io/csi: driver name ebs.csi.aws.com not found in the list of registered CSI drivers"
	const answer = "rpc error: code = Internal desc = could not format \"/dev/nvme1n1\": the operation did not succeed"
	const silence = "rpc error: code = Unavailable desc = the operation did not succeed"
	const registry = "var/lib/kubelet/plugins_registry/"
	showEach(t, map[string]shown{
		"unknown to the kubelet":                {at(waits(), "2026-01-02T11:58:00Z", unknown), "broken: likely csi-plugin-not-on-node Node n1"},
		"unknown, it answered before":           {at(at(waits(), "2026-01-02T11:56:00Z", answer), "2026-01-02T11:58:00Z", unknown), "broken: likely csi-plugin-not-on-node Node n1"},
		"unknown, it answered since":            {at(at(waits(), "2026-01-02T11:56:00Z", unknown), "2026-01-02T11:59:00Z", answer), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"unknown, silence since":                {at(at(waits(), "2026-01-02T11:56:00Z", unknown), "2026-01-02T11:59:00Z", silence), "broken: likely csi-plugin-not-on-node Node n1"},
		"no socket of its name, and it answers": {at(waits(), "2026-01-02T11:59:00Z", answer).Without("n1", registry).Entries("n1", registry+"other.example.com-reg.sock", "@socket"), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"no socket of its name, silence":        {at(waits(), "2026-01-02T11:59:00Z", silence).Without("n1", registry).Entries("n1", registry+"other.example.com-reg.sock", "@socket"), "broken: likely csi-plugin-not-on-node Node n1"},
		"a socket of its own name, silence":     {at(waits(), "2026-01-02T11:59:00Z", silence).Without("n1", registry).Entries("n1", registry+"csi-aws.sock", "@socket"), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
	})
}

const sketchUID = "1b0c5a7e-0f3d-4a6b-9a55-6d3b7f2a0c00"

// TestVolumeWithoutItsClaim: the claim is gone and its volume does not go with it.
func TestVolumeWithoutItsClaim(t *testing.T) {
	t.Parallel()
	left := func() *world {
		return cinderW().Drop("kind: PersistentVolumeClaim\n").EditIn("kind: PersistentVolume\n", "phase: Bound", "phase: Released").
			EditIn("kind: PersistentVolume\n", "[kubernetes.io/pv-protection]", "[kubernetes.io/pv-protection, external-attacher/cinder-csi-openstack-org]")
	}
	silent := func(policy string) *world {
		w := left().Edit("persistentVolumeReclaimPolicy: Delete", "persistentVolumeReclaimPolicy: "+policy)
		return notReady(va(w, "csi-a", "n2", "", "attached: true"), "n2", "2026-01-02T10:00:00Z").Unprobed("n2", "NodeNotReady")
	}
	never := va(left(), "csi-a", "n1", "", "attached: false, attachError: {time: '2026-01-02T11:58:00Z', message: 'PersistentVolume \"pv-data\" is marked for deletion'}").
		EditIn("kind: PersistentVolume\n", "creationTimestamp: '2025-12-01T08:00:00Z'", "creationTimestamp: '2025-12-01T08:00:00Z', deletionTimestamp: '2026-01-02T10:00:00Z'")
	for name, c := range map[string]shown{
		"attached to a node that is down": {silent("Delete"), "broken: certain node-down Node n2"},
		"it shall stay":                   {silent("Retain"), "unknown"},
		"nobody says since when":          {left(), "broken: unexplained claim-pending"},
		"it shall stay, and since when":   {left().Edit("persistentVolumeReclaimPolicy: Delete", "persistentVolumeReclaimPolicy: Retain"), "healthy"},
		"an attachment that never was":    {never, "broken: certain volumeattachment-volume-gone VolumeAttachment csi-a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.world, "volume pv-data", c.want)
			if _, r := c.world.Verdict(t, Catalog(), "cluster"); len(r.RootCauses) > 0 && (len(r.RootCauses[0].Affects) != 1 || r.RootCauses[0].Affects[0].Kind != "PersistentVolume") {
				t.Errorf("it hits %v, not the volume that is left", r.RootCauses[0].Affects)
			}
		})
	}
}

// TestClaimForAVolumeMadeByHand: a claim without a class, and volumes without one.
func TestClaimForAVolumeMadeByHand(t *testing.T) {
	t.Parallel()
	free := func(change ...string) *world {
		w := sketchWorld("", "", "accessModes: [ReadWriteOnce]\nnfs: {server: 10.9.0.5, path: /export/data}").
			EditIn("kind: PersistentVolume\n", "  claimRef: {apiVersion: v1, kind: PersistentVolumeClaim, namespace: shop, name: data, uid: 'c0000000-0000-4000-8000-000000000001'}\n", "").
			EditIn("kind: PersistentVolume\n", "storageClassName: fast", "storageClassName: ''").EditIn("kind: PersistentVolume\n", "phase: Bound", "phase: Available").
			EditIn("kind: PersistentVolumeClaim\nmetadata", "storageClassName: fast, volumeName: pv-data", "storageClassName: ''").
			EditIn("kind: PersistentVolumeClaim\nmetadata", "status: {phase: Bound, accessModes: [ReadWriteOnce], capacity: {storage: 10Gi}}", "status: {phase: Pending}")
		for i := 0; i+1 < len(change); i += 2 {
			w.Edit(change[i], change[i+1])
		}
		return w
	}
	reserved := func(change ...string) *world {
		return free(change...).EditIn("kind: PersistentVolume\n", "  persistentVolumeReclaimPolicy", "  claimRef: {namespace: shop, name: data}\n  persistentVolumeReclaimPolicy")
	}
	smaller := []string{"capacity: {storage: 10Gi}\n  persistent", "capacity: {storage: 5Gi}\n  persistent"}
	const mismatch = "broken: certain claim-volume-mismatch PersistentVolumeClaim shop/data"
	showEach(t, map[string]shown{
		"reserved, it fits":                     {reserved(), "broken: unexplained claim-pending"},
		"reserved, too small":                   {reserved(smaller...), mismatch},
		"reserved, block":                       {reserved("volumeMode: Filesystem", "volumeMode: Block"), mismatch},
		"reserved, a class that is not there":   {reserved(smaller...).Edit("storageClassName: '', resources", "storageClassName: manual, resources").Edit("storageClassName: ''\n", "storageClassName: manual\n"), mismatch},
		"reserved, a class that makes volumes":  {reserved(smaller...).Edit("storageClassName: '', resources", "storageClassName: fast, resources"), "broken: unexplained claim-pending"},
		"it fits":                               {free(), "broken: unexplained claim-pending"}, // the controller will bind it in a moment
		"too small":                             {free("capacity: {storage: 10Gi}\n  persistent", "capacity: {storage: 5Gi}\n  persistent"), mismatch},
		"selector":                              {free("storageClassName: '', resources", "selector: {matchLabels: {tier: db}}, storageClassName: '', resources"), mismatch},
		"access mode":                           {free("accessModes: [ReadWriteOnce], volumeMode", "accessModes: [ReadWriteMany], volumeMode"), mismatch},
		"block":                                 {free("volumeMode: Filesystem", "volumeMode: Block"), mismatch},
		"attributes":                            {free("storageClassName: '', resources", "volumeAttributesClassName: gold, storageClassName: '', resources"), mismatch},
		"released":                              {free("phase: Available", "phase: Released", "persistentVolumeReclaimPolicy: Delete", "claimRef: {namespace: shop, name: older, uid: u}\n  persistentVolumeReclaimPolicy: Retain"), mismatch},
		"another class":                         {free("storageClassName: ''\n", "storageClassName: slow\n"), mismatch},
		"another class, made a moment ago":      {free("storageClassName: ''\n", "storageClassName: slow\n").EditIn("kind: PersistentVolumeClaim\nmetadata", "2025-12-01T08:00:00Z", "2026-01-02T11:59:50Z"), "waiting: certain claim-volume-mismatch PersistentVolumeClaim shop/data waiting"},
		"named, and there is none of that name": {free("storageClassName: '', resources", "volumeName: pv-old, storageClassName: '', resources"), mismatch},
		"no disk is left of a class that makes none": {unscheduled(pendingClaim(sketchWorld("", "", localPV), "WaitForFirstConsumer", ""), "0/3 nodes are available: 3 node(s) didn't find available persistent volumes to bind.").Edit("provisioner: \"\"", "provisioner: kubernetes.io/no-provisioner"), mismatch},
		"PVs not read": {free("capacity: {storage: 10Gi}\n  persistent", "capacity: {storage: 5Gi}\n  persistent").Gap("api//persistentvolumes", "Forbidden"), "broken: unexplained claim-pending"},
	})
}

// TestReplicationLostUnderARunningPod: DRBD goes on with the copy that it reaches.
func TestReplicationLostUnderARunningPod(t *testing.T) {
	t.Parallel()
	const res = "drbd pvc-77cc"
	linstor := func(lines ...string) *world {
		w := sketchWorld("linstor.csi.linbit.com", "pvc-77cc", "accessModes: [ReadWriteOnce]\ncsi: {driver: linstor.csi.linbit.com, fsType: ext4, volumeHandle: pvc-77cc}").Runs(0).Attached("n1")
		const line = " rw,relatime shared:64 - ext4 /dev/drbd1000 rw"
		w.Disk("n1", "drbd1000", "147:1000").LiveExt4("n1", "drbd1000").Mounts("n1", "147:1000 / "+w.Stage()+line, "147:1000 / "+w.Publish(0)+line).
			Answers("n1", w.Publish(0)).Entries("n1", "dev/drbd/by-res/pvc-77cc/0", "@link ../../../drbd1000")
		return w.Kernel("n1", append([]string{"172800|" + res + "/0 drbd1000: role( Secondary -> Primary )", "172900|" + res + " n2: conn( Connecting -> Connected ) peer( Unknown -> Secondary )"}, lines...)...)
	}
	const alone = "degraded: unexplained volume-degraded"
	showEach(t, map[string]shown{
		"both copies":                     {linstor(), "healthy"},
		"the peer is away":                {linstor("3600|"+res+" n2: conn( Connected -> NetworkFailure ) peer( Secondary -> Unknown )", "3599|"+res+" n2: conn( NetworkFailure -> Unconnected )", "3598|"+res+" n2: conn( Unconnected -> Connecting )"), alone},
		"it came back":                    {linstor("3600|"+res+" n2: conn( Unconnected -> Connecting )", "3500|"+res+" n2: conn( Connecting -> Connected )"), "healthy"},
		"away since some seconds":         {linstor("20|" + res + " n2: conn( Unconnected -> Connecting )"), "healthy"},
		"split brain":                     {linstor("3600|"+res+" n2: Split-Brain detected but unresolved, dropping connection!", "3600|"+res+" n2: conn( Connected -> Disconnecting )", "3599|"+res+" n2: conn( Disconnecting -> StandAlone )"), "degraded: certain drbd-state-blocks Device n1/147:1000"},
		"split brain, solved":             {linstor("3600|"+res+" n2: Split-Brain detected but unresolved, dropping connection!", "3599|"+res+" n2: conn( Disconnecting -> StandAlone )", "3000|"+res+" n2: conn( Connecting -> Connected )"), "healthy"},
		"taken out by a command":          {linstor("3600|"+res+" n2: conn( Connected -> Disconnecting ) peer( Secondary -> Unknown ) [del-peer]", "3599|"+res+" n2: conn( Disconnecting -> StandAlone )"), "healthy"},
		"a handler refused":               {linstor("3600|"+res+"/0 drbd1000: before-resync-target handler returned 1, dropping connection.", "3600|"+res+" n2: conn( Connected -> Disconnecting ) peer( Secondary -> Unknown )", "3599|"+res+" n2: conn( Disconnecting -> StandAlone )"), alone},
		"unrelated data":                  {linstor("3600|"+res+"/0 drbd1000 n2: Unrelated data, aborting!", "3600|"+res+" n2: conn( Connecting -> Disconnecting ) [unrelated]", "3599|"+res+" n2: conn( Disconnecting -> StandAlone )"), alone},
		"nobody says why":                 {linstor("3600|"+res+" n2: conn( Connected -> Disconnecting ) peer( Secondary -> Unknown )", "3599|"+res+" n2: conn( Disconnecting -> StandAlone )"), "unknown"},
		"an error long before":            {linstor("90000|"+res+"/0 drbd1000 n2: Unrelated data, aborting!", "3600|"+res+" n2: conn( Connected -> Disconnecting )", "3599|"+res+" n2: conn( Disconnecting -> StandAlone )"), "unknown"},
		"a refusal by another":            {linstor("3600|"+res+" n3: Authentication of peer failed", "3600|"+res+" n2: conn( Connected -> Disconnecting )", "3599|"+res+" n2: conn( Disconnecting -> StandAlone )"), "unknown"},
		"another resource's peer":         {linstor("3600|drbd pvc-88dd n2: conn( Unconnected -> Connecting )"), "healthy"},
		"a handler fences the peer":       {linstor("3600|"+res+": susp-io( no -> fencing)", "3590|"+res+" n2: fence-peer helper broken, returned 1"), "broken: certain drbd-state-blocks Device n1/147:1000"},
		"a handler fenced the peer":       {linstor("3600|"+res+": susp-io( no -> fencing)", "3590|"+res+": susp-io( fencing -> no)"), "healthy"},
		"no quorum, whatever statfs says": {linstor("3600|"+res+"/0 drbd1000: quorum( yes -> no )", "3600|"+res+": susp-io( no -> quorum )"), "broken: certain drbd-state-blocks Device n1/147:1000"},
		"the peer's node is down":         {linstor("3600|"+res+" n2: conn( Unconnected -> Connecting )").EditIn("name: n2, uid: 'f0", "status: 'True', reason: KubeletReady", "status: Unknown, reason: NodeStatusUnknown"), alone},
	})
}

// TestWellAndOdd: states that look like faults and are none, and their neighbours that are.
func TestWellAndOdd(t *testing.T) {
	t.Parallel()
	const claim = "kind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: data"
	run := func() *world {
		return ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0))
	}
	silent := func(since string) *world {
		return run().EditIn("name: n1, uid: 'f0", "status: 'True', reason: KubeletReady, lastTransitionTime: '2025-12-23T12:00:00Z'", "status: Unknown, reason: NodeStatusUnknown, lastTransitionTime: '"+since+"'")
	}
	grow := func(w *world, condition string) *world {
		return w.EditIn(claim, "requests: {storage: 10Gi}", "requests: {storage: 20Gi}").EditIn(claim, "status: {phase: Bound", "status: {conditions: ["+condition+"], phase: Bound")
	}
	const pending = "{type: FileSystemResizePending, status: 'True', lastTransitionTime: '2026-01-02T10:59:40Z'}"
	const windows = "\napiVersion: v1\nkind: Node\nmetadata: {name: win-1, labels: {kubernetes.io/os: windows}}\nstatus: {conditions: [{type: Ready, status: 'True'}], nodeInfo: {operatingSystem: windows}}\n"
	const virtual = "\napiVersion: v1\nkind: Node\nmetadata: {name: aci, labels: {type: virtual-kubelet, kubernetes.io/os: linux}}\nstatus: {conditions: [{type: Ready, status: 'True'}]}\n"
	const unplaced = "\napiVersion: v1\nkind: Pod\nmetadata: {namespace: shop, name: web-9, uid: w9, creationTimestamp: '2026-01-02T10:50:00Z'}\nspec: {containers: [{name: app, image: i}], volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}\nstatus: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: '0/3 nodes are available: 3 Insufficient cpu.'}]}\n"
	const linux = "\napiVersion: v1\nkind: Node\nmetadata: {name: n4, labels: {kubernetes.io/os: linux}}\nstatus: {conditions: [{type: Ready, status: 'True'}]}\n"
	for name, c := range map[string]struct {
		world          *world
		question, want string
	}{
		"it grows since a moment":              {grow(run(), "{type: Resizing, status: 'True', lastTransitionTime: '2026-01-02T11:59:40Z'}"), "pvc shop/data", "waiting"},
		"it has grown for an hour":             {grow(run(), "{type: Resizing, status: 'True', lastTransitionTime: '2026-01-02T10:59:40Z'}"), "pvc shop/data", "degraded: unexplained expansion-pending"},
		"it has all, and a status is left":     {run().EditIn(claim, "status: {phase: Bound", "status: {allocatedResources: {storage: 10Gi}, allocatedResourceStatuses: {storage: NodeResizePending}, phase: Bound"), "pvc shop/data", "healthy"},
		"the filesystem waits for a pod":       {grow(ebs(), pending), "pvc shop/data", "waiting"},
		"its pod has no node yet":              {grow(ebs(), "{type: Resizing, status: 'True', lastTransitionTime: '2026-01-02T10:59:39Z'}, "+pending).Add(unplaced), "pvc shop/data", "waiting"},
		"an older refusal is left, it grows":   {grow(run(), "{type: ControllerResizeError, status: 'True', lastTransitionTime: '2026-01-02T11:40:00Z'}, {type: FileSystemResizePending, status: 'True', lastTransitionTime: '2026-01-02T11:59:40Z'}").EditIn("kind: PersistentVolume\n", "capacity: {storage: 10Gi}", "capacity: {storage: 20Gi}"), "pvc shop/data", "waiting"},
		"its pod starts since a moment":        {grow(ebs().Waits().EditIn("name: web-0, uid", "2026-01-02T11:30:00Z', labels", "2026-01-02T11:59:30Z', labels"), pending), "pvc shop/data", "waiting"},
		"its pod waits for long":               {grow(ebs().Waits(), pending), "pvc shop/data", "broken: unexplained expansion-pending; unexplained pod-waiting-for-volume"},
		"pods may not be read":                 {grow(ebs(), pending).Gap("api//pods", "Forbidden"), "pvc shop/data", "degraded: unexplained expansion-pending"},
		"its node is silent for a moment":      {silent("2026-01-02T11:59:40Z"), "pvc shop/data", "waiting: certain node-kubelet-down-workload-alive Node n1 waiting"},
		"its node is silent, the pod works":    {silent("2026-01-02T11:00:40Z"), "pvc shop/data", "degraded: certain node-kubelet-down-workload-alive Node n1"},
		"its node is silent, the pod shall go": {silent("2026-01-02T11:00:40Z").EditIn("name: web-0, uid", "creationTimestamp", "deletionTimestamp: '2026-01-02T11:10:00Z', creationTimestamp"), "pvc shop/data", "broken: certain node-kubelet-down-workload-alive Node n1"},
		"it misses a socket of its own":        {run().File("logs/shop/web-0/app.log", "2026-01-02T11:58:00Z dial unix /run/db.sock: transport endpoint is not connected\n"), "pvc shop/data", "healthy"},
		"it may not read its image":            {run().File("logs/shop/web-0/app.log", "2026-01-02T11:58:00Z open /etc/ssl/private/key.pem: permission denied\n"), "pvc shop/data", "healthy"},
		"it may not write into the volume":     {run().File("logs/shop/web-0/app.log", "2026-01-02T11:58:00Z open /data/x: permission denied\n"), "pvc shop/data", "broken: unexplained volume-io-error"},
		"a node of Windows in the cluster":     {run().Add(windows), "cluster", "healthy"},
		"a virtual node in the cluster":        {run().Add(virtual), "cluster", "healthy"},
		"a machine that was not looked at":     {run().Add(linux), "cluster", "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.world, c.question, c.want)
		})
	}
}

// TestVolumeThatComesByItself: the pod that has it was told to end, and may take its time.
func TestVolumeThatComesByItself(t *testing.T) {
	t.Parallel()
	ends := func(by string) *world {
		w := second(ebsMounted(ebs().Waits().Attached("n2"), "n2", 0), "web-x", "n2", "{apiVersion: apps/v1, kind: StatefulSet, name: web, uid: 'e0000000-0000-4000-8000-000000000001', controller: true}", "Running", ", deletionTimestamp: '"+by+"', deletionGracePeriodSeconds: 900")
		return mulattach(w.Moved("/pods/"+sketchUID, "/pods/dd0c5a7e-0f3d-4a6b-9a55-7765622d7830"), "web-x").Edit("2026-01-02T11:30:00Z", "2026-01-02T11:55:00Z")
	}
	showEach(t, map[string]shown{
		"it has time left":              {ends("2026-01-02T12:10:00Z"), "waiting"},
		"its time is over":              {ends("2026-01-02T11:50:00Z"), "broken: unexplained multi-attach-error; unexplained pod-waiting-for-volume"},
		"it has time, its node is down": {notReady(ends("2026-01-02T12:10:00Z"), "n2", "2026-01-02T11:50:00Z").Unprobed("n2", "NodeNotReady"), "broken: certain node-down Node n2"},
	})
}

// shown is a world, and what is to be said of its claim.
type shown struct {
	world *world
	want  string
}

func showEach(t *testing.T, rows map[string]shown) {
	t.Helper()
	for name, c := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.world, "pvc shop/data", c.want)
		})
	}
}

// TestNothingWorksOnASilentNode: the taint lets Kubernetes take the volume at once, so nobody
// waits for the node; but it is down, and nothing is known to work there.
func TestNothingWorksOnASilentNode(t *testing.T) {
	t.Parallel()
	w := notReady(second(cinderW().Waits().Attached("n2"), "web-x", "n2", "", "Running", deleted), "n2", "2026-01-02T11:20:00Z").Unprobed("n2", "NodeNotReady").
		Edit("spec: {podCIDR: 10.42.12.0/24}", "spec: {podCIDR: 10.42.12.0/24, taints: [{key: node.kubernetes.io/out-of-service, value: nodeshutdown, effect: NoExecute}]}")
	notRuledOut(t, w, "node-down")
}

// TestUnregisteredWhyever: nobody may look at the driver's pods, and the node does not know it.
func TestUnregisteredWhyever(t *testing.T) {
	t.Parallel()
	w := attachFailed(ebs().Waits(), "AttachVolume.Attach failed for volume \"pv-data\" : CSINode n1 does not contain driver ebs.csi.aws.com").
		Edit("metadata: {name: n1, uid: '70000000-0000-4000-8000-000000000001'}\nspec: {drivers: [{name: ebs.csi.aws.com, nodeID: n1, topologyKeys: null}]}", "metadata: {name: n1, uid: '70000000-0000-4000-8000-000000000001'}\nspec: {drivers: []}").
		Without("n1", "var/lib/kubelet/plugins_registry/").Drop("kind: DaemonSet").Drop("namespace: kube-system, name: plugin").
		Gap("api/apps/daemonsets", "Forbidden").Gap("api//pods/kube-system", "Forbidden")
	notRuledOut(t, w, "csi-plugin-not-registered")
}

// notRuledOut asks that something is unexplained, and that neither a cause is said to be ruled
// out there nor anything to work.
func notRuledOut(t *testing.T, w *world, cause string) {
	t.Helper()
	_, r := w.Verdict(t, Catalog(), "pvc shop/data")
	for _, u := range r.Unexplained {
		if slices.ContainsFunc(u.RuledOut, func(e report.Excluded) bool { return e.Cause == cause }) {
			t.Errorf("%s: %s is ruled out", u.Symptom.Name, cause)
		}
		if len(u.Works) > 0 {
			t.Errorf("%s: works: %v", u.Symptom.Name, u.Works)
		}
	}
	if len(r.Unexplained) == 0 {
		t.Error("nothing is unexplained")
	}
}

// TestTwinsWithLess: the same incidents where the node was not probed, or the event is gone.
func TestTwinsWithLess(t *testing.T) {
	t.Parallel()
	const refused = "iscsiadm: Could not login to [iface: default, target: iqn.2010-06.com.purestorage:flasharray.1, portal: 10.9.3.1,3260].\niscsiadm: initiator reported error (19 - encountered non-retryable iSCSI login failure)\niscsiadm: Could not log into all portals"
	const unwritten = "[" + lhVol + "-e-0] time=\"2026-01-02T11:58:50Z\" level=warning msg=\"Failed to discover\" error=\"iscsiadm -m discovery -t sendtargets -p 10.42.11.20, stderr iscsiadm: Could not add/update [tcp:[hw=,ip=,net_if=,iscsi_if=default] 10.42.11.20,3260,1 " + lhIQN + "]: exit status 6\""
	const manager = "logs/longhorn-system/instance-manager-n1/instance-manager.log"
	showEach(t, map[string]shown{
		"a target that refuses":              {pureISCSI().Waits().Attached("n1").FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = "+refused).Unprobed("n1", "PodRejected"), "broken: likely iscsi-login-rejected PersistentVolume pv-data"},
		"a record that could not be written": {lhWaits(lhWorld("v1.7.2")).File(manager, unwritten).Unprobed("n1", "PodRejected"), "broken: unexplained attach-failed; unexplained pod-waiting-for-volume"},
		"a label that no node carries":       {lvmLocal().Waits().Edit("key: kubernetes.io/hostname, operator: In, values: [n1]", "key: openebs.io/nodename, operator: In, values: [n1]"), "broken: unexplained pod-waiting-for-volume"},
	})
}
