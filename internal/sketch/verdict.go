package sketch

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// settle puts what the nodes hold into the sketch.
func (w *World) settle() *Sketch {
	other := strings.NewReplacer(w.moved...)
	for i, o := range w.sketch.Objects {
		for n := 1; n <= 3; n++ {
			o = strings.ReplaceAll(strings.ReplaceAll(o, fmt.Sprintf("NAME-ATTACHED-n%d", n), ""), fmt.Sprintf("NAME-USED-n%d", n), "")
		}
		w.sketch.Objects[i] = other.Replace(o)
	}
	for node, entries := range w.files {
		table := strings.Join(w.tables[node], "\n")
		all := append(entries, "proc/1/mountinfo", w.table(table))
		for i, e := range all {
			all[i] = other.Replace(e)
		}
		w.sketch.Node(node, all...)
	}
	return w.sketch
}

// Snapshot is the cluster as it would be collected.
func (w *World) Snapshot(t testing.TB) *snapshot.Snapshot {
	t.Helper()
	return w.settle().Index(t).Snapshot
}

// Verdict evaluates a question: the verdict, then root causes, then what is unexplained.
func (w *World) Verdict(t testing.TB, c *diagnosis.Catalog, question string) (string, *report.Report) {
	t.Helper()
	kind, name, _ := strings.Cut(question, " ")
	q := diagnosis.Question{Kind: kind, Name: name}
	if ns, rest, ok := strings.Cut(name, "/"); ok {
		q.Namespace, q.Name = ns, rest
	}
	r, faults := c.Audit(w.settle().Index(t), q)
	for _, f := range faults {
		t.Error(f)
	}
	var out []string
	for _, k := range r.RootCauses {
		line := fmt.Sprintf("%s %s %s", k.Certainty, k.Name, k.Subject)
		if k.Waiting {
			line += " waiting"
		}
		out = append(out, line)
	}
	seen := map[string]bool{}
	for _, u := range r.Unexplained {
		seen["unexplained "+u.Symptom.Name] = true
	}
	out = append(out, slices.Sorted(maps.Keys(seen))...)
	return strings.TrimSuffix(r.Verdict+": "+strings.Join(out, "; "), ": "), r
}
