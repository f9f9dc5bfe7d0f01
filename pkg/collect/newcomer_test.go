package collect_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/internal/testcluster"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/collect"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestNewcomers hides the pods of a node until it was looked at: each came since, so no
// trace of them on the node is nobody's, and the answer is that of the whole cluster.
func TestNewcomers(t *testing.T) {
	t.Parallel()
	root, err := corpus.Root()
	if err != nil {
		t.Fatal(err)
	}
	for name, node := range map[string]string{"real-longhorn-healthy": "storage-1", "multipathd-healthy-volume-8351": "kube-w1", "healthy-shared-rwo-same-node": "app-2", "healthy-multipathd-blacklisted": "edge-a"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(root, name)
			saved, err := snapshot.Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, hidden := range []bool{false, true} {
				live := lookedAt(t, dir, node, saved, hidden)
				for _, r := range answer(diagnosis.Question{Kind: "node", Name: node}, live) {
					if strings.HasPrefix(r, "root pod-directory-orphaned") || strings.HasPrefix(r, "root device-held-by-process") {
						t.Errorf("hidden %v: %s", hidden, r)
					}
				}
			}
		})
	}
}

// lookedAt collects about a node; hidden: its pods are listed only after it was looked at.
func lookedAt(t *testing.T, dir, node string, saved *snapshot.Snapshot, hidden bool) *snapshot.Snapshot {
	t.Helper()
	server, err := testcluster.Start(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	looked := false
	nodes := func(_ context.Context, s *snapshot.Snapshot) error {
		s.Nodes, looked = map[string]*snapshot.NodeRecord{node: saved.Nodes[node]}, true
		return nil
	}
	config := &rest.Config{Host: server.URL, QPS: -1}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return hide{next, func() bool { return hidden && !looked }}
	})
	live, err := collect.Collect(context.Background(), config, collect.Question{Kind: "node", Name: node}, collect.Options{Now: saved.TakenAt, Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	return live
}

// hide is a server that has no pods yet.
type hide struct {
	next http.RoundTripper
	now  func() bool
}

func (h hide) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := h.next.RoundTrip(r)
	if err != nil || !strings.HasSuffix(r.URL.Path, "/pods") || !h.now() {
		return answer, err
	}
	defer func() { _ = answer.Body.Close() }()
	var list map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&list); err != nil {
		return nil, err
	}
	list["items"] = []any{}
	text, err := json.Marshal(list)
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return answer, err
}
