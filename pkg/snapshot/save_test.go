package snapshot

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
)

// sanitized ignores what Save leaves out by design.
var sanitized = cmp.FilterPath(func(p cmp.Path) bool {
	if len(p) < 2 || p.Index(-2).Type() != reflect.TypeFor[corev1.Container]() {
		return false
	}
	field := strings.TrimPrefix(p.Last().String(), ".")
	return field == "Args" || field == "Command" || field == "Env" || field == "EnvFrom" || strings.HasSuffix(field, "Probe")
}, cmp.Ignore())

func TestSaveKeepsCorpus(t *testing.T) {
	t.Parallel()
	for name, dir := range caseDirs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, err := Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, target := range []string{"copy", "copy.tar.gz"} {
				path := filepath.Join(t.TempDir(), target)
				if err := Save(path, want); err != nil {
					t.Fatal(err)
				}
				got, err := Load(path)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got, sanitized, recordingsOnly, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s: mismatch (-want +got):\n%s", target, diff)
				}
			}
		})
	}
}

// recordingsOnly compares nodes by the recordings that their facts come from.
var recordingsOnly = cmp.Comparer(func(a, b *NodeRecord) bool {
	return a.Name == b.Name && a.Comment == b.Comment && string(a.Recording) == string(b.Recording) && (a.Facts == nil) == (b.Facts == nil)
})
