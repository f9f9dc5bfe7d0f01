package collect_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/internal/testcluster"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/collect"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestCorpus serves every case as a live cluster and collects only what its
// question needs; with the recordings of the nodes that must lead to the same
// causes as the whole snapshot does.
func TestCorpus(t *testing.T) {
	t.Parallel()
	all, err := corpus.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			saved, err := corpus.Shared(c.Dir)
			if err != nil {
				t.Fatal(err)
			}
			live := fromServer(t, c, saved)
			want, got := answer(c.Ask, saved), answer(c.Ask, live)
			if why := narrower[c.Name]; why != "" {
				nothingNew(t, want, got, why)
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the live cluster is judged otherwise (-saved +live):\n%s", diff)
			}
		})
	}
}

// narrower are cases whose live collection does not reach a log that the saved
// snapshot has: the answer may be weaker there, never another one.
var narrower = map[string]string{
	"mkfs-during-io-error-14042": "the history of replicas on nodes that only the engine's log names",
}

// nothingNew fails for a cause that only the live answer has, and when the reason of
// the exception is gone.
func nothingNew(t *testing.T, saved, live []string, why string) {
	t.Helper()
	if cmp.Equal(saved, live) {
		t.Errorf("the live cluster is judged alike now: take the case out of the exceptions (%s)", why)
	}
	for _, l := range live {
		if strings.HasPrefix(l, "root ") && !slices.Contains(saved, l) {
			t.Errorf("only the live cluster shows: %s", l)
		}
	}
}

// fromServer collects a case from a server, which may be changed, and adds what its nodes said.
func fromServer(t *testing.T, c *corpus.Case, saved *snapshot.Snapshot, change ...func(*testcluster.Server)) *snapshot.Snapshot {
	t.Helper()
	server, err := testcluster.Read(c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range change {
		f(server)
	}
	q := collect.Question{Kind: c.Ask.Kind, Namespace: c.Ask.Namespace, Name: c.Ask.Name}
	nodes := func(_ context.Context, s *snapshot.Snapshot) error {
		s.Nodes = maps.Clone(saved.Nodes)
		for _, g := range saved.Gaps {
			if strings.HasPrefix(g.Need, "node/") {
				s.Gaps = append(s.Gaps, g)
			}
		}
		return nil
	}
	live, err := collect.Collect(context.Background(), server.Config(), q, collect.Options{Now: saved.TakenAt, Nodes: nodes, AppLogs: true})
	if err != nil {
		t.Fatal(err)
	}
	return live
}

// answer is what of a report must not depend on how the snapshot was taken.
func answer(q diagnosis.Question, s *snapshot.Snapshot) []string {
	r := causes.Catalog().Evaluate(snapshot.NewIndex(s), q)
	out := []string{"verdict " + string(r.Verdict), "error " + r.Error}
	line := func(kind string, f report.Cause) {
		out = append(out, fmt.Sprintf("%s %s %s %s: %s", kind, f.Name, f.Certainty, f.Subject, f.Message))
	}
	for _, f := range r.RootCauses {
		line("root", f)
	}
	for _, f := range r.Findings {
		line("nested", f)
	}
	for _, f := range r.Unexplained {
		out = append(out, "unexplained "+f.Name+" "+f.Subject.String())
	}
	for _, g := range r.NotChecked {
		out = append(out, "not checked "+g.Need+" "+g.Node+" "+g.Reason)
	}
	return out
}
