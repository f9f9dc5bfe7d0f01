package volume_test

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
)

// TestReleased asks whether node n1 should let a volume go, and whether node n2 waits for it.
func TestReleased(t *testing.T) {
	t.Parallel()
	const (
		claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: a, name: c, uid: c1}, spec: {volumeName: pv, accessModes: [ReadWriteOnce]}}"
		pv    = "{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv}, spec: {accessModes: [ReadWriteOnce], claimRef: {namespace: a, name: c, uid: c1}, csi: {driver: d.example.org, volumeHandle: h1}}}"
	)
	pod := func(name, node, phase, meta string) string {
		return "{apiVersion: v1, kind: Pod, metadata: {namespace: a, name: " + name + ", uid: " + name + meta + "}, spec: {nodeName: " + node +
			", containers: [], volumes: [{name: d, persistentVolumeClaim: {claimName: c}}]}, status: {phase: " + phase + "}}"
	}
	for name, tt := range map[string]struct {
		pods              []string
		released, awaited bool
	}{
		"a pod runs here":                    {[]string{pod("p", "n1", "Running", "")}, false, false},
		"no pod is left":                     {nil, true, false},
		"its pod here is being deleted":      {[]string{pod("p", "n1", "Running", ", deletionTimestamp: '2026-01-02T11:00:00Z'")}, true, false},
		"a pod waits for it elsewhere":       {[]string{pod("q", "n2", "Pending", "")}, true, true},
		"one waits elsewhere, one runs here": {[]string{pod("p", "n1", "Running", ""), pod("q", "n2", "Pending", "")}, false, true},
		"its pod here has finished":          {[]string{pod("p", "n1", "Succeeded", "")}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := sketch.New(append([]string{claim, pv}, tt.pods...)...).Index(t)
			v := x.VolumeOfPV("pv")
			if a, why := volume.Released(x, v, "n1"); a.Yes() != tt.released || a.Yes() && why == "" {
				t.Errorf("released = %t (%q), want %t", a.Yes(), why, tt.released)
			}
			if got := volume.Awaited(x, v, "n2"); got != tt.awaited {
				t.Errorf("awaited = %t, want %t", got, tt.awaited)
			}
			if got := volume.Deserted(&evidence.Place{X: x, Volume: v, Node: "n1"}); got != (len(v.LiveConsumersOn("n1")) == 0) {
				t.Errorf("deserted = %t", got)
			}
		})
	}
}
