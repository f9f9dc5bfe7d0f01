package diagnosis

import (
	"slices"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// TestCovers: what keeps a driver off a node takes the place of what the node lacks for
// volumes of that driver, and of nothing else there.
func TestCovers(t *testing.T) {
	t.Parallel()
	about := func(kind, name string, objects ...string) *Finding {
		return &Finding{Subject: report.Subject{Kind: kind, Name: name}, Keys: Keys{objects: set[string]{list: objects}}}
	}
	for name, c := range map[string]struct {
		placement, lack *Finding
		want            bool
	}{
		"the same volume":           {about("Node", "n1", "volume/a", "pod/x"), about("Node", "n1", "volume/a"), true},
		"another volume, too":       {about("Node", "n1", "volume/a"), about("Node", "n1", "volume/a", "volume/b"), false},
		"another node":              {about("Node", "n2", "volume/a"), about("Node", "n1", "volume/a"), false},
		"a node as a whole":         {about("Node", "n1"), about("Node", "n1", "volume/a"), true},
		"a cause that is no node's": {about("DaemonSet", "p", "volume/a"), about("Node", "n1", "volume/b"), true},
	} {
		if got := c.placement.covers(c.lack); got != c.want {
			t.Errorf("%s: covers = %v", name, got)
		}
	}
}

// TestJoin: one fault under two volumes names the pods of both; the steps of a weaker
// branch of the cause are not the stronger one's.
func TestJoin(t *testing.T) {
	t.Parallel()
	found := func(c report.Certainty, steps ...string) *Finding {
		return &Finding{Certainty: c, Message: steps[0], Refutation: steps[0], Steps: remedy.Sentences(steps...)}
	}
	for name, c := range map[string]struct {
		f, o *Finding
		want []string
	}{
		"the same":           {found(report.Certain, "flush", "pod a"), found(report.Certain, "flush", "pod b"), []string{"flush", "flush", "pod a", "pod b"}},
		"the second is sure": {found(report.Likely, "look"), found(report.Certain, "flush"), []string{"flush", "flush"}},
		"the first is sure":  {found(report.Certain, "flush"), found(report.Likely, "look"), []string{"flush", "flush"}},
	} {
		c.f.join(c.o)
		got := []string{c.f.Refutation}
		for _, s := range c.f.Steps {
			got = append(got, s.Title)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
