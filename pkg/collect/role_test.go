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
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/internal/testcluster"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/collect"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// rare are permissions that an owner or a ticket needs which no case has.
var rare = []string{"get cronjobs.batch", "get snapshots.longhorn.io", "get virtualmachines.kubevirt.io"}

// TestRole holds the shipped role for reading against what is asked of the API
// server in all cases: nothing more is asked, and nothing is granted in vain.
func TestRole(t *testing.T) {
	t.Parallel()
	root, err := corpus.Root()
	if err != nil {
		t.Fatal(err)
	}
	names, err := corpus.Names(root)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	asked := map[string]bool{}
	hear := func(verb, group, resource string) {
		mu.Lock()
		defer mu.Unlock()
		asked[permission(verb, group, resource)] = true
	}
	t.Run("cases", func(t *testing.T) {
		for _, name := range names {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				collectAll(t, filepath.Join(root, name), hear)
			})
		}
	})
	for _, r := range rare {
		if asked[r] {
			t.Errorf("a case asks to %s now: it is not rare", r)
		}
		asked[r] = true
	}
	if diff := cmp.Diff(shipped(t, "read"), slices.Sorted(maps.Keys(asked))); diff != "" {
		t.Errorf("deploy/rbac/read.yaml grants something else than what is asked for (-granted +asked):\n%s", diff)
	}
}

// collectAll collects what the case's question needs, and what one about a node and one
// about the whole cluster do.
func collectAll(t *testing.T, dir string, hear func(verb, group, resource string)) {
	c, err := corpus.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	saved, err := snapshot.Load(c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	server, err := testcluster.Start(c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	server.Asked = hear
	questions := []collect.Question{{Kind: c.Ask.Kind, Namespace: c.Ask.Namespace, Name: c.Ask.Name}, {Kind: "cluster"}}
	if len(saved.Cluster.Nodes) > 0 {
		questions = append(questions, collect.Question{Kind: "node", Name: saved.Cluster.Nodes[0].Name})
	}
	for _, q := range questions {
		// A question that the case cannot answer has asked all the same.
		_, _ = collect.Collect(context.Background(), &rest.Config{Host: server.URL, QPS: -1}, q, collect.Options{Now: saved.TakenAt})
	}
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
