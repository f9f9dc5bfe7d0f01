package causes

import "testing"

// TestClaimsThatWerePlaced: a claim for which a node was chosen waits for its provisioner, and for no pod any more.
func TestClaimsThatWerePlaced(t *testing.T) {
	t.Parallel()
	const class = "WaitForFirstConsumer"
	claim := func(driver, annotations string) *world { return pendingClaim(vol(driver, "h", ""), class, annotations) }
	young := func(w *world) *world {
		return w.EditIn("name: web-0, uid", "2026-01-02T11:30:00Z", "2026-01-02T11:59:20Z")
	}
	controllerless := func(w *world) *world { return w.Drop("name: controller-0") }
	showEach(t, map[string]shown{
		"nobody ever wanted it":                    {claim("topolvm.io", ""), "waiting"},
		"its pod is gone":                          {claim("topolvm.io", anno("topolvm.io")+on("n1")), "broken: unexplained claim-pending"},
		"its pod is gone, and so the provisioner":  {controllerless(claim("topolvm.io", anno("topolvm.io")+on("n1"))), "broken: likely provisioner-not-responding PersistentVolumeClaim shop/data"},
		"its provisioner is gone, and it is young": {controllerless(claim("topolvm.io", anno("topolvm.io")+on("n1"))).EditIn("kind: PersistentVolumeClaim", "2026-01-02T11:30:00Z", "2026-01-02T11:57:00Z"), "broken: unexplained claim-pending"},
		"another pod just came":                    {young(claim("topolvm.io", anno("topolvm.io")+on("n1")).Waits()), "waiting"},
		"it was made a moment ago":                 {claim("topolvm.io", anno("topolvm.io")+on("n1")).EditIn("kind: PersistentVolumeClaim", "2026-01-02T11:30:00Z", "2026-01-02T11:59:20Z"), "waiting"},
	})
}

// TestHelperAtWork: a helper makes the volume of a claim since a moment ago, however long the claim is there.
func TestHelperAtWork(t *testing.T) {
	t.Parallel()
	const made, refused = "pvc-c0000000-0000-4000-8000-000000000001", "failed to provision volume with StorageClass \"fast\": failed to create volume pvc-c0000000-0000-4000-8000-000000000001: create process timeout after 120 seconds"
	helper := func(at, state string) *world {
		w := pendingClaim(vol("rancher.io/local-path", "x", ""), "WaitForFirstConsumer", anno("rancher.io/local-path")+on("n1")).Waits()
		return w.Edit("nodeName: n1, restartPolicy", "restartPolicy").Edit("conditions: [{type: PodScheduled, status: 'True', lastTransitionTime: '2026-01-02T11:30:00Z'}, ", "conditions: [").
			Add("\napiVersion: v1\nkind: Pod\nmetadata: {namespace: kube-system, name: helper-pod-create-" + made + ", uid: '6a000000-0000-4000-8000-000000000001', creationTimestamp: '" + at + "'}\nspec: {nodeName: n1, volumes: [{name: data, hostPath: {path: /opt/local-path-provisioner}}], containers: [{name: helper-pod, image: busybox}]}\nstatus: {phase: Pending, startTime: '" + at + "', containerStatuses: [{name: helper-pod, ready: false, restartCount: 0, image: i, imageID: '', state: " + state + "}]}\n")
	}
	const creating, moment = "{waiting: {reason: ContainerCreating}}", "2026-01-02T11:59:50Z"
	const open = "broken: unexplained claim-pending; unexplained pod-waiting-for-volume"
	showEach(t, map[string]shown{
		"since a moment":                {helper(moment, creating), "waiting"},
		"since ten minutes":             {helper("2026-01-02T11:50:00Z", creating), "broken: likely helper-pod-failed Pod kube-system/helper-pod-create-" + made},
		"its image is not there":        {helper("2026-01-02T11:59:10Z", "{waiting: {reason: ImagePullBackOff, message: 'Back-off pulling image'}}"), "broken: certain helper-pod-failed Pod kube-system/helper-pod-create-" + made},
		"the one before was given up":   {pvcEvent(helper(moment, creating), "Warning", "ProvisioningFailed", "rancher.io/local-path_p_1", refused), "broken: likely helper-pod-failed Pod kube-system/helper-pod-create-" + made},
		"of another claim, by its name": {helper(moment, creating).Edit("helper-pod-create-"+made, "helper-pod-create-pvc-c0000000-0000-4000-8000-000000000002"), open},
	})
}
