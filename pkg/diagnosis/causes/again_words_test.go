package causes

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// TestWhatWasSaidLastCounts: an event that was repeated and fell silent counts as long as nobody
// says anything else of the step, and never for certain.
func TestWhatWasSaidLastCounts(t *testing.T) {
	t.Parallel()
	share := func() *world {
		return sketch.NewWorld("kubernetes.io/nfs", "", "accessModes: [ReadWriteMany]\nnfs: {server: 10.0.0.9, path: /export}").Waits()
	}
	at := func(w *world, when, words string) *world {
		return w.Event("Pod", "web-0", sketch.UID+"00", "FailedMount", "kubelet", "n1", when, "MountVolume.SetUp failed for volume \"pv-data\" : mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t nfs 10.0.0.9:/export /x\nOutput: mount.nfs: "+words)
	}
	const denied, other = "access denied by server while mounting 10.0.0.9:/export", "something of another kind"
	for name, c := range map[string]struct {
		w    *world
		want string
	}{
		"fresh":                    {at(share(), "2026-01-02T11:59:00Z", denied), "broken: certain nfs-access-denied Node n1"},
		"a quarter of an hour ago": {at(share(), "2026-01-02T11:45:00Z", denied), "broken: likely nfs-access-denied Node n1"},
		"who said it is not seen":  {at(share(), "2026-01-02T11:45:00Z", denied).Drop("kind: Node\nmetadata: {name: n1").Gap("api/nodes", "Forbidden"), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"something else since":     {at(at(share(), "2026-01-02T11:45:00Z", denied), "2026-01-02T11:59:00Z", other), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"only that it waits since": {at(share(), "2026-01-02T11:45:00Z", denied).FailedMount("Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[data]: timed out waiting for the condition"), "broken: likely nfs-access-denied Node n1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.w, "pvc shop/data", c.want)
		})
	}
}
