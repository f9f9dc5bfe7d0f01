package collect_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

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
			saved, err := corpus.Shared(dir)
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
	server, err := testcluster.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	looked := false
	nodes := func(_ context.Context, s *snapshot.Snapshot) error {
		s.Nodes, looked = map[string]*snapshot.NodeRecord{node: saved.Nodes[node]}, true
		return nil
	}
	config := server.Config()
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

// TestOneNamespace lets only the pods of the question's namespace be listed: pods of others,
// which are known by their names, did not go because that list does not have them.
func TestOneNamespace(t *testing.T) {
	t.Parallel()
	root, err := corpus.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "healthy-shared-rwo-same-node")
	saved, err := corpus.Shared(dir)
	if err != nil {
		t.Fatal(err)
	}
	server, err := testcluster.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	server.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/api/v1/pods" {
			return false
		}
		http.Error(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"pods is forbidden"}`, http.StatusForbidden)
		return true
	}
	c, err := corpus.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	nodes := func(_ context.Context, s *snapshot.Snapshot) error {
		s.Nodes = maps.Clone(saved.Nodes)
		for _, p := range saved.Cluster.Pods {
			if p.Namespace != c.Ask.Namespace {
				s.Cluster.Pods = append(s.Cluster.Pods, p.DeepCopy())
			}
		}
		return nil
	}
	live, err := collect.Collect(context.Background(), server.Config(), collect.Question{Kind: c.Ask.Kind, Namespace: c.Ask.Namespace, Name: c.Ask.Name}, collect.Options{Now: saved.TakenAt, Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	others := 0
	for _, p := range live.Cluster.Pods {
		if p.Namespace != c.Ask.Namespace {
			others++
		}
		if p.DeletionTimestamp != nil {
			t.Errorf("pod %s/%s ends", p.Namespace, p.Name)
		}
	}
	if others == 0 {
		t.Error("no pod of another namespace is known")
	}
}
