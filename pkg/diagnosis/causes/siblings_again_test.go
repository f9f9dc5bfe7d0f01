package causes

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// ephemeral gives web-0 an ephemeral volume of a CSI driver beside its claim.
func ephemeral(w *world, name string) *world {
	for _, n := range []string{"1", "2", "3"} {
		w.Edit("nodeID: n"+n+", topologyKeys: null}]}", "nodeID: n"+n+", topologyKeys: null}, {name: secrets-store.csi.k8s.io, nodeID: n"+n+", topologyKeys: null}]}")
	}
	return w.Edit("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}, {name: "+name+", csi: {driver: secrets-store.csi.k8s.io, readOnly: true, volumeAttributes: {secretProviderClass: app}}}]").
		Edit("volumeMounts: [{name: data, mountPath: /data}]", "volumeMounts: [{name: data, mountPath: /data}, {name: "+name+", mountPath: /mnt/"+name+"}]").
		Add("\napiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {name: secrets-store.csi.k8s.io, uid: '3a000000-0000-4000-8000-000000000001', creationTimestamp: '2025-11-01T08:00:00Z'}\nspec: {attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: [Ephemeral]}\n")
}

// taken is a claim that names the volume of another one.
func taken(w *world) *world {
	return w.Edit("status: {phase: Bound, accessModes: [ReadWriteOnce], capacity: {storage: 10Gi}}", "status: {phase: Pending}").
		Edit("namespace: shop, name: data, uid: 'c0000000-0000-4000-8000-000000000001'}\n  accessModes", "namespace: shop, name: other, uid: 'c0000000-0000-4000-8000-000000000009'}\n  accessModes").
		Add("\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: other, uid: 'c0000000-0000-4000-8000-000000000009', creationTimestamp: '2025-12-20T08:00:00Z'}\nspec: {accessModes: [ReadWriteOnce], volumeMode: Filesystem, storageClassName: fast, volumeName: pv-data, resources: {requests: {storage: 10Gi}}}\nstatus: {phase: Bound, accessModes: [ReadWriteOnce], capacity: {storage: 10Gi}}\n")
}

func encryptedRBD() *world {
	w := sketch.NewWorld("rbd.csi.ceph.com", "0001-0009-rook-ceph-0000000000000002-bbbb", strings.Replace(rbdPV, "imageFeatures: layering", "imageFeatures: layering, encrypted: 'true', encryptionKMSID: user", 1))
	return rbdMapped(w.Waits().Attached("n1"), "n1").Entries("n1", "@content/252:0", "TYPE=crypto_LUKS\nUUID=5f", "proc/modules", "dm_crypt 57344 0 - Live 0x0\nrbd 28672 0 - Live 0x0")
}

func TestSiblingsAgain(t *testing.T) {
	t.Parallel()
	shared := func() *world {
		return ephemeral(nfsMounted(nfs().Runs(0), "n1", 0).Answers("n1", nfs().Publish(0)), "certs")
	}
	consumer := func() *world {
		return pvcEvent(pendingClaim(vol("topolvm.io", "x", ""), "WaitForFirstConsumer", ""), "Normal", "WaitForFirstConsumer", "persistentvolume-controller", "waiting for first consumer to be created before binding").Waits()
	}
	const hint = "failed to open device /dev/rbd0: exit status 1 Check that kernel supports aes-xts-plain64 cipher (check syslog for more info)."
	for name, c := range map[string]struct {
		w         *world
		ask, want string
	}{
		"an ephemeral volume is not mounted":         {shared(), "pod shop/web-0", "broken: certain mount-missing-under-pod Pod shop/web-0"},
		"an ephemeral volume is mounted":             {shared().Mounts("n1", "0:88 / "+strings.Replace(nfs().Publish(0), "pv-data", "certs", 1)+" ro,relatime shared:88 - tmpfs tmpfs rw,inode64"), "pod shop/web-0", "healthy"},
		"the volume belongs to another claim":        {taken(cinderW()).Waits(), "", "broken: certain claim-volume-mismatch PersistentVolumeClaim shop/data"},
		"the other claim may not be read":            {taken(cinderW()).Drop("metadata: {namespace: shop, name: other").Edit("namespace: shop, name: other", "namespace: stage, name: other").Gap("api//persistentvolumeclaims/stage", "Forbidden"), "", "broken: likely claim-volume-mismatch PersistentVolumeClaim shop/data"},
		"a nodeName that the template has not":       {consumer(), "", "broken: unexplained claim-pending; unexplained pod-waiting-for-volume"},
		"the template has changed since":             {consumer().Edit("labels: {app: web}, ownerReferences", "labels: {app: web, controller-revision-hash: web-1}, ownerReferences").Edit("status: {replicas: 1}", "status: {replicas: 1, updateRevision: web-2}"), "", "broken: likely wffc-bypassed-by-nodename Pod shop/web-0"},
		"no such cipher, the kernel says so":         {encryptedRBD().FailedMount(stageFails(hint)).Kernel("n1", "61|device-mapper: table: 253:5: crypt: Error allocating crypto tfm (-ENOENT)"), "", "broken: certain encryption-tools-missing Node n1"},
		"no such cipher, cryptsetup says so":         {encryptedRBD().FailedMount(stageFails(hint)), "", "broken: likely encryption-tools-missing Node n1"},
		"no such cipher, the node was not looked at": {encryptedRBD().FailedMount(stageFails(hint)).Unprobed("n1", "PodRejected"), "", "broken: likely encryption-tools-missing Node n1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.ask == "" {
				c.ask = "pvc shop/data"
			}
			show(t, c.w, c.ask, c.want)
		})
	}
}
