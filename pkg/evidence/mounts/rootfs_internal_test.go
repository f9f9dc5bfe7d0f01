package mounts

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestKnownLayer: a layer that the image store gives to a container is no leftover.
func TestKnownLayer(t *testing.T) {
	t.Parallel()
	const store = "var/lib/docker/image/overlay2/layerdb/mounts/0a1b2c/"
	for name, c := range map[string]struct {
		files map[string]probes.File
		want  bool
	}{
		"a container has it":          {map[string]probes.File{store + "mount-id": {Content: "9f8e7d\n"}}, true},
		"a container has another one": {map[string]probes.File{store + "mount-id": {Content: "9f8e7d-init"}}, false},
		"only its parent is it":       {map[string]probes.File{store + "parent": {Content: "9f8e7d"}}, false},
		"nothing was read":            {nil, false},
	} {
		s := &snapshot.Snapshot{Nodes: map[string]*snapshot.NodeRecord{"n1": {Name: "n1", Facts: &probes.Facts{Files: c.files}}}}
		if got := knownLayer(snapshot.NewIndex(s).View("n1"), "9f8e7d"); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
