package diagnosis_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
)

// TestLossPrintsNoCommand takes evidence away in every way in which it can be missing:
// no command appears that the whole evidence did not give.
func TestLossPrintsNoCommand(t *testing.T) {
	t.Parallel()
	root, _ := cases(t)
	for _, set := range []string{"cases", "pending", "hostile"} {
		names, err := corpus.Names(filepath.Join(root, "..", set))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			t.Run(set+"/"+name, func(t *testing.T) {
				t.Parallel()
				losesCommands(t, filepath.Join(root, "..", set, name))
			})
		}
	}
}

func losesCommands(t *testing.T, dir string) {
	t.Helper()
	ask, err := corpus.ReadAsk(dir)
	if err != nil {
		t.Fatal(err)
	}
	c, s := &corpus.Case{Name: filepath.Base(dir), Dir: dir, Ask: ask}, load(t, dir)
	whole := corpus.Acting(recorded(t, c))
	for _, l := range corpus.Losses(s, ask) {
		if os.Getenv("ALL_LOSSES") == "" && !corpus.Sampled(sampled, "command", c.Name, l.Name) {
			continue
		}
		for _, command := range corpus.Acting(evaluate(c, l.Take())) {
			if !slices.Contains(whole, command) {
				t.Errorf("without %s there is a new command: %s", l.Name, command)
			}
		}
	}
}

// TestHostileSnapshots are snapshots in which the facts that make a step safe were not
// read, or speak against it: no command above read-only, and the report says what has
// to be settled.
func TestHostileSnapshots(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{
		"remedy-delete-instance-manager-pod":  "drained",
		"remedy-pods-forbidden-fsck":          "pods: Forbidden",
		"remedy-pods-forbidden-iscsi-logout":  "pods: Forbidden",
		"remedy-pods-forbidden-rbd-unmap":     "pods: Forbidden",
		"remedy-pods-forbidden-share-manager": "",
		"remedy-pods-forbidden-unmount-lazy":  "pods: Forbidden",
		"remedy-unread-descriptors-delete-va": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, s := hostile(t, name)
			r := evaluate(c, s)
			if len(r.RootCauses) == 0 {
				t.Error("no cause is reported")
			}
			if commands := corpus.Acting(r); len(commands) > 0 {
				t.Errorf("commands are printed:\n%s", strings.Join(commands, "\n"))
			}
			settle := ""
			for _, f := range r.RootCauses {
				for _, m := range f.Remedies {
					settle += m.Settle + "\n"
				}
			}
			if !strings.Contains(settle, says) {
				t.Errorf("the report does not say %q:\n%s", says, settle)
			}
		})
	}
}
