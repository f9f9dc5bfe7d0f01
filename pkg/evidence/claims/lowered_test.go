package claims_test

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/claim"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
)

// TestLowered: what was refused before the request of a claim was lowered says nothing of what it asks for now.
func TestLowered(t *testing.T) {
	t.Parallel()
	state := func(allocated, status string) string {
		return ", allocatedResources: {storage: " + allocated + "}, allocatedResourceStatuses: {storage: " + status + "}, conditions: [{type: ControllerResizeError, status: 'True', message: 'it was too much', lastTransitionTime: '2026-01-02T11:58:00Z'}]"
	}
	for name, tt := range map[string]struct {
		state string
		want  string
	}{
		"the request as it is":                        {state("20Gi", "ControllerResizeInfeasible"), "yes"},
		"lowered since":                               {state("90Gi", "ControllerResizeInfeasible"), "not seen: it was asked for 90Gi last, before the request was lowered"},
		"lowered, and the greater one is still tried": {state("90Gi", "ControllerResizeInProgress"), "yes"},
		"raised since":                                {state("15Gi", "ControllerResizeInfeasible"), "yes"},
		"a server that keeps no such state":           {", conditions: [{type: ControllerResizeError, status: 'True', message: 'it was too much'}]", "yes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := raised("10Gi", tt.state)
			x := s.Index(t)
			a, got := claims.Refused(&evidence.Place{X: x, Volume: x.VolumeOfPV("pv-1")}), "yes"
			if !a.Yes() {
				got = "not seen"
				for _, l := range a.Lacks() {
					got += ": " + l.Why
				}
			}
			if got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			r := raised("10Gi", tt.state).Ask(t, "pvc shop/data", claim.ExpansionRefusedByBackend)
			if found := len(r.RootCauses) > 0; found != a.Yes() {
				t.Errorf("the cause is found: %t", found)
			}
			if said := strings.Contains(r.Symptoms[0].Message, "before the request was lowered"); said == a.Yes() {
				t.Errorf("the symptom says %q", r.Symptoms[0].Message)
			}
		})
	}
}
