package collect

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/testcluster"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestLonghornsPlace: where Longhorn lives is read from its own objects, also for a
// question that leads to none of them; who may not read them is told nothing.
func TestLonghornsPlace(t *testing.T) {
	t.Parallel()
	for name, refusals := range map[string][]testcluster.Refusal{
		"readable":  nil,
		"forbidden": {{Need: "api/longhorn.io/engineimages", Reason: "Forbidden"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, err := testcluster.Start(filepath.Join("..", "..", "testdata", "cases", "founding-multipathd-busy"), refusals...)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(server.Close)
			s, err := Collect(context.Background(), &rest.Config{Host: server.URL}, Question{Kind: "volume", Name: "nosuch"}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			if refusals == nil {
				want = []string{"longhorn-system"}
			}
			if got := snapshot.NewIndex(s).LonghornNamespaces(); !slices.Equal(got, want) {
				t.Errorf("Longhorn lives in %v, want %v", got, want)
			}
			if slices.ContainsFunc(s.Gaps, func(g snapshot.Gap) bool { return g.Need == "api/longhorn.io/engineimages" }) {
				t.Errorf("gaps: %+v", s.Gaps)
			}
		})
	}
}
