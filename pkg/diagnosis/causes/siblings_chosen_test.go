package causes

import "testing"

// TestNodesThatWereChosen: a claim waits for the node that was chosen for it, and that node may be gone.
func TestNodesThatWereChosen(t *testing.T) {
	t.Parallel()
	const (
		nowhere = "provisioning-failed PersistentVolumeClaim shop/data"
		open    = "broken: unexplained claim-pending; unexplained pod-waiting-for-volume"
	)
	chosen := func(node string) *world {
		w := pendingClaim(ebs(), "WaitForFirstConsumer", anno("ebs.csi.aws.com")+on(node)).Waits().Edit("nodeName: n1, restartPolicy", "restartPolicy")
		return w.Edit("conditions: [{type: PodScheduled, status: 'True', lastTransitionTime: '2026-01-02T11:30:00Z'}, ", "conditions: [")
	}
	refused := func(w *world, words string) *world {
		return pvcEvent(w, "Warning", "ProvisioningFailed", "ebs.csi.aws.com_ebs-csi-controller-1_x", words)
	}
	const missing, full = "failed to get target node: node \"n9\" not found", "failed to provision volume with StorageClass \"fast\": rpc error: code = ResourceExhausted desc = no space left"
	rows := map[string]shown{
		"its node is gone, and the provisioner says so": {refused(chosen("n9"), missing), "broken: certain " + nowhere},
		"its node is gone":                           {chosen("n9"), "broken: likely " + nowhere},
		"its node is there":                          {chosen("n1"), open},
		"its node is there, and the storage is full": {refused(chosen("n1"), full), "broken: certain " + nowhere},
		"nodes were not read":                        {chosen("n9").Drop("kind: Node\n").Gap("api//nodes", "Forbidden"), open},
		"it was chosen a moment ago":                 {chosen("n9").EditIn("kind: PersistentVolumeClaim", "2026-01-02T11:30:00Z", "2026-01-02T11:57:00Z"), open},
		"the provisioner is gone, too":               {chosen("n9").Drop("name: controller-0"), "broken: likely provisioner-not-responding PersistentVolumeClaim shop/data; likely " + nowhere},
	}
	showEach(t, rows)
	blamed := []string{"refuses to make a volume", "driver's documentation"}
	sayEach(t, map[string]said{
		"the node is what is missing": {refused(chosen("n9"), missing), []string{"chose node n9", "selected-node-"}, blamed},
		"the storage is what is full": {refused(chosen("n1"), full), blamed[:1], []string{"selected-node-"}},
	})
}

// TestClaimsOfTemplates: a StatefulSet makes the claim of its template beside the pod.
func TestClaimsOfTemplates(t *testing.T) {
	t.Parallel()
	lost := func(claim string) *world {
		w := unscheduled(ebs().Drop("kind: PersistentVolumeClaim\n").Drop("kind: PersistentVolume\n"), "0/3 nodes are available: persistentvolumeclaim \""+claim+"\" not found. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.")
		return w.Edit("persistentVolumeClaim: {claimName: data}", "persistentVolumeClaim: {claimName: "+claim+"}")
	}
	const once, create = "Delete pod shop/web-0 once", "Create PersistentVolumeClaim"
	sayOf(t, "pod shop/web-0", said{lost("data-web-0"), []string{once, "is empty"}, []string{create}})
	sayOf(t, "pod shop/web-0", said{lost("data"), []string{create}, []string{once}})
}
