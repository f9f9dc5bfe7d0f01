package collect_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/internal/testcluster"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/collect"
)

// The two sizes between which the cost of a question must not differ by half.
var (
	village = testcluster.Crowd{Nodes: 20, Claims: 200}
	city    = testcluster.Crowd{Nodes: 5000, Claims: 50000}
)

// TestGrowth asks about one claim in a small and in a large cluster.
func TestGrowth(t *testing.T) {
	t.Parallel()
	root, err := corpus.Root()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"founding-multipathd-busy", "founding-rwx-hostname-clash", "founding-remount-bare-pod", "multipathd-mount-busy-1210",
		"healthy-after-failover", "ceph-csi-xfs-unknown-ro-features", "fsgroup-slow-chown-2131",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := corpus.Read(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			calls, bytes := cost(t, c, village)
			moreCalls, moreBytes := cost(t, c, city)
			t.Logf("%s: %d calls and %d bytes with %d claims, %d calls and %d bytes with %d", c.Ask.Kind, calls, bytes, village.Claims, moreCalls, moreBytes, city.Claims)
			if 2*moreCalls > 3*calls || 2*moreBytes > 3*bytes {
				t.Errorf("the question costs more in a large cluster: %d calls and %d bytes, were %d and %d", moreCalls, moreBytes, calls, bytes)
			}
		})
	}
}

func cost(t *testing.T, c *corpus.Case, crowd testcluster.Crowd) (calls, bytes int64) {
	t.Helper()
	server, err := testcluster.Read(c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	server.Crowd = crowd
	saved, err := corpus.Shared(c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	q := collect.Question{Kind: c.Ask.Kind, Namespace: c.Ask.Namespace, Name: c.Ask.Name}
	if _, err := collect.Collect(context.Background(), server.Config(), q, collect.Options{Now: saved.TakenAt}); err != nil {
		t.Fatal(err)
	}
	return server.Requests.Load(), server.Bytes.Load()
}
