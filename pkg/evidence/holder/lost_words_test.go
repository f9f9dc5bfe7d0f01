package holder

import (
	"testing"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestSilence: a kubelet that reports why its node is not ready is told from one that is silent.
func TestSilence(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	x := snapshot.NewIndex(&snapshot.Snapshot{TakenAt: now})
	const stuck = "[container runtime is down, PLEG is not healthy: pleg was last seen active 4m11.03953902s ago; threshold is 3m0s]"
	since := now.Add(-3 * time.Minute)
	for name, c := range map[string]struct {
		ready snapshot.Readiness
		want  string
	}{
		"the runtime is stuck": {snapshot.Readiness{Reason: "KubeletNotReady", Message: stuck, LeaseAge: 5 * time.Second},
			"Node n1 has not been Ready for 3m (KubeletNotReady), and its kubelet reports why: container runtime is down, PLEG is not healthy"},
		"no lease since": {snapshot.Readiness{Reason: "KubeletNotReady", Message: stuck, LeaseAge: 2 * time.Minute}, "Node n1 has not been Ready for 3m (Ready is False, KubeletNotReady)"},
		"no word":        {snapshot.Readiness{Unknown: true, Reason: "NodeStatusUnknown", Message: "Kubelet stopped posting node status.", LeaseAge: 5 * time.Second}, "Node n1 has not been Ready for 3m (Ready is Unknown, NodeStatusUnknown)"},
	} {
		c.ready.Since = since
		if got := (Lost{x: x, Name: "n1", Ready: c.ready}).Silence(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
