package diagnosis_test

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// TestWhoDoesNotDelete: who says why a volume stays is named, whether it is an event or the volume's state
// that keeps the words.
func TestWhoDoesNotDelete(t *testing.T) {
	t.Parallel()
	pv := func(policy, source, status string) *sketch.Sketch {
		return sketch.New("{apiVersion: v1, kind: Node, metadata: {name: n1, uid: n1}, status: {conditions: [{type: Ready, status: 'True', lastHeartbeatTime: '2026-01-02T11:59:40Z'}]}}",
			"{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv, uid: pv1, creationTimestamp: '2025-12-01T10:00:00Z'}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteMany], persistentVolumeReclaimPolicy: "+
				policy+", "+source+", claimRef: {kind: PersistentVolumeClaim, namespace: shop, name: data, uid: c1}}, status: {"+status+", lastPhaseTransitionTime: '2026-01-02T09:00:00Z'}}")
	}
	event := func(component string) string {
		return "{apiVersion: v1, kind: Event, metadata: {namespace: default, name: e}, involvedObject: {kind: PersistentVolume, name: pv, uid: pv1}, type: Warning, reason: VolumeFailedDelete, source: {component: " + component +
			"}, firstTimestamp: '2026-01-02T11:50:00Z', lastTimestamp: '2026-01-02T11:59:00Z', message: 'the backend did not take it'}"
	}
	const nfs, csi = "nfs: {server: 10.0.0.9, path: /export}", "csi: {driver: disk.csi.example, volumeHandle: v}"
	for name, c := range map[string]struct {
		s          *sketch.Sketch
		says, said string
	}{
		"in its state":               {pv("Recycle", nfs, "phase: Failed, message: 'Recycle failed: the pod did not end well'"), "The controller manager refuses to delete the volume.", "did not end well"},
		"in an event":                {pv("Delete", nfs, "phase: Failed").Add(event("persistentvolume-controller")), "The controller manager refuses to delete the volume.", "did not take it"},
		"a provisioner of its own":   {pv("Delete", nfs, "phase: Released").Add(event("example.org/nfs_pod-1_uid")), "Provisioner example.org/nfs refuses to delete the volume.", "did not take it"},
		"a driver":                   {pv("Delete", csi, "phase: Released").Add(event("disk.csi.example_pod-1_uid")), "The driver disk.csi.example refuses to delete the volume.", "did not take it"},
		"nobody says why it is kept": {pv("Delete", nfs, "phase: Failed"), "The volume is not deleted, and nobody says why.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.s.Ask(t, "volume pv")
			if len(r.Unexplained) == 0 {
				t.Fatalf("nothing is unexplained: %v", sketch.Causes(r))
			}
			u, quoted := r.Unexplained[0], ""
			for _, e := range u.Evidence {
				quoted += e.Text + "\n"
			}
			if u.Answer != c.says || !strings.Contains(quoted, c.said) {
				t.Errorf("says %q and quotes %q", u.Answer, quoted)
			}
		})
	}
}
