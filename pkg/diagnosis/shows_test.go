package diagnosis

import (
	"slices"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestShows: a cause of a busy device explains a failed mount whose text says busy,
// and only when no other present text says something else.
func TestShows(t *testing.T) {
	t.Parallel()
	text := func(past bool, shows ...string) *Symptom {
		return &Symptom{Name: "mount-failed", Past: past, Shows: shows}
	}
	for _, c := range []struct {
		name  string
		texts []*Symptom
		want  bool
	}{
		{"busy", []*Symptom{text(false, "mount-busy")}, true},
		{"twice busy", []*Symptom{text(false, "mount-busy"), text(false, "mount-busy", "format-failed")}, true},
		{"busy, and denied", []*Symptom{text(false, "mount-busy"), text(false)}, false},
		{"denied once, busy now", []*Symptom{text(true), text(false, "mount-busy")}, true},
		{"busy now, denied once", []*Symptom{text(false, "mount-busy"), text(true)}, true},
		{"denied", []*Symptom{text(false)}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPass(snapshot.NewIndex(&snapshot.Snapshot{}), Question{Kind: "cluster"})
			for _, s := range c.texts {
				p.AddSymptom(s)
			}
			f := &Finding{rule: &Rule{Explains: []string{"mount-busy"}}}
			if got := f.accounts(p.symptoms[0]); got != c.want || len(p.symptoms) != 1 {
				t.Errorf("explained: %v, want %v; shows %v", got, c.want, slices.Clone(p.symptoms[0].Shows))
			}
		})
	}
}
