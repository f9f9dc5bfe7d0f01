package causes

import "testing"

// TestWhereTheChainBreaks: the mark stands at what a cause is about, and at no device that happens to be on the same node.
func TestWhereTheChainBreaks(t *testing.T) {
	t.Parallel()
	const denied = "rpc error: code = Internal desc = Could not attach volume: UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/ebs/1 is not authorized to perform: ec2:AttachVolume"
	refused := va(ebs().Waits(), "csi-new", "n1", "", "attached: false, attachError: {time: '2026-01-02T11:59:30Z', message: '"+denied+"'}")
	beside := func(volume, said string) *world {
		return ebsMounted(ebs().Waits(), "n1", 0).Attached("n1").
			Edit("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}, "+volume+"]").FailedMount(said)
	}
	secret := beside("{name: conf, secret: {secretName: settings}}", "MountVolume.SetUp failed for volume \"conf\" : secret \"settings\" not found")
	logs := va(beside("{name: logs, persistentVolumeClaim: {claimName: logs}}", "Unable to attach or mount volumes: unmounted volumes=[logs], unattached volumes=[], failed to process volumes=[]: timed out waiting for the condition"),
		"csi-logs", "n1", "", "attached: false, attachError: {time: '2026-01-02T11:59:30Z', message: '"+denied+"'}").EditIn("csi-logs", "persistentVolumeName: pv-data", "persistentVolumeName: pv-logs").Add(`
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-logs, uid: '7c000000-0000-4000-8000-000000000001', creationTimestamp: '2026-01-01T00:00:00Z'}
spec: {capacity: {storage: 5Gi}, accessModes: [ReadWriteOnce], claimRef: {kind: PersistentVolumeClaim, namespace: shop, name: logs, uid: '7c000000-0000-4000-8000-000000000002'}, csi: {driver: ebs.csi.aws.com, fsType: ext4, volumeHandle: vol-0ffffffffffffff18}}
status: {phase: Bound}`, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: shop, name: logs, uid: '7c000000-0000-4000-8000-000000000002', creationTimestamp: '2026-01-01T00:00:00Z'}
spec: {accessModes: [ReadWriteOnce], volumeName: pv-logs, resources: {requests: {storage: 5Gi}}}
status: {phase: Bound, capacity: {storage: 5Gi}}`)
	going := unscheduled(ebs(), "persistentvolumeclaim \"data\" is being deleted").EditIn("kind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: data", "finalizers: [kubernetes.io/pvc-protection]", "deletionTimestamp: '2026-01-02T11:00:00Z', finalizers: [kubernetes.io/pvc-protection]")
	sayEach(t, map[string]said{
		"nobody lets a claim go":        {going, []string{"pod web-0 ✗ PVC"}, nil},
		"the storage refuses to attach": {refused, []string{"pod web-0 → PVC → PV ✗ attach error to n1"}, nil},
		"a Secret is missing":           {secret, []string{"✗ pod web-0"}, []string{"✗ nvme1n1", "✗ node"}},
		"another claim of the pod":      {logs, []string{"pod web-0 → PVC → PV → attached to n1 → nvme1n1 ✗ its claim logs"}, []string{"✗ nvme1n1"}},
	})
}
