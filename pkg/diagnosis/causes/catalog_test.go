package causes

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
)

// remedies are the names that a rule may offer: those of which package remedy has a
// constructor. Others are never offered, because what makes them safe cannot be seen
// from a cluster: a machine that is off, an empty disk, a backend that shows no attachment.
var remedies = []string{
	"crypt-close", "delete-engine", "delete-instance-manager", "delete-orphan-directory", "delete-pod",
	"delete-replica", "delete-share-manager", "delete-volumeattachment", "disable-multipathd", "fsck", "install-package", "multipath-flush",
	"restart-holder", "scale-to-0", "start-iscsid", "strategy-recreate", "unmap-device", "unmount-lazy", "vgchange-deactivate",
}

// TestEveryRuleIsComplete names the file that is missing or wrong.
func TestEveryRuleIsComplete(t *testing.T) {
	t.Parallel()
	uncased, cased := lines(t, "uncased.txt"), wantedCauses(t)
	for _, r := range Catalog().Rules {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(string(r.Layer), strings.ReplaceAll(r.Name, "-", "_"))
			for _, path := range []string{file + ".go", file + ".md"} {
				if _, err := os.Stat(path); err != nil {
					t.Errorf("pkg/diagnosis/causes/%s is missing", path)
				}
			}
			checkDoc(t, r, file+".md")
			switch has := slices.Contains(cased, r.Name); {
			case !has && !slices.Contains(uncased, r.Name):
				t.Errorf("no testdata/cases/*/want.yaml wants %s: record a case", r.Name)
			case has && slices.Contains(uncased, r.Name):
				t.Errorf("%s has a case now: remove it from testdata/uncased.txt", r.Name)
			}
		})
	}
}

func checkDoc(t *testing.T, r *diagnosis.Rule, path string) {
	t.Helper()
	if !strings.HasPrefix(r.Doc, "# "+r.Name+"\n") {
		t.Errorf("%s does not begin with the title %q", path, "# "+r.Name)
	}
	for _, s := range []string{"Means", "Proof", "Look-alikes", "What to do", "Source"} {
		_, body, ok := strings.Cut(r.Doc, "\n## "+s+"\n")
		if body, _, _ = strings.Cut(body, "\n## "); !ok || strings.TrimSpace(body) == "" {
			t.Errorf("%s has no section %q, or an empty one", path, "## "+s)
		}
	}
}

// TestEdgesLeadSomewhere finds names that nothing defines.
func TestEdgesLeadSomewhere(t *testing.T) {
	t.Parallel()
	c := Catalog()
	var symptoms, known []string
	for _, r := range c.Rules {
		known = append(known, r.Name)
	}
	for _, s := range c.Symptoms {
		symptoms = append(symptoms, s.Name)
	}
	for _, r := range c.Rules {
		check(t, r.Name, "explains the unknown symptom", r.Explains, symptoms)
		check(t, r.Name, "leads to the unknown cause", r.LeadsTo, known)
		check(t, r.Name, "yields to the unknown cause", r.YieldsTo, known)
		check(t, r.Name, "offers the unknown remedy", r.Offers, remedies)
	}
}

// TestEveryRemedyIsOffered finds steps that no rule advises any more.
func TestEveryRemedyIsOffered(t *testing.T) {
	t.Parallel()
	var offered []string
	for _, r := range Catalog().Rules {
		offered = append(offered, r.Offers...)
	}
	check(t, "package remedy", "has a step that no rule offers:", remedies, offered)
}

func check(t *testing.T, rule, what string, names, known []string) {
	t.Helper()
	for _, n := range names {
		if !slices.Contains(known, n) {
			t.Errorf("%s %s %s", rule, what, n)
		}
	}
}

// TestEveryFileIsRegistered finds rules that were written and forgotten: a
// document without a rule in the list.
func TestEveryFileIsRegistered(t *testing.T) {
	t.Parallel()
	c := Catalog()
	docs, err := filepath.Glob("*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range docs {
		name := strings.ReplaceAll(strings.TrimSuffix(filepath.Base(path), ".md"), "_", "-")
		if c.Rule(name) == nil {
			t.Errorf("pkg/diagnosis/causes/%s: %s is not in the list of all.go", path, name)
		}
	}
}

func lines(t *testing.T, name string) []string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(raw))
}

// wantedCauses are the causes that some case expects.
func wantedCauses(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("../../../testdata/cases/*/want.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var out []string
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var want struct {
			RootCauses []struct{ Name string } `json:"rootCauses"`
			Nested     []string                `json:"nested"`
			Accept     []string                `json:"accept"`
		}
		if err := yaml.Unmarshal(raw, &want); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		for _, k := range want.RootCauses {
			out = append(out, k.Name)
		}
		out = append(append(out, want.Nested...), want.Accept...)
	}
	return out
}
