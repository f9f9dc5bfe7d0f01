package snapshot_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/synthetic"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// BenchmarkLoad shows how time and memory grow with the cluster; the largest has
// 50,000 claims and 100,000 events.
func BenchmarkLoad(b *testing.B) {
	for _, nodes := range []int{50, 500, 5000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "s.tar.gz")
			if err := snapshot.Save(path, synthetic.Cluster(nodes)); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				s, err := snapshot.Load(path)
				if err != nil {
					b.Fatal(err)
				}
				if len(s.Cluster.Claims) != 10*nodes || len(s.Gaps) != 0 {
					b.Fatalf("%d claims, %d gaps", len(s.Cluster.Claims), len(s.Gaps))
				}
				b.ReportMetric(heldMiB(s), "MiB-held")
			}
		})
	}
}

// heldMiB is the memory in use while a snapshot is kept.
func heldMiB(s *snapshot.Snapshot) float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	runtime.KeepAlive(s)
	return float64(m.HeapAlloc) / (1 << 20)
}

// BenchmarkSave writes the same clusters.
func BenchmarkSave(b *testing.B) {
	for _, nodes := range []int{50, 500, 5000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			s, path := synthetic.Cluster(nodes), filepath.Join(b.TempDir(), "s.tar.gz")
			for b.Loop() {
				if err := snapshot.Save(path, s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
