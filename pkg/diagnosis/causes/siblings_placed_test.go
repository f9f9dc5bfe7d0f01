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

// TestWhereFreeVolumesLie: a claim that gets one of the volumes that were made by hand can have it only where one is free.
func TestWhereFreeVolumesLie(t *testing.T) {
	t.Parallel()
	claim := func(taint string, free ...string) *world {
		w := unscheduled(pendingClaim(sketchWorld("", "", localPV), "WaitForFirstConsumer", ""), "0/3 nodes are available: 1 node(s) had untolerated taint {db: }, 2 node(s) didn't find available persistent volumes to bind.").
			Edit("provisioner: \"\"", "provisioner: kubernetes.io/no-provisioner")
		if taint != "" {
			w.Edit("spec: {podCIDR: 10.42.11.0/24}", "spec: {podCIDR: 10.42.11.0/24, taints: [{key: "+taint+", effect: NoSchedule}]}")
		}
		for _, node := range free {
			affinity := "nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [" + node + "]}]}]}}"
			if node == "" {
				affinity = "volumeMode: Filesystem"
			}
			w.Add("\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: free-" + node + "}\nspec: {accessModes: [ReadWriteOnce], capacity: {storage: 10Gi}, storageClassName: fast, local: {path: /mnt/d}, " + affinity + "}\nstatus: {phase: Available}\n")
		}
		return w
	}
	const conflict = "broken: certain topology-conflict PersistentVolume free-"
	const open = "broken: possible consumer-unschedulable Pod shop/web-0; unexplained claim-pending; unexplained pod-waiting-for-volume"
	showEach(t, map[string]shown{
		"on a node that the pod does not tolerate": {claim("db", "n1"), conflict + "n1"},
		"on nodes that are gone":                   {claim("", "n8", "n9"), conflict + "n8"},
		"one of them on a node that is gone":       {claim("db", "n9", "n1"), conflict + "n1"},
		"one on a node that it tolerates":          {claim("db", "n1", "n2"), open},
		"one of them can be used everywhere":       {claim("db", "n1", ""), open},
		"too small":                                {claim("db", "n1").EditIn("name: free-n1", "storage: 10Gi", "storage: 1Gi"), "broken: certain claim-volume-mismatch PersistentVolumeClaim shop/data"},
		"kept for the claim, before free ones":     {claim("db", "n1", "n2").EditIn("name: free-n1", "storageClassName: fast,", "storageClassName: fast, claimRef: {namespace: shop, name: data},"), conflict + "n1"},
		"kept for the claim":                       {claim("db", "n1").EditIn("name: free-n1", "storageClassName: fast,", "storageClassName: fast, claimRef: {namespace: shop, name: data},"), conflict + "n1"},
	})
}
