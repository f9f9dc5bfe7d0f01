package collect_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/testcluster"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/collect"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

const v2Cluster = `{apiVersion: longhorn.io/v1beta2, kind: Volume, metadata: {name: vol, namespace: lh}, spec: {dataEngine: ENGINE}, status: {state: attached}}
---
{apiVersion: longhorn.io/v1beta2, kind: Engine, metadata: {name: vol-e-0, namespace: lh, labels: {longhornvolume: vol}}, spec: {volumeName: vol, nodeID: b, dataEngine: ENGINE}}
---
{apiVersion: longhorn.io/v1beta2, kind: EngineFrontend, metadata: {name: vol-ef-0, namespace: lh, labels: {longhornvolume: vol}}, spec: {volumeName: vol, nodeID: a}, status: {instanceManagerName: im-a}}
---
{apiVersion: longhorn.io/v1beta2, kind: InstanceManager, metadata: {name: im-a, namespace: lh}, spec: {nodeID: a, dataEngine: v2}}
---
{apiVersion: v1, kind: Node, metadata: {name: a}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: vol}, spec: {csi: {driver: driver.longhorn.io, volumeHandle: vol}}}
`

// TestEngineFrontends: the frontends of a volume of data engine v2 are read, with the
// node and the instance-manager that they name; those of data engine v1 are not asked
// for, and a Longhorn that does not serve them lacks nothing.
func TestEngineFrontends(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		engine string
		serves bool
		asked  bool
	}{
		"v2 of 1.12": {"v2", true, true},
		"v2 of 1.11": {"v2", false, true},
		"v1":         {"v1", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, asked := collectV2(t, tt.engine, tt.serves)
			if asked != tt.asked {
				t.Errorf("asked for enginefrontends: %t, want %t", asked, tt.asked)
			}
			l := s.Cluster.Longhorn
			if want := tt.asked && tt.serves; (len(l.Frontends) == 1) != want || want && len(l.InstanceManagers) != 1 {
				t.Errorf("%d frontends and %d instance-managers were read", len(l.Frontends), len(l.InstanceManagers))
			}
			if i := slices.IndexFunc(s.Gaps, func(g snapshot.Gap) bool { return strings.Contains(g.Need, "enginefrontends") }); i >= 0 {
				t.Errorf("gap %+v", s.Gaps[i])
			}
		})
	}
}

func collectV2(t *testing.T, engine string, serves bool) (s *snapshot.Snapshot, asked bool) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "cluster"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "snapshot.yaml"), "takenAt: 2026-11-01T00:00:00Z\n")
	write(t, filepath.Join(dir, "cluster", "all.yaml"), strings.ReplaceAll(v2Cluster, "ENGINE", engine))
	server, err := testcluster.Start(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	server.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/enginefrontends") {
			return false
		}
		asked = true
		if !serves {
			http.NotFound(w, r)
		}
		return !serves
	}
	s, err = collect.Collect(context.Background(), &rest.Config{Host: server.URL, QPS: -1}, collect.Question{Kind: "volume", Name: "vol"}, collect.Options{Parallel: 1})
	if err != nil {
		t.Fatal(err)
	}
	return s, asked
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
