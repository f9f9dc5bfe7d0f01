package snapshot

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	v2Volume = `{"metadata": {"name": "vol", "namespace": "longhorn-system"}, "spec": {"dataEngine": "v2"}, "status": {"state": "attached", "currentNodeID": "a", "currentEngineNodeID": "b"}}`
	v2Engine = `{"metadata": {"name": "vol-e-0", "namespace": "longhorn-system"}, "spec": {"volumeName": "vol", "nodeID": "b", "dataEngine": "v2", "active": true}, "status": {"currentState": "running", "endpoint": %s}}`
	frontend = `{"metadata": {"name": "vol-ef-0", "namespace": "longhorn-system"}, "spec": {"volumeName": "vol", "nodeID": "a", "engineName": "vol-e-0", "active": true, "targetPort": "20001"},
		"status": {"currentState": "running", "endpoint": "/dev/longhorn/vol", "switchoverPhase": "promoting", "paths": [{"nqn": "nqn.2023-01.io.longhorn.spdk:volume-vol", "anaState": "optimized", "targetPort": 20001}]}}`
	failed = `{"metadata": {"name": "vol-ef-0", "namespace": "longhorn-system"}, "spec": {"volumeName": "vol", "nodeID": "a", "active": true}, "status": {"currentState": "error"}}`
)

// TestEngineFrontend: since 1.12 the endpoint of a v2 volume is the frontend's, and that
// the engine has none means nothing.
func TestEngineFrontend(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		endpoint string // of the engine
		frontend string
		up       bool
	}{
		"1.11, engine with endpoint":    {`"/dev/longhorn/vol"`, "", true},
		"1.11, engine without":          {`""`, "", false},
		"1.12, frontend with endpoint":  {`""`, frontend, true},
		"1.12, frontend in error":       {`""`, failed, false},
		"1.12, only the frontend tells": {`"/dev/longhorn/vol"`, failed, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &Snapshot{}
			add := func(kind, text string) {
				t.Helper()
				if known, err := s.Cluster.AddRaw(schema.GroupVersionKind{Group: longhornGroup, Version: "v1beta2", Kind: kind}, []byte(text)); !known || err != nil {
					t.Fatalf("%s: %t, %v", kind, known, err)
				}
			}
			add("Volume", v2Volume)
			add("Engine", fmt.Sprintf(v2Engine, tt.endpoint))
			if tt.frontend != "" {
				add("EngineFrontend", tt.frontend)
			}
			x := NewIndex(s)
			v := x.VolumeOfLonghorn("vol")
			if got := x.BlockDeviceUp(v); got != tt.up {
				t.Errorf("block device up: %t, want %t", got, tt.up)
			}
			if tt.frontend != frontend {
				return
			}
			f := x.FrontendActive(v)
			if f == nil || f.NodeID != "a" || f.EngineName != "vol-e-0" || f.Switching != "promoting" || f.WantedPort != 20001 || len(f.Paths) != 1 || f.Paths[0].ANAState != "optimized" {
				t.Errorf("frontend %+v", f)
			}
		})
	}
}
