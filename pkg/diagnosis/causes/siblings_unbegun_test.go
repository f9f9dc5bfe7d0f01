package causes

import (
	"strings"
	"testing"
)

// TestPodsThatNobodyBegins: a pod whose volumes need nobody, and which is not started, is not called well without a word.
func TestPodsThatNobodyBegins(t *testing.T) {
	t.Parallel()
	empty := func(w *world) *world {
		return w.Drop("kind: PersistentVolumeClaim\n").Drop("kind: PersistentVolume\n").
			Edit("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", "volumes: [{name: data, emptyDir: {medium: Memory}}]")
	}
	const word = "is not made yet"
	for name, c := range map[string]struct {
		w   *world
		has bool
	}{
		"it waits for half an hour": {empty(ebs().Waits()), true},
		"it runs":                   {empty(ebs().Runs(0)), false},
		"it has just come":          {empty(ebs().Waits()).EditIn("name: web-0, uid", "2026-01-02T11:30:00Z", "2026-01-02T11:59:30Z"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, r := c.w.Verdict(t, Catalog(), "pod shop/web-0")
			if strings.Contains(r.Summary, word) != c.has {
				t.Errorf("%s: %s", r.Verdict, r.Summary)
			}
		})
	}
}
