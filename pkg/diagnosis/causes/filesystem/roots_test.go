package filesystem_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/symptom"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// checkRules evaluates each branch with the given rules and the real symptoms.
func checkRules(t *testing.T, rules []*diagnosis.Rule, list []branch) {
	t.Helper()
	catalog, err := diagnosis.NewCatalog(rules, symptom.Rules, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range list {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			got := []string{}
			for _, c := range catalog.Evaluate(snapshot.NewIndex(b.h.s), diagnosis.Question{Kind: "pvc", Namespace: "shop", Name: "data"}).RootCauses {
				got = append(got, fmt.Sprintf("%s %s %s", c.Name, c.Certainty, c.Subject))
			}
			if diff := cmp.Diff(b.want, got); diff != "" {
				t.Errorf("root causes (-want +got):\n%s", diff)
			}
		})
	}
}

// unprobed takes the node's recording away.
func (h *host) unprobed() *host { delete(h.s.Nodes, "n1"); return h }
