package e2e

import (
	"testing"
)

// healthyClaim: everything works, and looking changes nothing on the node.
func healthyClaim(t *testing.T) {
	v := claim(t, disk, "healthy")
	runPod(t, v, "db", "worker-1")
	mounts := on(t, "worker-1", "grep -v -e /sandboxes/ -e /rootfs -e /netns/ -e kubernetes.io~projected /proc/1/mountinfo")

	a := doctor(t, "pvc", "data", "-n", "healthy")
	if a.Verdict != "healthy" || a.code != 0 || len(a.RootCauses)+len(a.Symptoms)+len(a.NotChecked) > 0 {
		t.Errorf("exit code %d, want a healthy claim with everything checked; %s", a.code, a.short())
	}
	if after := on(t, "worker-1", "grep -v -e /sandboxes/ -e /rootfs -e /netns/ -e kubernetes.io~projected /proc/1/mountinfo"); after != mounts {
		t.Errorf("the mount table of worker-1 changed:\n%s\nbefore:\n%s", after, mounts)
	}
	if got := on(t, "worker-1", "ls /tmp | grep -i mountdoctor || true"); got != "" {
		t.Errorf("files are left on worker-1: %s", got)
	}
}
