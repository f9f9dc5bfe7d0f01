package plugin

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestWorst: evicted pods of a Deployment stay behind as objects, by the dozen, and are older than
// the pod that is there now.
func TestWorst(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 3, 2, 3, 0, 0, 0, time.UTC)
	pods := func(phases ...corev1.PodPhase) []*corev1.Pod {
		var out []*corev1.Pod
		for i, phase := range phases {
			out = append(out, &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("db-%d", i), CreationTimestamp: metav1.NewTime(begin.Add(time.Duration(i) * time.Minute))},
				Status:     corev1.PodStatus{Phase: phase},
			})
		}
		return out
	}
	const failed, pending = corev1.PodFailed, corev1.PodPending
	for _, c := range []struct {
		of   []*corev1.Pod
		want []string
	}{
		{pods(failed, failed, failed, failed, failed, failed, pending), []string{"db-6"}},
		{pods(pending, failed, pending), []string{"db-0", "db-2"}},
		{pods(failed, failed), []string{"db-0", "db-1"}},
	} {
		if got := podNames(worst(c.of)); !slices.Equal(got, c.want) {
			t.Errorf("asked about %v, want %v", got, c.want)
		}
	}
}
