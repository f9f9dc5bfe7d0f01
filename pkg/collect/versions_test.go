package collect_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/testcluster"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/collect"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestOlderVersion: a server that has the first version of a group may have one of its resources
// in a later version alone: VolumeAttributesClass was v1beta1 beside StorageClass v1 until 1.34.
func TestOlderVersion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "testdata", "cases", "ebs-attributes-class-infeasible"))); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "cluster", "all.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const now = "apiVersion: storage.k8s.io/v1, kind: VolumeAttributesClass"
	old := strings.ReplaceAll(string(text), now, strings.Replace(now, "v1", "v1beta1", 1))
	if err := os.WriteFile(file, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		has     string // versions in which the server has the resource
		classes int
		gaps    int
	}{
		"the older one": {"v1beta1", 2, 0},
		"neither":       {"", 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			server, err := testcluster.Start(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			server.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
				lacks := strings.Contains(r.URL.Path, "/volumeattributesclasses") && (c.has == "" || !strings.Contains(r.URL.Path, "/"+c.has+"/"))
				if lacks {
					http.NotFound(w, r)
				}
				return lacks
			}
			s, err := collect.Collect(context.Background(), &rest.Config{Host: server.URL, QPS: -1},
				collect.Question{Kind: "pvc", Namespace: "shop", Name: "data"}, collect.Options{NoLogs: true})
			if err != nil {
				t.Fatal(err)
			}
			gaps := 0
			for _, g := range s.Gaps {
				if g.Need == "api/storage.k8s.io/volumeattributesclasses" && g.Reason == snapshot.NotServed {
					gaps++
				}
			}
			if len(s.Cluster.AttributesClasses) != c.classes || gaps != c.gaps {
				t.Errorf("%d classes and %d gaps, want %d and %d: %v", len(s.Cluster.AttributesClasses), gaps, c.classes, c.gaps, s.Gaps)
			}
		})
	}
}
