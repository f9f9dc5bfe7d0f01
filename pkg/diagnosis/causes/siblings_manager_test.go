package causes

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// TestNobodyBegins: what kube-controller-manager begins alone is late, and who was kept from it
// has another reason.
func TestNobodyBegins(t *testing.T) {
	t.Parallel()
	led := func(w *world, renewed string) *world {
		return w.Add("\napiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {namespace: kube-system, name: kube-controller-manager}\nspec: {holderIdentity: master_1, leaseDurationSeconds: 15, renewTime: '" + renewed + "'}\n")
	}
	managed := func(w *world) *world {
		return w.Edit("metadata: {name: n1, uid: 'f0000000-0000-4000-8000-000000000001',", "metadata: {name: n1, annotations: {volumes.kubernetes.io/controller-managed-attach-detach: 'true'}, uid: 'f0000000-0000-4000-8000-000000000001',")
	}
	waits := func() *world { return managed(cinderW().Waits()) }
	const stale, fresh = "2026-01-02T11:29:00.000000Z", "2026-01-02T11:59:58.000000Z"
	const silent = "controller-manager-silent Lease kube-system/kube-controller-manager"
	showEach(t, map[string]shown{
		"attach, the lease is old":      {led(waits(), stale), "broken: certain " + silent},
		"attach, the lease is renewed":  {led(waits(), fresh), "broken: likely " + silent},
		"attach, no lease":              {waits(), "broken: likely " + silent},
		"the kubelet attaches":          {led(cinderW().Waits(), stale), "broken: unexplained pod-waiting-for-volume"},
		"events were not read":          {led(waits(), stale).Gap("api//events", "Forbidden"), "broken: unexplained pod-waiting-for-volume"},
		"the controller said something": {led(waits(), stale).Event("Pod", "web-0", sketch.UID+"00", "FailedAttachVolume", "attachdetach-controller", "", "2026-01-02T11:58:00Z", "AttachVolume.Attach failed for volume \"pv-data\" : no"), "broken: unexplained attach-failed; unexplained pod-waiting-for-volume"},
		"attached, nobody lists it":     {led(managed(cinderW().Waits().Attached("n1")).Edit("volumesAttached: [{name: \"kubernetes.io/csi/cinder.csi.openstack.org^0e6dd0a8-1111-4222-8333-123456789012\", devicePath: ''}]", "volumesAttached: []"), stale), "broken: certain " + silent},
		"bind, the lease is old":        {led(pendingClaim(cinderW(), "Immediate", ""), stale), "broken: certain " + silent},
		"bind, a consumer is missing":   {led(pendingClaim(cinderW(), "WaitForFirstConsumer", ""), stale), "waiting"},
		"forget, the lease is old":      {led(cinderW().Edit("creationTimestamp: '2025-12-01T08:00:00Z', finalizers: [kubernetes.io/pvc-protection]", "creationTimestamp: '2025-12-01T08:00:00Z', deletionTimestamp: '2026-01-02T11:30:00Z', finalizers: [kubernetes.io/pvc-protection]"), stale), "broken: certain " + silent},
	})
}

// TestNobodyGivesUp: a silent node that was declared out of service is given up at once, by a manager that works.
func TestNobodyGivesUp(t *testing.T) {
	t.Parallel()
	led := func(w *world, renewed string) *world {
		return w.Add("\napiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {namespace: kube-system, name: kube-controller-manager}\nspec: {holderIdentity: master_1, leaseDurationSeconds: 15, renewTime: '" + renewed + "'}\n")
	}
	given := func(added, pod string) *world {
		w := second(ebs().Waits().Attached("n2"), "web-x", "n2", "", "Running", pod)
		return notReady(mulattach(w, "web-x"), "n2", "2026-01-02T11:20:00Z").Unprobed("n2", "NodeNotReady").
			Edit("spec: {podCIDR: 10.42.12.0/24}", "spec: {podCIDR: 10.42.12.0/24, taints: [{key: node.kubernetes.io/out-of-service, value: nodeshutdown, effect: NoExecute"+added+"}]}")
	}
	const (
		stale, fresh = "2026-01-02T11:29:00.000000Z", "2026-01-02T11:59:58.000000Z"
		dated        = ", timeAdded: '2026-01-02T11:50:00Z'"
		silent       = "controller-manager-silent Lease kube-system/kube-controller-manager"
		waits        = "unexplained multi-attach-error; unexplained pod-waiting-for-volume"
		open         = "unexplained multi-attach-error; unexplained pod-stuck-terminating; unexplained pod-waiting-for-volume"
	)
	showEach(t, map[string]shown{
		"the lease is old":                {led(given(dated, deleted), stale), "broken: certain " + silent},
		"the lease is renewed":            {led(given(dated, deleted), fresh), "broken: likely " + silent},
		"the pod is gone":                 {led(given(dated, deleted).Drop("name: web-x, uid"), fresh), "broken: likely " + silent},
		"since when, nothing tells":       {led(given("", deleted), fresh), "broken: possible " + silent + "; " + open},
		"since when, and the lease":       {led(given("", deleted), stale), "broken: certain " + silent},
		"a minute ago":                    {led(given(", timeAdded: '2026-01-02T11:59:00Z'", deleted), fresh), "waiting"},
		"a minute ago, the pod is gone":   {led(given(", timeAdded: '2026-01-02T11:59:00Z'", deleted).Drop("name: web-x, uid"), fresh), "waiting"},
		"a minute ago, a finalizer":       {led(given(", timeAdded: '2026-01-02T11:59:00Z'", deleted+", finalizers: [example.com/x]"), fresh), "broken: " + open},
		"a minute ago, it reports":        {led(given(", timeAdded: '2026-01-02T11:59:00Z'", deleted).Edit("status: Unknown, reason: NodeStatusUnknown", "status: 'True', reason: KubeletReady"), fresh), "broken: " + open},
		"the pod was not told to end":     {led(given(dated, ""), fresh), "broken: " + waits},
		"the pod has a finalizer":         {led(given(dated, deleted+", finalizers: [example.com/x]"), fresh), "broken: " + open},
		"the node reports again":          {led(given(dated, deleted).Edit("status: Unknown, reason: NodeStatusUnknown", "status: 'True', reason: KubeletReady"), fresh), "broken: " + open},
		"the attachment is being removed": {led(given(dated, deleted).Drop("name: web-x, uid").EditIn("kind: VolumeAttachment", "finalizers:", "deletionTimestamp: '2026-01-02T11:50:10Z', finalizers:"), fresh), "broken: unexplained detach-stuck; " + waits},
	})
}
