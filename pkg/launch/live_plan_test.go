package launch

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/agent"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestCorpusAsLive: every answer stays right when the recorded machines are asked only what
// the plan and the probes ask on running ones. What a rule needs and nobody asks fails here.
// Half of the cases are tried, and all with ALL_LOSSES as .ci/run does.
func TestCorpusAsLive(t *testing.T) {
	t.Parallel()
	all, err := corpus.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if !corpus.Tried(2, c.Name) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			s, err := corpus.Load(c.Dir)
			if err != nil {
				t.Fatal(err)
			}
			x := snapshot.NewIndex(s)
			volumes := volumesOf(x, Question{Kind: c.Ask.Kind, Namespace: c.Ask.Namespace, Name: c.Ask.Name})
			for node, record := range s.Nodes {
				record.Facts = agent.Gather(t.Context(), asLive(t, c.Dir, node, servers(x, node, volumes)))
			}
			r, err := corpus.Evaluate(c, s, causes.Catalog())
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range r.Failures {
				t.Error(f)
			}
			for _, n := range r.Notes {
				t.Log(n)
			}
		})
	}
}

func asLive(t *testing.T, dir, node string, s Servers) host.Host {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "nodes", node+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := host.ParseRecording(data)
	if err != nil {
		t.Fatal(err)
	}
	return r.AsLive(map[string][]string{"resolve": s.Names, "dial": s.Dials})
}
