package collect_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/internal/testcluster"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/collect"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// rare are permissions that an owner or a ticket needs which no case has.
var rare = []string{"get snapshots.longhorn.io", "get virtualmachines.kubevirt.io"}

// request is what was asked of the API server.
type request struct{ permission, namespace string }

// TestRoles holds the shipped roles for reading against what is asked of the API server
// in all cases: nothing more is asked, nowhere else, and nothing is granted in vain.
func TestRoles(t *testing.T) {
	t.Parallel()
	all, err := corpus.All()
	if err != nil {
		t.Fatal(err)
	}
	read, logs, longhorn := shipped(t, "read"), shipped(t, "logs"), shipped(t, "longhorn")
	var mu sync.Mutex
	asked := map[string]bool{}
	t.Run("cases", func(t *testing.T) {
		for _, c := range all {
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				saved, requests := collectAll(t, c.Dir)
				x := snapshot.NewIndex(saved)
				for r := range requests {
					mu.Lock()
					asked[r.permission] = true
					mu.Unlock()
					switch {
					case slices.Contains(read, r.permission):
					case slices.Contains(logs, r.permission) && slices.Contains(storageNamespaces(x), r.namespace):
					case slices.Contains(longhorn, r.permission) && r.namespace == x.LonghornNamespace():
					default:
						t.Errorf("asks to %s in namespace %q, which no role grants there", r.permission, r.namespace)
					}
				}
			})
		}
	})
	for _, r := range rare {
		if asked[r] {
			t.Errorf("a case asks to %s now: it is not rare", r)
		}
		asked[r] = true
	}
	granted := slices.Sorted(slices.Values(slices.Concat(read, logs, longhorn)))
	if diff := cmp.Diff(granted, slices.Sorted(maps.Keys(asked))); diff != "" {
		t.Errorf("deploy/rbac grants something else than what is asked for (-granted +asked):\n%s", diff)
	}
}

// storageNamespaces are those in which docs/permissions.md tells to bind the role for
// logs: where pods live that are part of storage or serve it, or that reach the host's
// devices. A pod that merely uses a volume is none of them: its log is not asked for.
func storageNamespaces(x *snapshot.Index) []string {
	out := []string{metav1.NamespaceSystem, x.LonghornNamespace(), "harvester-system"}
	for _, pod := range x.Cluster.Pods {
		storage := strings.Contains(pod.Name, "csi") || pod.Spec.HostPID
		for i := range pod.Spec.Volumes {
			storage = storage || pod.Spec.Volumes[i].HostPath != nil
		}
		for _, c := range pod.Spec.Containers {
			for _, word := range []string{"csi", "nfs", "attacher", "provisioner", "resizer"} {
				storage = storage || strings.Contains(c.Name+" "+c.Image, word)
			}
		}
		if storage {
			out = append(out, pod.Namespace)
		}
	}
	return out
}

// collectAll collects what the case's question needs, and what one about a node and one
// about the whole cluster do.
func collectAll(t *testing.T, dir string) (*snapshot.Snapshot, map[request]bool) {
	c, err := corpus.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	saved, err := corpus.Shared(c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	server, err := testcluster.Read(c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	requests := map[request]bool{}
	server.Asked = func(verb, group, resource, namespace string) {
		mu.Lock()
		defer mu.Unlock()
		requests[request{permission(verb, group, resource), namespace}] = true
	}
	questions := []collect.Question{{Kind: c.Ask.Kind, Namespace: c.Ask.Namespace, Name: c.Ask.Name}, {Kind: "cluster"}}
	if len(saved.Cluster.Nodes) > 0 {
		questions = append(questions, collect.Question{Kind: "node", Name: saved.Cluster.Nodes[0].Name})
	}
	for _, q := range questions {
		// A question that the case cannot answer has asked all the same.
		_, _ = collect.Collect(context.Background(), server.Config(), q, collect.Options{Now: saved.TakenAt})
	}
	return saved, requests
}

func permission(verb, group, resource string) string {
	return strings.TrimSuffix(verb+" "+resource+"."+group, ".")
}

// shipped lists what a role of deploy/rbac grants.
func shipped(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", "rbac", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict(text, &role); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range role.Rules {
		for _, g := range r.APIGroups {
			for _, res := range r.Resources {
				for _, v := range r.Verbs {
					out = append(out, permission(v, g, res))
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// TestRolesSayWhy: each rule of a shipped role has a reason beside it, and none grants
// secrets or whatever there is.
func TestRolesSayWhy(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "..", "deploy", "rbac", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, rule := range strings.Split(string(text), "\n- ")[1:] {
			if !strings.Contains(rule, "# ") {
				t.Errorf("%s: no reason for\n- %s", file, rule)
			}
			if strings.Contains(rule, "secrets") || strings.Contains(rule, "*") {
				t.Errorf("%s: too much\n- %s", file, rule)
			}
		}
	}
}
