package diagnosis_test

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
)

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
