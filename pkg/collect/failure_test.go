package collect_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/internal/testcluster"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/collect"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// status answers with a Status of the API server.
func status(w http.ResponseWriter, code int, reason, message string) bool {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"reason":%q,"message":%q}`, code, reason, message)
	return true
}

// ask collects one claim of a case from a server that fails in one way.
func ask(t *testing.T, fail func(w http.ResponseWriter, r *http.Request) bool) (*snapshot.Snapshot, error) {
	t.Helper()
	root, err := corpus.Root()
	if err != nil {
		t.Fatal(err)
	}
	server, err := testcluster.Start(filepath.Join(root, "founding-multipathd-busy"))
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	server.Intercept = fail
	return collect.Collect(context.Background(), &rest.Config{Host: server.URL, QPS: -1, Timeout: 2 * time.Second},
		collect.Question{Kind: "pvc", Namespace: "judge", Name: "judge-wal-restore"}, collect.Options{})
}

// TestFailures: a refusal is a gap with the server's words, and nothing else is lost.
func TestFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fail   func(w http.ResponseWriter, r *http.Request) bool
		need   string
		reason string
		detail string
	}{
		"forbidden": {
			func(w http.ResponseWriter, r *http.Request) bool {
				return strings.Contains(r.URL.Path, "/volumeattachments/csi-") && status(w, 403, "Forbidden", "volumeattachments is forbidden: no")
			}, "api/storage.k8s.io/volumeattachments", snapshot.Forbidden, "volumeattachments is forbidden: no"},
		"forbidden in one namespace": {
			func(w http.ResponseWriter, r *http.Request) bool {
				return strings.HasSuffix(r.URL.Path, "/namespaces/judge/pods") && status(w, 403, "Forbidden", "pods is forbidden: no")
			}, "api//pods/judge", snapshot.Forbidden, "no"},
		"slow server": {
			func(w http.ResponseWriter, r *http.Request) bool {
				return strings.HasSuffix(r.URL.Path, "/storageclasses") && status(w, 504, "Timeout", "the server was unable to answer")
			}, "api/storage.k8s.io/storageclasses", snapshot.Timeout, "unable to answer"},
		"resource of a known group": {
			func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, "/csidrivers") {
					return false
				}
				http.NotFound(w, r)
				return true
			}, "api/storage.k8s.io/csidrivers", snapshot.NotServed, ""},
		"not an object": {
			func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, "/storageclasses") {
					return false
				}
				_, _ = w.Write([]byte(`{"items":[{"metadata":{"name":"x"},"provisioner":7}]}`))
				return true
			}, "api/storage.k8s.io/storageclasses", snapshot.Malformed, "decode StorageClass x"},
		"log": {
			func(w http.ResponseWriter, r *http.Request) bool {
				return strings.HasSuffix(r.URL.Path, "/log") && status(w, 403, "Forbidden", "pods/log is forbidden")
			}, "logs/", snapshot.Forbidden, "pods/log is forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := ask(t, c.fail)
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Cluster.Claims) == 0 {
				t.Error("the claim itself is lost")
			}
			found := false
			for _, g := range s.Gaps {
				hit := g.Need == c.need || c.need == "logs/" && strings.HasPrefix(g.Need, c.need)
				found = found || hit && g.Reason == c.reason && strings.Contains(g.Detail, c.detail)
				if !hit {
					t.Errorf("unexpected gap %v", g)
				}
			}
			if !found {
				t.Errorf("no gap %s %s %q in %v", c.need, c.reason, c.detail, s.Gaps)
			}
		})
	}
}

// TestExpiredList: etcd forgot the first page; the list is read from the start, once.
func TestExpiredList(t *testing.T) {
	t.Parallel()
	var first, expired atomic.Int64
	s, err := ask(t, func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/storageclasses") {
			return false
		}
		switch token := r.URL.Query().Get("continue"); {
		case token == "" && first.Add(1) == 1:
			_, _ = w.Write([]byte(`{"metadata":{"continue":"old"},"items":[{"metadata":{"name":"gone"}}]}`))
		case token == "":
			_, _ = w.Write([]byte(`{"metadata":{},"items":[{"metadata":{"name":"kept"}}]}`))
		default:
			expired.Add(1)
			return status(w, 410, "Expired", "the provided continue parameter is too old")
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Gaps) != 0 || expired.Load() != 1 || len(s.Cluster.StorageClasses) != 1 || s.Cluster.StorageClasses[0].Name != "kept" {
		t.Errorf("gaps %v, %d expired pages, classes %v", s.Gaps, expired.Load(), s.Cluster.StorageClasses)
	}
}

// TestOldSelectors: a server that does not select by a field gives the whole list.
func TestOldSelectors(t *testing.T) {
	t.Parallel()
	s, err := ask(t, func(w http.ResponseWriter, r *http.Request) bool {
		return strings.Contains(r.URL.RawQuery, "reason%3DKilling") && status(w, 400, "BadRequest", "field label not supported: reason")
	})
	if err != nil || len(s.Gaps) != 0 {
		t.Errorf("error %v, gaps %v", err, s.Gaps)
	}
}

// TestUnauthorizedLater: a token that expires on the way ends the run.
func TestUnauthorizedLater(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	_, err := ask(t, func(w http.ResponseWriter, _ *http.Request) bool {
		return n.Add(1) > 5 && status(w, 401, "Unauthorized", "Unauthorized")
	})
	if !errors.Is(err, collect.ErrUnauthorized) {
		t.Errorf("error %v, want %v", err, collect.ErrUnauthorized)
	}
}

// TestInterrupted: a question that nobody waits for ends at once.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	server, err := testcluster.Start("")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	server.Intercept = func(http.ResponseWriter, *http.Request) bool { cancel(); return false }
	_, err = collect.Collect(ctx, &rest.Config{Host: server.URL}, collect.Question{Kind: "cluster"}, collect.Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// TestNoSecrets: whatever is asked, no Secret is.
func TestNoSecrets(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	if _, err := ask(t, func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "secrets") || r.Method != http.MethodGet {
			asked.Add(1)
		}
		return false
	}); err != nil {
		t.Fatal(err)
	}
	if asked.Load() > 0 {
		t.Errorf("%d requests for Secrets or that write", asked.Load())
	}
}
