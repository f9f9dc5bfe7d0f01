package causes

import "testing"

// TestClaimsOfPredecessors: a pod's own claim has the name of the one that an earlier pod of its name had; that one goes
// by itself, and one that somebody else made does not.
func TestClaimsOfPredecessors(t *testing.T) {
	t.Parallel()
	const (
		scratch = "{name: scratch, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 1Gi}}}}}}"
		earlier = ", ownerReferences: [{apiVersion: v1, kind: Pod, name: web-0, uid: '1b0c5a7e-0f3d-4a6b-9a55-6d3b7f2a0cff', controller: true, blockOwnerDeletion: true}]"
		another = ", ownerReferences: [{apiVersion: v1, kind: Pod, name: web-00, uid: '1b0c5a7e-0f3d-4a6b-9a55-6d3b7f2a0cff', controller: true, blockOwnerDeletion: true}]"
		cause   = "certain volume-source-missing PersistentVolumeClaim shop/web-0-scratch"
	)
	waits := func(meta, made string) *world {
		w := ebs().Drop("kind: PersistentVolumeClaim\n").Drop("kind: PersistentVolume\n").Waits().
			Edit("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", "volumes: ["+scratch+"]").
			Edit("volumeMounts: [{name: data, mountPath: /data}]", "volumeMounts: [{name: scratch, mountPath: /scratch}]").
			EditIn("name: web-0, uid", "2026-01-02T11:30:00Z", made)
		return w.Add("\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: web-0-scratch, uid: 'c0000000-0000-4000-8000-000000000077', creationTimestamp: '2026-01-02T10:00:00Z', finalizers: [kubernetes.io/pvc-protection], annotations: {" +
			anno("ebs.csi.aws.com") + "}" + meta + "}\nspec: {accessModes: [ReadWriteOnce], volumeMode: Filesystem, storageClassName: fast, resources: {requests: {storage: 1Gi}}}\nstatus: {phase: Pending}\n")
	}
	const old, young = "2026-01-02T11:30:00Z", "2026-01-02T11:59:30Z"
	for name, c := range map[string]shown{
		"of an earlier pod, it goes since a moment":   {waits(earlier+", deletionTimestamp: '2026-01-02T11:59:30Z'", old), "waiting: " + cause + " waiting"},
		"of an earlier pod, it goes for half an hour": {waits(earlier+", deletionTimestamp: '2026-01-02T11:30:00Z'", old), "broken: " + cause + "; likely controller-manager-silent Lease kube-system/kube-controller-manager"},
		"of an earlier pod, and nobody deletes it":    {waits(earlier, old), "broken: " + cause},
		"of an earlier pod, the pod is young":         {waits(earlier, young), "waiting: " + cause + " waiting"},
		"of another pod, the pod is young":            {waits(another, young), "broken: " + cause + "; unexplained claim-pending"},
		"of nobody":                                   {waits("", old), "broken: " + cause + "; unexplained claim-pending"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.world, "pod shop/web-0", c.want)
		})
	}
	const renames = "Rename the volume in the template"
	sayOf(t, "pod shop/web-0", said{waits(earlier, old), []string{"an earlier pod of that name"}, []string{renames}})
	sayOf(t, "pod shop/web-0", said{waits("", old), []string{renames}, []string{"an earlier pod of that name"}})
}
