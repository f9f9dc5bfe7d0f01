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

// TestJustReleased: a volume without a pod on a node is on its way out when its next pod was
// made a moment ago, and nothing of that is left later or when the detachment fails.
func TestJustReleased(t *testing.T) {
	t.Parallel()
	const (
		node  = "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {conditions: [{type: Ready, status: 'True'}]}}"
		claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: a, name: c, uid: c1}, spec: {volumeName: pv, accessModes: [ReadWriteOnce]}}"
		pv    = "{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv}, spec: {accessModes: [ReadWriteOnce], claimRef: {namespace: a, name: c, uid: c1}, csi: {driver: d.example.org, volumeHandle: h1}}}"
	)
	pod := func(node, phase, made string) string {
		return "{apiVersion: v1, kind: Pod, metadata: {namespace: a, name: q, uid: q, creationTimestamp: '" + made + "'}, spec: {nodeName: " + node +
			", containers: [], volumes: [{name: d, persistentVolumeClaim: {claimName: c}}]}, status: {phase: " + phase + "}}"
	}
	va := func(status string) string {
		return "{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {name: csi-1}, spec: {attacher: d.example.org, nodeName: n1, source: {persistentVolumeName: pv}}, status: {attached: true" + status + "}}"
	}
	for name, tt := range map[string]struct {
		objects []string
		want    bool
	}{
		"its next pod has just been made elsewhere": {[]string{va(""), pod("n2", "Pending", "2026-01-02T11:59:50Z")}, true},
		"its next pod waits for long":               {[]string{va(""), pod("n2", "Pending", "2026-01-02T11:58:00Z")}, false},
		"nobody waits for it":                       {[]string{va("")}, false},
		"a pod waits for it here":                   {[]string{va(""), pod("n1", "Pending", "2026-01-02T11:59:50Z")}, false},
		"the detachment fails":                      {[]string{va(", detachError: {message: busy}"), pod("n2", "Pending", "2026-01-02T11:59:50Z")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := sketch.New(append([]string{node, claim, pv}, tt.objects...)...).Index(t)
			if got := volume.JustReleased(x, x.VolumeOfPV("pv"), "n1"); got != tt.want {
				t.Errorf("got %t at %s", got, x.TakenAt)
			}
			if got, want := volume.Recent(x, x.VolumeOfPV("pv")), len(tt.objects) > 1; got != want {
				t.Errorf("recent: got %t, want %t", got, want)
			}
		})
	}
}
