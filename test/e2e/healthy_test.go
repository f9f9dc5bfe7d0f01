package e2e

import (
	"path/filepath"
	"testing"
)

// healthyClaim: everything works, and looking changes nothing on the node.
func healthyClaim(t *testing.T) {
	v := claim(t, disk, "healthy")
	runPod(t, v, "db", "worker-1")
	mounts := on(t, "worker-1", "grep -v -e /sandboxes/ -e /rootfs -e /netns/ -e kubernetes.io~projected /proc/1/mountinfo")

	for _, question := range [][]string{{"pvc", "data", "-n", "healthy"}, {"cluster", "-n", "healthy", "--probe"}} {
		a := doctor(t, question...)
		if a.Verdict != "healthy" || a.code != 0 || len(a.RootCauses)+len(a.Symptoms)+len(a.NotChecked) > 0 {
			t.Errorf("%v: exit code %d, want a healthy claim with everything checked; %s", question, a.code, a.short())
		}
	}
	if after := on(t, "worker-1", "grep -v -e /sandboxes/ -e /rootfs -e /netns/ -e kubernetes.io~projected /proc/1/mountinfo"); after != mounts {
		t.Errorf("the mount table of worker-1 changed:\n%s\nbefore:\n%s", after, mounts)
	}
	// The upper layer of the node's root has what was written on the node.
	left, err := filepath.Glob(filepath.Join(cluster.Dir, "node/worker-1/upper/*/*mountdoctor*"))
	if err != nil || len(left) > 0 {
		t.Errorf("files are left on worker-1: %v %v", left, err)
	}
}
