package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// TestWhatThePathSaysComesLast keeps a place in three for the fact that proves the cause.
func TestWhatThePathSaysComesLast(t *testing.T) {
	t.Parallel()
	pending := report.Evidence{Source: "api", Locator: "Pod crm/mysql-0 spec.nodeName w1, status.phase", Text: "Pending"}
	taint := report.Evidence{Source: "api", Locator: "DaemonSet kube-system/csi-node compared with node w1", Text: "taint a=b:NoSchedule is not tolerated"}
	other := report.Evidence{Source: "api", Locator: "Pod kube-system/csi-node-1 spec.nodeName", Text: "w2"}
	given := []report.Evidence{pending, taint, other}
	if diff := cmp.Diff([]report.Evidence{taint, other, pending}, telling(given)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(pending, given[0]); diff != "" {
		t.Error("the list of the report was changed", diff)
	}
}

// TestDenialKeepsItsBegin: the end of "does not list X" alone would say the opposite.
func TestDenialKeepsItsBegin(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"does not list kubernetes.io/csi/x": true, "no pod": true, "none is named x": true, "not satisfied": true, "nothing below /x": true, "does it": false, "node n1": false, "": false} {
		if denies(text) != want {
			t.Errorf("%q denies: %v", text, !want)
		}
	}
}
