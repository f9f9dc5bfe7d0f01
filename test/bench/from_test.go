package bench

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/synthetic"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/plugin"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// BenchmarkFrom runs the whole command on a saved snapshot: load, index, every rule,
// text report. Three sizes show how it grows; the largest has 5,000 nodes, 50,000
// claims and 100,000 events.
func BenchmarkFrom(b *testing.B) {
	for _, nodes := range []int{50, 500, 5000} {
		path := filepath.Join(b.TempDir(), "s.tar.gz")
		if err := snapshot.Save(path, synthetic.Cluster(nodes)); err != nil {
			b.Fatal(err)
		}
		for _, ask := range []string{"pvc pvc-1-1 -n shop", "node node-1", "cluster"} {
			b.Run(fmt.Sprintf("%s/nodes=%d", strings.Fields(ask)[0], nodes), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					from(b, path, ask)
				}
			})
		}
	}
}

// BenchmarkLargestCase does the same with the largest recorded incident.
func BenchmarkLargestCase(b *testing.B) {
	const dir = "../../testdata/cases/founding-rwx-hostname-clash"
	b.ReportAllocs()
	for b.Loop() {
		from(b, dir, "pvc shared-data -n sec")
	}
}

func from(b *testing.B, path, ask string) {
	var out, errs bytes.Buffer
	args := append(strings.Fields(ask), "--from", path)
	if code := plugin.Main(args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errs}); code == plugin.ExitFailed {
		b.Fatalf("%s: %s", ask, errs.String())
	}
}
