package causes

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestOfARealCluster: what a cluster showed that was made and broken by hand.
func TestOfARealCluster(t *testing.T) {
	t.Parallel()
	rwop := mulattach(second(cinderW().Waits().Edit("accessModes: [ReadWriteOnce]", "accessModes: [ReadWriteOncePod]"), "other", "n2", "", "Running", "").Attached("n2"), "other")
	borrowed := ebs().Waits().Edit("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", "volumes: [{name: scratch, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce]}}}}]").
		Edit("namespace: shop, name: web-0, uid", "namespace: shop, name: da, uid").Edit("name: scratch, ephemeral", "name: ta, ephemeral").Edit("kind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: data", "kind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: da-ta")
	left := func() *world {
		return ebsDisk(ebs().Runs(0).Attached("n1"), "n1").LiveExt4("n1", "nvme1n1").Mounts("n1", "259:1 / "+ebs().Stage()+" rw,relatime shared:71 - ext4 /dev/nvme1n1 rw")
	}
	show(t, rwop, "pvc shop/data", "broken: certain claim-in-use-rwop PersistentVolumeClaim shop/data")
	show(t, borrowed, "pod shop/da", "broken: certain volume-source-missing PersistentVolumeClaim shop/da-ta")
	show(t, ended(left()), "pvc shop/data", "broken: unexplained pod-stuck-terminating; unexplained unmount-blocked") // kubelet is not done with the pod: nobody left the mount behind
}

// TestWhereTheUnmountStops: of an unmount kubelet makes no event. Where nobody says a word the step is told
// all the same, and who would know.
func TestWhereTheUnmountStops(t *testing.T) {
	t.Parallel()
	held := func(w *world) *world {
		return ended(w).Edit("name: web-0, deletionTimestamp: '2026-01-02T11:50:00Z'", "name: web-0, finalizers: [example.com/hold], deletionTimestamp: '2026-01-02T11:57:30Z'")
	}
	for name, c := range map[string]struct {
		w                     *world
		answer, step, looksAt string
	}{
		"the mount in the pod's directory stays": {ended(ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0))), "The volume is not unmounted on node n1, and nobody says why.", "unmount", "kubelet"},
		"only the object stays":                  {held(ebs().Runs(0).Attached("n1")), "Pod shop/web-0 has ended, and its object stays until finalizer example.com/hold is taken off.", "unmount", "kubelet"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, r := c.w.Verdict(t, Catalog(), "pvc shop/data")
			if len(r.Unexplained) == 0 {
				t.Fatalf("nothing is unexplained: %+v", r.RootCauses)
			}
			for _, u := range r.Unexplained {
				if u.Name != "pod-stuck-terminating" {
					continue
				}
				looks := ""
				for _, n := range u.Next {
					looks += strings.Join(n.Commands, "\n")
				}
				if u.Answer != c.answer || u.Step != c.step || !strings.Contains(looks, c.looksAt) {
					t.Errorf("%q at %q, looks %s", u.Answer, u.Step, looks)
				}
				return
			}
			t.Errorf("no pod is stuck: %+v", r.Unexplained)
		})
	}
}

// TestAPolicyRefuses: a policy of the API server keeps the attachment from being written down, and nobody asked the
// driver; what its provisioner says of another claim meanwhile has nothing to do with it.
func TestAPolicyRefuses(t *testing.T) {
	t.Parallel()
	denied := func(text string) *world {
		return attachFailed(ebs().Waits(), "AttachVolume.Attach failed for volume \"pv-data\" : "+text).
			File("logs/kube-system/controller-0/csi-provisioner.log", "E0102 11:58:50.000000       1 controller.go:974] error syncing claim \"6d1f3c1e\": CSI driver does not support clone operations\n")
	}
	sayEach(t, map[string]said{
		"a policy":   {denied("volumeattachments.storage.k8s.io \"csi-2af3e1\" is forbidden: ValidatingAdmissionPolicy 'frozen' with binding 'frozen' denied request: change freeze"), []string{"The API server does not take what would attach the volume to node n1", "change freeze"}, []string{"refuses to attach", "clone operations"}},
		"a webhook":  {denied("admission webhook \"va.example.com\" denied the request: change freeze"), []string{"The API server does not take what would attach"}, []string{"refuses to attach"}},
		"the driver": {denied("rpc error: code = PermissionDenied desc = disk \"d-1\" is forbidden: ask the owner"), []string{"refuses to attach the volume to node n1"}, []string{"The API server"}},
	})
}

