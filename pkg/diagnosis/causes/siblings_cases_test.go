package causes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
)

// edit changes one file of a case: every "before" becomes "after". An empty before
// appends, an after of cut removes the file.
type edit struct{ file, before, after string }

const cut = "\x00"

// sibling is a case with a small difference that changes the answer.
type sibling struct {
	of    string // the case
	name  string
	edits []edit
	want  string // "certainty cause Kind Name" of every root, or ""
}

func (s sibling) run(t *testing.T) *corpus.Result {
	t.Helper()
	root, err := corpus.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), s.of)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, s.of))); err != nil {
		t.Fatal(err)
	}
	for _, e := range s.edits {
		path := filepath.Join(dir, filepath.FromSlash(e.file))
		if e.after == cut {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := string(text) + e.after
		if e.before != "" {
			if changed = strings.ReplaceAll(string(text), e.before, e.after); changed == string(text) {
				t.Fatalf("%s has no %q", e.file, e.before)
			}
		}
		if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := corpus.Run(dir, Catalog())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSiblingsOfCases: a look-alike must not be named, and where evidence is missing the
// answer is weaker.
func TestSiblingsOfCases(t *testing.T) {
	t.Parallel()
	for _, s := range append(siblingsOfHolders, siblingsOfObjects...) {
		t.Run(s.of+"/"+s.name, func(t *testing.T) {
			t.Parallel()
			r := s.run(t)
			var got []string
			for _, c := range r.Report.RootCauses {
				got = append(got, string(c.Certainty)+" "+c.Name+" "+c.Subject.Kind+" "+c.Subject.Name)
			}
			if have := strings.Join(got, "; "); have != s.want {
				t.Errorf("\n got %s\nwant %s", have, s.want)
				if os.Getenv("SHOW") != "" {
					t.Log(r.Text)
				}
			}
		})
	}
}

// TestLookIsOfTheCause: the first look shows what a cause rests on, not what a cause that
// yielded to it was known by.
func TestLookIsOfTheCause(t *testing.T) {
	t.Parallel()
	r := sibling{of: "gpu-node-outside-longhorn-no-plugin"}.run(t)
	if root := r.Report.RootCauses[0]; len(root.Yielded) == 0 || !strings.HasPrefix(strings.Join(root.Remedies[0].Commands, " "), "kubectl get csinode gpu-1") {
		t.Errorf("%v yielded to %s; first: %+v", root.Yielded, root.Name, root.Remedies[0])
	}
}
