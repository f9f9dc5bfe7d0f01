package collect

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestMoved compares the pods of a node from before and from after the look at it.
func TestMoved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, now, seen []types.UID
		unread            bool
		gone, come        []types.UID
	}{
		"nothing moved":                     {before: []types.UID{"a"}, now: []types.UID{"a"}, seen: []types.UID{"a"}},
		"one came and was seen":             {before: []types.UID{"a"}, now: []types.UID{"a", "b"}, seen: []types.UID{"a", "b"}, come: []types.UID{"b"}},
		"one came later":                    {before: []types.UID{"a"}, now: []types.UID{"a", "b"}, seen: []types.UID{"a"}},
		"one went":                          {before: []types.UID{"a"}, now: []types.UID{}, gone: []types.UID{"a"}},
		"one went and was seen":             {before: []types.UID{"a"}, now: []types.UID{}, seen: []types.UID{"a"}, gone: []types.UID{"a"}},
		"what the API never knew":           {now: []types.UID{}, seen: []types.UID{"x"}},
		"the second list could not be read": {before: []types.UID{"a"}, unread: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := func(uid types.UID) *corev1.Pod { return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid}} }
			var before []*corev1.Pod
			for _, uid := range c.before {
				before = append(before, pod(uid))
			}
			now, seen := map[types.UID]*corev1.Pod{}, map[types.UID]bool{}
			for _, uid := range c.now {
				now[uid] = pod(uid)
			}
			for _, uid := range c.seen {
				seen[uid] = true
			}
			if c.unread {
				now = nil
			}
			went, come := moved(before, now, seen)
			var gone []types.UID
			for _, p := range went {
				gone = append(gone, p.UID)
			}
			if diff := cmp.Diff([][]types.UID{c.gone, c.come}, [][]types.UID{gone, come}); diff != "" {
				t.Errorf("gone, come (-want +got):\n%s", diff)
			}
		})
	}
}
