package diagnosis_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// breaking is a rule that fails wherever it is asked.
func breaking(r *diagnosis.Rule) *diagnosis.Rule {
	b := *r
	b.Prove = func(*evidence.Place) []*diagnosis.Proof { panic("some bytes") }
	return &b
}

// TestBrokenRule lets each rule fail in turn: the others answer as before, none gets
// stronger, and the report says which one failed. A third of the rules is tried, and all with ALL_LOSSES.
func TestBrokenRule(t *testing.T) {
	t.Parallel()
	whole := causes.Catalog()
	root, _ := cases(t)
	s := load(t, root+"/founding-multipathd-busy")
	q := diagnosis.Question{Kind: "cluster"}
	x := snapshot.NewIndex(s)
	was := answerOf(whole.Evaluate(x, q))
	told, tried := 0, 0
	for i, bad := range whole.Rules {
		if !corpus.Tried(3, bad.Name) {
			continue
		}
		tried++
		rules := slices.Clone(whole.Rules)
		rules[i] = breaking(bad)
		c, err := diagnosis.NewCatalog(rules, whole.Symptoms, whole.Noise)
		if err != nil {
			t.Fatal(err)
		}
		r := c.Evaluate(x, q)
		for _, n := range r.NotChecked {
			if n.Need == "rule/"+bad.Name && n.Reason == snapshot.Failed && strings.Contains(n.Detail, bad.Name) {
				told++
			}
		}
		if r.Verdict == report.Healthy {
			t.Errorf("without %s the answer is healthy", bad.Name)
		}
		now := answerOf(r)
		for _, line := range was[1:] {
			weaker := strings.Replace(line, " certain", " likely", 1)
			if !strings.HasPrefix(line, bad.Name+" ") && !slices.Contains(now, line) && !slices.Contains(now, weaker) {
				t.Errorf("without %s the answer %q is lost: %v", bad.Name, line, now)
			}
		}
		for _, line := range now {
			if strings.HasSuffix(line, " certain") && !slices.Contains(was, line) {
				t.Errorf("without %s the answer %q is new", bad.Name, line)
			}
		}
	}
	// Some rules have no place in this cluster, and cannot fail there.
	if 2*told < tried {
		t.Errorf("the report says of %d rules that they failed, of %d", told, tried)
	}
}

// TestBrokenPart: a snapshot of which nothing else is to be said is not healthy when a
// rule failed, and a symptom, a noise rule or the putting together that fails ends nothing.
func TestBrokenPart(t *testing.T) {
	t.Parallel()
	fail := func(*diagnosis.Pass) { panic("some bytes") }
	well := func(*diagnosis.Pass) {}
	doc := "# c\n"
	for name, tt := range map[string]struct {
		rule    func(*diagnosis.Pass)
		symptom func(*diagnosis.Pass)
		noise   func(*diagnosis.Pass)
		need    string
	}{
		"nothing": {well, well, well, ""},
		"rule":    {fail, well, well, "rule/c"},
		"symptom": {well, fail, well, "rule/s"},
		"noise":   {well, well, fail, "rule/n"},
	} {
		c := &diagnosis.Catalog{
			Rules:    []*diagnosis.Rule{{Name: "c", Layer: diagnosis.Attach, Severity: report.Blocking, Doc: doc, Asks: diagnosis.EachSweep, Prove: func(*evidence.Place) []*diagnosis.Proof { tt.rule(nil); return nil }}},
			Symptoms: []*diagnosis.SymptomRule{{Name: "s", Run: tt.symptom}},
			Noise:    []*diagnosis.NoiseRule{{Name: "n", Run: tt.noise}},
		}
		x := sketch.New("apiVersion: v1\nkind: Namespace\nmetadata: {name: a}").Index(t)
		r := c.Evaluate(x, diagnosis.Question{Kind: "cluster"})
		var needs []string
		for _, n := range r.NotChecked {
			needs = append(needs, n.Need)
		}
		if tt.need == "" && r.Verdict != report.Healthy || tt.need != "" && (r.Verdict != report.UnknownState || !slices.Contains(needs, tt.need)) {
			t.Errorf("%s fails: verdict %s, not checked %v", name, r.Verdict, needs)
		}
	}
	if r := causes.Catalog().Evaluate(&snapshot.Index{}, diagnosis.Question{Kind: "cluster"}); r.Verdict != report.UnknownState {
		t.Errorf("an index that cannot be asked gives %s", r.Verdict)
	}
}
