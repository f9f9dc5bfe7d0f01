package diagnosis_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// hostile reads a snapshot that an attacker wrote, with its question.
func hostile(t *testing.T, name string) (*corpus.Case, *snapshot.Snapshot) {
	t.Helper()
	root, err := corpus.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "..", "hostile", name)
	c := &corpus.Case{Name: name, Dir: dir}
	if c.Ask, err = corpus.ReadAsk(dir); err != nil {
		t.Fatal(err)
	}
	return c, load(t, dir)
}

// TestTenantsPodIsNoDriver: pods that wear the driver's label and the registrar's
// argument in a tenant's namespace change nothing.
func TestTenantsPodIsNoDriver(t *testing.T) {
	t.Parallel()
	c, s := hostile(t, "spoof-driver-pod")
	got := evaluate(c, s)
	s.Cluster.Pods = slices.DeleteFunc(s.Cluster.Pods, func(p *corev1.Pod) bool { return p.Namespace == "aaa-tenant" })
	if len(got.RootCauses) == 0 {
		t.Error("no cause is reported")
	}
	if diff := cmp.Diff(bytesOf(t, evaluate(c, s)), bytesOf(t, got)); diff != "" {
		t.Errorf("a tenant's pod changes the report (-without +with):\n%s", diff)
	}
}

// TestUnreadDescriptorsProveNothing: a process whose open files could not be read may
// have the volume open, so that nothing uses it is not certain and no command says so.
func TestUnreadDescriptorsProveNothing(t *testing.T) {
	t.Parallel()
	c, s := hostile(t, "remedy-unread-descriptors-delete-va")
	r := evaluate(c, s)
	for _, f := range r.RootCauses {
		if f.Certainty == report.Certain {
			t.Errorf("%s on %s is certain", f.Name, f.Subject)
		}
		for _, m := range f.Remedies {
			if m.Name == "delete-volumeattachment" {
				t.Errorf("%s advises %v", f.Name, m.Commands)
			}
		}
	}
	if !slices.ContainsFunc(r.NotChecked, func(n report.NotChecked) bool { return n.Need == "node/w-12/descriptors" }) {
		t.Errorf("the unread descriptors are not among what was not checked: %v", r.NotChecked)
	}
}

// TestImitationChangesNothing adds a tenant's pods that look like every driver's, well
// or crashing, and processes with the names of daemons, to every case; and, by itself, a
// volume of somebody else that is well.
func TestImitationChangesNothing(t *testing.T) {
	t.Parallel()
	some(t, 3, func(t *testing.T, c *corpus.Case, dir string) {
		s := shared(t, dir)
		want := answerOf(recorded(t, c))
		crashing := len(c.Name)%2 == 0
		imitated, err := corpus.Imitated(s, crashing)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, answerOf(evaluate(c, imitated))); diff != "" {
			t.Errorf("imitations (crashing %v) change the answer (-without +with):\n%s", crashing, diff)
		}
		if diff := cmp.Diff(want, answerOf(evaluate(c, corpus.Enriched(s)))); diff != "" {
			t.Errorf("a volume more changes the answer (-without +with):\n%s", diff)
		}
	})
}

// answerOf is what a report answers: the verdict and the causes with their certainty.
func answerOf(r *report.Report) []string {
	out := []string{r.Verdict}
	for _, f := range slices.Concat(r.RootCauses, r.Findings) {
		out = append(out, key(f)+" "+string(f.Certainty))
	}
	return out
}

// TestTenantsWorkloadServesNoDriver adds workloads of a tenant that say, for every driver,
// that they are its controller and its node plugin, to every case as it is and to the case
// without the true controllers: no cause blames them or gets stronger, no command appears.
func TestTenantsWorkloadServesNoDriver(t *testing.T) {
	t.Parallel()
	some(t, 3, func(t *testing.T, c *corpus.Case, dir string) {
		s := shared(t, dir)
		for name, before := range map[string]*snapshot.Snapshot{"as it is": s, "without controllers": corpus.WithoutControllers(s)} {
			want, got := evaluate(c, before), evaluate(c, corpus.Claimed(before))
			was := answerOf(want)
			for _, f := range slices.Concat(got.RootCauses, got.Findings) {
				if f.Subject.Namespace == corpus.Tenant || strings.Contains(f.Message, corpus.Tenant) {
					t.Errorf("%s: %s blames %s: %s", name, f.Name, f.Subject, f.Message)
				}
				if line := key(f) + " " + string(f.Certainty); f.Certainty == report.Certain && !slices.Contains(was, line) {
					t.Errorf("%s: with a tenant's workloads %s is certain", name, key(f))
				}
			}
			for _, command := range corpus.Acting(got) {
				if !slices.Contains(corpus.Acting(want), command) {
					t.Errorf("%s: there is a new command: %s", name, command)
				}
			}
			if got.Verdict == report.Healthy && want.Verdict != report.Healthy {
				t.Errorf("%s: the answer becomes healthy", name)
			}
		}
	})
}
