package collect_test

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/internal/testcluster"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
)

// everywhere are the lists of kinds with a namespace that a sweep of one namespace may ask of the
// whole cluster: where drivers live, what a volume that is not made or not attached leaves open, and
// what the operators of its storage say.
var everywhere = []string{"/apis/apps/v1/daemonsets", "/apis/storage.k8s.io/v1/csistoragecapacities", "/api/v1/pods", "/apis/ceph.rook.io/v1/cephclusters",
	"/apis/zfs.openebs.io/v1/zfsnodes", "/apis/local.openebs.io/v1alpha1/lvmnodes"}

// withoutNamespace are the kinds that have none.
var withoutNamespace = []string{"version", "apis", "nodes", "persistentvolumes", "storageclasses", "csidrivers", "csinodes", "volumeattachments", "volumeattributesclasses", "clusterroles", "clusterrolebindings", "networkfences"}

// TestNamespace sweeps the namespace of every case: what is read by following names leads to the
// answer that the whole cluster gives, and nobody else's objects are listed.
func TestNamespace(t *testing.T) {
	t.Parallel()
	all, err := corpus.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if c.Ask.Namespace == "" {
			continue
		}
		c.Ask = diagnosis.Question{Kind: "cluster", Namespace: c.Ask.Namespace}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			saved, err := corpus.Shared(c.Dir)
			if err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			listed := map[string]bool{}
			live := fromServer(t, c, saved, func(s *testcluster.Server) {
				s.Intercept = func(_ http.ResponseWriter, r *http.Request) bool {
					q := r.URL.Query()
					if !ofObject(r.URL.Path) && q.Get("fieldSelector")+q.Get("labelSelector") == "" && !strings.Contains(r.URL.Path, "/namespaces/") && q.Get("limit") != "1" {
						mu.Lock()
						listed[r.URL.Path] = true
						mu.Unlock()
					}
					return false
				}
			})
			want, got := answer(c.Ask, saved), answer(c.Ask, live)
			if why := narrower[c.Name]; why != "" {
				nothingNew(t, want, got, why)
			} else if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the namespace is judged otherwise (-whole cluster +live):\n%s", diff)
			}
			for path := range listed {
				if !slices.Contains(everywhere, path) && !slices.Contains(withoutNamespace, path[strings.LastIndex(path, "/")+1:]) && !strings.Contains(path, "longhorn.io") {
					t.Errorf("lists %s of the whole cluster", path)
				}
			}
		})
	}
}

// ofObject tells whether a path without a namespace is that of one object: /api/VERSION/KIND/NAME,
// /apis/GROUP/VERSION/KIND/NAME.
func ofObject(path string) bool {
	slashes := strings.Count(path, "/")
	return slashes == 4 && strings.HasPrefix(path, "/api/") || slashes == 5
}

// TestNamespaceRole lets somebody who has rights in one namespace alone sweep it: there is an answer,
// and what was refused is named.
func TestNamespaceRole(t *testing.T) {
	t.Parallel()
	root, err := corpus.Root()
	if err != nil {
		t.Fatal(err)
	}
	c, err := corpus.Read(filepath.Join(root, "founding-multipathd-busy"))
	if err != nil {
		t.Fatal(err)
	}
	saved, err := corpus.Shared(c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	c.Ask = diagnosis.Question{Kind: "cluster", Namespace: c.Ask.Namespace}
	live := fromServer(t, c, saved, func(s *testcluster.Server) {
		s.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/version" || r.URL.Path == "/apis" || strings.Contains(r.URL.Path, "/namespaces/"+c.Ask.Namespace+"/") {
				return false
			}
			http.Error(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"is forbidden"}`, http.StatusForbidden)
			return true
		}
	})
	if len(live.Cluster.Pods) == 0 || len(live.Cluster.Claims) == 0 || len(live.Cluster.Events) == 0 {
		t.Errorf("%d pods, %d claims, %d events", len(live.Cluster.Pods), len(live.Cluster.Claims), len(live.Cluster.Events))
	}
	got := answer(c.Ask, live)
	for _, want := range []string{"verdict broken", "error ", "not checked api//persistentvolumes  Forbidden", "not checked api//nodes  Forbidden", "not checked api/storage.k8s.io/volumeattachments  Forbidden", "not checked api//events  Forbidden"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, strings.Join(got, "\n"))
		}
	}
}
