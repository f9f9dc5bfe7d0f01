package remedy

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nodeplugin"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestPluginBackFitsTheReason asks that a step cures what keeps the plugin away, and nothing else.
func TestPluginBackFitsTheReason(t *testing.T) {
	t.Parallel()
	x := snapshot.NewIndex(&snapshot.Snapshot{})
	for _, tt := range []struct{ name, why, says, not string }{
		{"a taint", "taint db=yes:NoSchedule of node n is not tolerated", "toleration", "selector"},
		{"a label of another value", "label pool of node n is system, nodeSelector wants apps", "the label that its selector", "toleration"},
		{"a label that is absent", "node n has no label disk, nodeSelector wants ssd", "the label that its selector", "toleration"},
		{"an affinity", "node n misses the required affinity disk In [ssd]", "selector or affinity", "toleration"},
		{"a pod of its own that ended", "its pod kube-system/p ended there: Evicted The node was low on resource: memory.", "what is said of its pod", "toleration"},
		{"nothing that was read", "", "toleration for the taint (or fix its selector)", "affinity"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := PluginBack(x, nodeplugin.Use{Driver: "d", Node: "n"}, nodeplugin.Absence{Says: "excluded", Why: tt.why})[0].Title
			if !strings.Contains(got, tt.says) || strings.Contains(got, tt.not) {
				t.Errorf("got %q", got)
			}
		})
	}
}
