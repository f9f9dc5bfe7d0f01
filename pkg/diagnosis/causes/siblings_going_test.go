package causes

import (
	"strings"
	"testing"
)

// goes has the claim of a world be deleted at a time of the day.
func goes(w *world, at string) *world {
	return w.EditIn("kind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: data", "finalizers: [kubernetes.io/pvc-protection]", "deletionTimestamp: '2026-01-02T"+at+"Z', finalizers: [kubernetes.io/pvc-protection]")
}

// TestClaimsThatGo: whoever names a claim that is being deleted keeps it when it has a node, and gets it only
// when it came before.
func TestClaimsThatGo(t *testing.T) {
	t.Parallel()
	const (
		claim  = "deletion-blocked-by-finalizer PersistentVolumeClaim shop/data"
		silent = "likely controller-manager-silent Lease kube-system/kube-controller-manager"
		stuck  = "deletionTimestamp: '2026-01-02T10:00:00Z', deletionGracePeriodSeconds: 30, labels"
		ending = "deletionTimestamp: '2026-01-02T11:59:20Z', deletionGracePeriodSeconds: 30, labels"
	)
	runs := func() *world {
		return ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0))
	}
	refused := func(w *world) *world { // by the scheduler
		return unscheduled(w, "0/3 nodes are available: persistentvolumeclaim \"data\" is being deleted. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.")
	}
	pvGoes := func(w *world) *world {
		return w.EditIn("kind: PersistentVolume\nmeta", "finalizers: [kubernetes.io/pv-protection]", "deletionTimestamp: '2026-01-02T11:00:00Z', finalizers: [kubernetes.io/pv-protection, external-attacher/ebs-csi-aws-com]")
	}
	leftTo := func(finalizer string) *world { // of a volume without a claim
		return ebs().Drop("kind: PersistentVolumeClaim\n").Edit("status: {phase: Bound}", "status: {phase: Released}").
			EditIn("kind: PersistentVolume\nmeta", "finalizers: [kubernetes.io/pv-protection]", "deletionTimestamp: '2026-01-02T11:00:00Z', finalizers: ["+finalizer+"]")
	}
	const made, kept = "external-provisioner.volume.kubernetes.io/finalizer", "broken: likely deletion-blocked-by-finalizer PersistentVolume pv-data"
	told := func(w *world, what string) *world {
		return w.EditIn("kind: Pod\nmetadata: {namespace: shop, name: web-0", "labels", what)
	}
	showEach(t, map[string]shown{
		"a pod runs":       {goes(runs(), "11:00:00"), "waiting: certain " + claim + " waiting"},
		"a pod came later": {goes(ebs().Waits(), "11:20:00"), "broken: certain " + claim},
		"a pod came later, and the kubelet says so":             {goes(ebs().Waits(), "11:20:00").FailedMount("Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: error processing PVC shop/data: PVC is being deleted"), "broken: certain " + claim},
		"a pod came before, and waits for another reason":       {goes(ebs().Waits().Attached("n1"), "11:50:00"), "broken: certain " + claim + " waiting; unexplained pod-waiting-for-volume"},
		"only a pod without a node names it":                    {goes(refused(ebs()), "11:50:00"), "broken: " + silent},
		"one runs, the next is refused":                         {goes(second(refused(ebs()).Attached("n2"), "old", "n2", "", "Running", ""), "11:10:00"), "broken: certain " + claim},
		"the pod was told to end a moment ago":                  {goes(told(runs(), ending), "11:00:00"), "waiting: certain " + claim + " waiting"},
		"the pod does not end":                                  {goes(told(runs(), stuck), "11:00:00"), "broken: unexplained pod-stuck-terminating"},
		"the pod does not end, and another one came later":      {second(goes(told(runs(), stuck), "11:00:00"), "late", "n1", "", "Pending", ""), "broken: certain " + claim + "; unexplained pod-stuck-terminating"},
		"the volume goes, and its claim does not":               {pvGoes(runs()), "waiting: certain deletion-blocked-by-finalizer PersistentVolume pv-data waiting"},
		"the volume goes, and the pod does not end":             {pvGoes(told(runs(), stuck)), "broken: certain deletion-blocked-by-finalizer PersistentVolume pv-data waiting; unexplained pod-stuck-terminating"},
		"the volume goes, and is mounted for nobody":            {pvGoes(ebs().Waits().Attached("n1")), "broken: certain deletion-blocked-by-finalizer PersistentVolume pv-data waiting; unexplained pod-waiting-for-volume"},
		"the volume goes, and the attacher attaches it no more": {va(pvGoes(ebs().Waits()), "csi-a", "n1", "", "attached: false, attachError: {time: '2026-01-02T11:59:00Z', message: 'PersistentVolume \"pv-data\" is marked for deletion'}"), "broken: certain deletion-blocked-by-finalizer PersistentVolume pv-data"},
	})
	for name, c := range map[string]shown{
		"the provisioner runs, and does not let it go": {leftTo(made).File("logs/kube-system/controller-0/csi-provisioner.log", "I0102 10:00:00.1 1 controller.go:1561] delete \"pv-data\": failed to remove finalizer\n"), kept},
		"the attacher runs, and does not let it go":    {leftTo("external-attacher/ebs-csi-aws-com").File("logs/kube-system/controller-0/csi-attacher.log", "I0102 10:00:00.1 1 csi_handler.go:1] pv-data: conflict\n"), kept},
		"a word of another volume":                     {leftTo(made).File("logs/kube-system/controller-0/csi-provisioner.log", "I0102 10:00:00.1 1 controller.go:1561] delete \"pv-data-old\": volume deleted\n"), "broken: unexplained claim-pending"},
		"the storage refuses, in its log alone":        {leftTo(made).File("logs/kube-system/controller-0/csi-provisioner.log", "E0102 10:00:00.1 1 controller.go:1561] delete \"pv-data\": volume deletion failed: rpc error: code = FailedPrecondition desc = volume has 2 snapshots\n"), "broken: unexplained claim-pending"},
		"the provisioner is at work":                   {leftTo(made).File("logs/kube-system/controller-0/csi-provisioner.log", "I0102 11:59:30.1 1 controller.go:1561] delete \"pv-data\": started\n"), "broken: unexplained claim-pending"},
		"the storage refuses to delete it":             {leftTo(made).Event("PersistentVolume", "pv-data", "a0000000-0000-4000-8000-000000000001", "VolumeFailedDelete", "ebs.csi.aws.com_controller-0", "", "2026-01-02T11:59:00Z", "rpc error: code = Internal desc = the operation did not succeed"), "broken: unexplained claim-pending"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.world, "volume pv-data", c.want)
		})
	}
	_, r := goes(ebs().Waits(), "11:20:00").Verdict(t, Catalog(), "pvc shop/data")
	for _, s := range r.RootCauses[0].Remedies {
		if s.Risk != "" && s.Risk != "read-only" || strings.Contains(strings.Join(s.Commands, ""), "delete") {
			t.Errorf("data goes with the claim, and somebody is told to run %v", s.Commands)
		}
	}
}
