package diagnosis_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
)

// TestForgedEventsPrintNoCommand: who may write events in the namespace of his pods can
// write them as kubelet does. Such texts may be believed, but no command that acts rests
// on them but the deletion of a pod of his: what the corpus says in its warnings is said
// of other cases' pods.
func TestForgedEventsPrintNoCommand(t *testing.T) {
	t.Parallel()
	root, names := cases(t)
	var said []corpus.Complaint
	for _, name := range names {
		for _, c := range corpus.Complaints(shared(t, filepath.Join(root, name))) {
			if !slices.Contains(said, c) {
				said = append(said, c)
			}
		}
	}
	if len(said) < 100 {
		t.Fatalf("only %d complaints were found", len(said))
	}
	const each = 12
	every(t, func(t *testing.T, c *corpus.Case, dir string) {
		s := shared(t, dir)
		if c.Ask.Namespace == "" {
			return
		}
		want := corpus.Acting(recorded(t, c))
		for from := len(c.Name) * 7 % len(said); from < len(said); from += len(said) / 2 {
			few := said[from:min(from+each, len(said))]
			for _, command := range corpus.Acting(evaluate(c, corpus.Forged(s, c.Ask.Namespace, few))) {
				own := strings.Contains(command, "kubectl -n "+c.Ask.Namespace+" delete pod ") // which he may do himself
				if !own && !slices.Contains(want, command) {
					t.Errorf("events alone print: %s", command)
				}
			}
		}
	})
}
