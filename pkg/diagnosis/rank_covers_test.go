package diagnosis

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// TestCovers: what keeps a driver off a node takes the place of what the node lacks for
// volumes of that driver, and of nothing else there.
func TestCovers(t *testing.T) {
	t.Parallel()
	about := func(kind, name string, objects ...string) *Finding {
		return &Finding{Subject: report.Subject{Kind: kind, Name: name}, Keys: Keys{objects: objects}}
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