// TestRenamedMachine: a machine that reports under another name is not off, and is no second machine of its host name.
func TestRenamedMachine(t *testing.T) {
	t.Parallel()
	w := func(uuid string) *world {
		silent := notReady(cinderW().Waits().Attached("n2"), "n2", "2026-01-02T11:20:00Z").Unprobed("n2", "NodeNotReady")
		return silent.EditIn("name: n2,", "nodeInfo: {", "nodeInfo: {systemUUID: u-2, ").Add("\napiVersion: v1\nkind: Node\nmetadata: {name: n2-b, creationTimestamp: '2026-01-02T11:21:00Z'}\nstatus: {conditions: [{type: Ready, status: 'True'}], nodeInfo: {systemUUID: " + uuid + "}, addresses: [{type: InternalIP, address: 10.0.0.12}, {type: Hostname, address: n2}]}\n")
	}
	const off = "make sure that the machine is off"
	for name, c := range map[string]struct {
		w            *world
		says, sayNot string
	}{
		"renamed":         {w("u-2"), "it reports as node n2-b", off},
		"another machine": {w("u-3"), off, "it reports as"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, r := c.w.Verdict(t, Catalog(), "pvc shop/data")
			if len(r.RootCauses) == 0 || r.RootCauses[0].Name != "node-down" {
				t.Fatalf("%+v", r.RootCauses)
			}
			said := r.RootCauses[0].Message
			for _, s := range r.RootCauses[0].Remedies {
				said += "\n" + s.Title
			}
			if !strings.Contains(said, c.says) || strings.Contains(said, c.sayNot) {
				t.Error(said)
			}
		})
	}
}

// TestWhereAMapStops: a driver without raw block volumes mounts something where kubelet wants a device. That
// this is there is no reason to leave the volume out.
func TestWhereAMapStops(t *testing.T) {
	t.Parallel()
	const publish = "/var/lib/kubelet/plugins/kubernetes.io/csi/volumeDevices/publish/pv-data/" + sketch.UID + "00"
	w := ebsDisk(ebs().Edit("volumeMode: Filesystem", "volumeMode: Block").Waits().Attached("n1"), "n1").LiveExt4("n1", "nvme1n1").Mounts("n1", "259:1 / "+publish+" rw,relatime shared:71 - ext4 /dev/nvme1n1 rw").
		Event("Pod", "web-0", sketch.UID+"00", "FailedMapVolume", "kubelet", "n1", "2026-01-02T11:59:00Z", "MapVolume.MapBlockVolume failed for volume \"pv-data\" : blkUtil.MapDevice failed. devicePath: "+publish+": failed to bind mount devicePath: mount failed: exit status 32")
	_, r := w.Verdict(t, Catalog(), "pvc shop/data")
	for _, u := range r.Unexplained {
		if u.Name == "mount-failed" && u.Answer == "The kubelet on node n1 refuses to mount the volume." && len(u.Next) > 1 {
			return
		}
	}
	t.Errorf("%+v", r.Unexplained)
}

// TestThePodThatOnlyStays: the chain is broken at the object that stays, although its pod has ended.
func TestThePodThatOnlyStays(t *testing.T) {
	t.Parallel()
	w := ended(ebs().Runs(0)).Edit("name: web-0, deletionTimestamp", "name: web-0, finalizers: [example.com/hold], deletionTimestamp").Edit("status: {phase: Running", "status: {phase: Failed")
	got, r := w.Verdict(t, Catalog(), "pvc shop/data")
	if want := "broken: certain deletion-blocked-by-finalizer Pod shop/web-0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, l := range r.Chain {
		if l.Broken != (l.Kind == "Pod") {
			t.Errorf("%s %s: broken %t", l.Kind, l.Name, l.Broken)
		}
	}
}

// TestThePodThatHoldsNobodyUp: another one serves with the volume, so what stays is no alarm about it.
func TestThePodThatHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	w := ended(ebs().Runs(0)).Edit("name: web-0, deletionTimestamp", "name: web-0, finalizers: [example.com/hold], deletionTimestamp").Edit("status: {phase: Running", "status: {phase: Failed")
	show(t, ebsMounted(w.Runs(1), "n2", 1).Attached("n2").Answers("n2", w.Publish(1)), "pod shop/web-1", "degraded: certain deletion-blocked-by-finalizer Pod shop/web-0")
	// A StatefulSet's pod that stays keeps its own next one from being made, whoever else reads the share.
	for owner, want := range map[string]string{"": "broken", "{apiVersion: apps/v1, kind: StatefulSet, name: web, uid: 'e0000000-0000-4000-8000-000000000001', controller: true}": "degraded"} {
		held := ended(cephfs().Runs(0)).Edit("name: web-0, deletionTimestamp", "name: web-0, finalizers: [example.com/hold], deletionTimestamp").Edit("status: {phase: Running", "status: {phase: Failed")
		show(t, second(held, "reader", "n2", owner, "Running", "").Unprobed("n2", "Forbidden"), "pvc shop/data", want+": certain deletion-blocked-by-finalizer Pod shop/web-0")
	}
}

