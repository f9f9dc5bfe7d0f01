package diagnosis_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// places are where a distribution or an administrator puts things: the kubelet's directory of k0s, and
// Longhorn in a namespace of another name.
var places = map[string]string{"var/lib/kubelet": "var/lib/k0s/kubelet", "longhorn-system": "block-storage"}

// rootless are cases in which it matters where the kubelet's directory is, and its command line does not say so.
var rootless = map[string]bool{"rbd-cert-exporter-private-mountns": true, "shared-mount-2402": true}

// TestPlacesChangeNothing moves the kubelet and Longhorn, in a part of the cases and with ALL_LOSSES in
// all: what is found stays.
func TestPlacesChangeNothing(t *testing.T) {
	t.Parallel()
	some(t, 16, func(t *testing.T, c *corpus.Case, dir string) {
		if rootless[c.Name] {
			return
		}
		names, to := corpus.NewRenaming(shared(t, dir), places), filepath.Join(t.TempDir(), c.Name)
		if err := names.Write(dir, to); err != nil {
			t.Fatal(err)
		}
		ask := diagnosis.Question{Kind: c.Ask.Kind, Namespace: names.Text(c.Ask.Namespace), Name: c.Ask.Name}
		got := found(causes.Catalog().Evaluate(snapshot.NewIndex(fresh(t, to)), ask), func(s string) string { return s })
		if diff := cmp.Diff(found(recorded(t, c), names.Text), got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
