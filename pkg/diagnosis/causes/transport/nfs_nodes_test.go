package transport_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/transport"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/symptom"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestOneCauseForAVolume: a server that fails on two nodes is one cause of a volume, and one
// of each node where the question is about nodes.
func TestOneCauseForAVolume(t *testing.T) {
	t.Parallel()
	build := func(answer, errno string) *world {
		w := newWorld(nfsPV()).pod("web", "n1", corev1.PodRunning).pod("api", "n2", corev1.PodRunning)
		for node, pod := range map[string]string{"n1": "web", "n2": "api"} {
			w.probed(node, func(f *probes.Facts) {
				f.Statfs[mounted(f, pod, "hard")] = probes.FSStat{Err: errno}
				f.Dials[server+":2049"] = answer
			})
		}
		return w
	}
	silent, stale := transport.NFSServerUnreachable, transport.NFSHandleStale
	volume, second, all := diagnosis.Question{Kind: "pvc", Namespace: "shop", Name: "data"}, diagnosis.Question{Kind: "node", Name: "n2"}, diagnosis.Question{Kind: "cluster"}
	for name, c := range map[string]struct {
		world *world
		rule  *diagnosis.Rule
		ask   diagnosis.Question
		want  []string
	}{
		"silent, the volume":  {build("timeout 3s", "hang"), silent, volume, []string{"certain Node n1"}},
		"silent, a node":      {build("timeout 3s", "hang"), silent, second, []string{"certain Node n2"}},
		"silent, the cluster": {build("timeout 3s", "hang"), silent, all, []string{"certain Node n1", "certain Node n2"}},
		"stale, the volume":   {build("ok 1ms", "ESTALE"), stale, volume, []string{"certain Pod shop/web"}},
		"stale, a node":       {build("ok 1ms", "ESTALE"), stale, second, []string{"certain Pod shop/api"}},
		"stale, the cluster":  {build("ok 1ms", "ESTALE"), stale, all, []string{"certain Pod shop/api", "certain Pod shop/web"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			catalog, err := diagnosis.NewCatalog([]*diagnosis.Rule{c.rule}, symptom.Rules, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, r := range catalog.Evaluate(snapshot.NewIndex(c.world.s), c.ask).RootCauses {
				got = append(got, string(r.Certainty)+" "+r.Subject.String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
