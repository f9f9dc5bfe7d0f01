package around

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestReadOnly: what cannot be made lies below a mount that takes no writes, if the table shows one.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	said := func(node, raw string) []evidence.Text {
		return []evidence.Text{{Raw: raw, Node: node, Fresh: true, Failure: message.Parse(raw)}}
	}
	const pod = "mkdir /var/lib/kubelet/pods/c04c: read-only file system"
	for name, c := range map[string]struct {
		texts []evidence.Text
		inner string
		want  int
	}{
		"the directory's own mount":     {said("n", pod), "ro", 2},
		"it takes writes by now":        {said("n", pod), "rw", 0},
		"another node":                  {said("o", pod), "ro", 0},
		"another fault":                 {said("n", "mkdir /var/lib/kubelet/pods/c04c: no space left on device"), "ro", 0},
		"the same words inside a path":  {said("n", "mkdir /host/var/lib/kubelet/pods/c04c: read-only file system"), "ro", 0},
		"a path beside it":              {said("n", "open /etc/x: read-only file system"), "ro", 0},
		"nothing of the node, no texts": {nil, "ro", 0},
	} {
		facts := &probes.Facts{Identity: probes.Identity{InitMntNS: 1}, Namespaces: []probes.MountNamespace{{ID: 1, PIDs: []int{1}, TablePID: 1, Mounts: []probes.Mount{
			{Line: 1, Root: "/", Point: "/", FSType: "ext4", Options: []string{"rw"}, Super: []string{"rw"}, Raw: "a"},
			{Line: 2, Root: "/", Point: "/var/lib/kubelet", FSType: "ext4", Options: []string{c.inner}, Super: []string{"rw"}, Raw: "b"},
		}}}}
		x := snapshot.NewIndex(&snapshot.Snapshot{Nodes: map[string]*snapshot.NodeRecord{"n": {Name: "n", Facts: facts}}})
		got := ReadOnly(x, "n", c.texts)
		if len(got) > 0 != (c.want > 0) || len(got) > 0 && got[0].Locator != "proc/1/mountinfo:2" {
			t.Errorf("%s: %v", name, got)
		}
	}
}