// TestAKubeletThatHangs: what hangs is a share; what waits for the kubelet is a disk, and its claim is asked about.
func TestAKubeletThatHangs(t *testing.T) {
	t.Parallel()
	s, err := snapshot.Load("../../../testdata/cases/k8s-nfs-server-died-kubelet-stuck")
	if err != nil {
		t.Fatal(err)
	}
	r := Catalog().Evaluate(snapshot.NewIndex(s), diagnosis.Question{Kind: "pvc", Namespace: "shop", Name: "frontend-cache"})
	if len(r.RootCauses) != 1 || r.RootCauses[0].Name != "nfs-server-unreachable" || r.RootCauses[0].Certainty != report.Certain {
		t.Errorf("%+v", r.RootCauses)
	}
}

// controllerOff is a driver's controller that somebody has scaled to 0.
func controllerOff(w *world) *world {
	return w.Drop("name: controller-0").Add(`
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: kube-system, name: controller}
spec: {replicas: 0, selector: {matchLabels: {app: controller}}, template: {metadata: {labels: {app: controller}}, spec: {containers: [{name: csi-provisioner, image: 'registry.k8s.io/sig-storage/csi-provisioner:v5.0.1'}, {name: csi-resizer, image: 'registry.k8s.io/sig-storage/csi-resizer:v1.11.1'}, {name: driver, image: i, args: ['--drivername=ebs.csi.aws.com']}]}}}
`)
}

// TestScaledToZero: what was told not to run does not come by waiting, however young the wish is, and what
// starts it again is printed.
func TestScaledToZero(t *testing.T) {
	t.Parallel()
	again := []string{"kubectl -n kube-system scale deployment controller --current-replicas=0 --replicas=1"}
	grows := ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0)).Edit("resources: {requests: {storage: 10Gi}}", "resources: {requests: {storage: 20Gi}}").
		Event("PersistentVolumeClaim", "data", "c0000000-0000-4000-8000-000000000001", "ExternalExpanding", "volume_expand", "", "2026-01-02T11:59:50Z", "waiting for an external controller to expand this PVC")
	young := pendingClaim(ebs(), "Immediate", "volume.kubernetes.io/storage-provisioner: ebs.csi.aws.com, volume.beta.kubernetes.io/storage-provisioner: ebs.csi.aws.com").
		Edit("creationTimestamp: '2026-01-02T11:30:00Z', finalizers", "creationTimestamp: '2026-01-02T11:59:50Z', finalizers")
	sayEach(t, map[string]said{
		"the resizer":     {controllerOff(grows), append(again, "DEGRADED", "resizer-not-working"), []string{"needs only time"}},
		"the provisioner": {controllerOff(young), append(again, "BROKEN", "provisioner-not-responding"), []string{"not long yet"}},
	})
}

// TestYoungAttachmentIsNotRuledOut: an attachment that keeps a pod waiting may be left over before it is old enough
// to be blamed for it.
func TestYoungAttachmentIsNotRuledOut(t *testing.T) {
	t.Parallel()
	w := va(attachFailed(ebs().Waits(), "AttachVolume.Attach failed for volume \"pv-data\" : rpc error: code = Internal desc = no"), "csi-by-hand", "n2", "", "attached: true").
		Edit("creationTimestamp: '2026-01-02T11:30:05Z', finalizers", "creationTimestamp: '2026-01-02T11:58:05Z', finalizers")
	notRuledOut(t, w, "volumeattachment-stale")
}

// TestRolloutIsEnded: a pod of the old ReplicaSet that is only deleted is followed by one like it, which takes the
// volume again; the strategy ends the rollout.
func TestRolloutIsEnded(t *testing.T) {
	t.Parallel()
	azure := vol("disk.csi.azure.com", "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/pvc-1", "")
	sayOf(t, "pvc shop/data", said{rolled(azure, "{type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 25%}}", ""),
		[]string{"rwo-rolling-update", `kubectl -n shop patch deployment api --type merge -p '{"spec":{"strategy":{"type":"Recreate","rollingUpdate":null}}}'`}, []string{"delete pod"}})
}
