package e2e

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// hidden are faults under a pod that runs and is Ready, of which neither an event nor a log
// tells: its filesystem is frozen, or something is mounted over its volume.
func hidden(t *testing.T) {
	v := claim(t, disk, "hidden")
	runPod(t, v, "db", "worker-1")
	at := globalMount(t, v, "worker-1")
	t.Run("frozen", func(t *testing.T) { frozen(t, at) })
	t.Run("mounted over", func(t *testing.T) { mountedOver(t, at) })
}

func frozen(t *testing.T, at string) {
	on(t, "worker-1", "fsfreeze -f "+at)
	thaw := func() { _, _ = cluster.Shell("worker-1", "fsfreeze -u "+at) }
	t.Cleanup(thaw)
	write := exec.Command("kubectl", "-n", "hidden", "exec", "db", "--", "sh", "-c", "date >> /data/log")
	if err := write.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, 20*time.Second, "a process waits to write", func() bool {
		out, _ := cluster.Shell("worker-1", "cat /proc/[0-9]*/wchan")
		return strings.Contains(out, "percpu_rwsem_wait")
	})
	a := doctor(t, "pod", "db", "-n", "hidden")
	if a.Verdict != "broken" || len(a.RootCauses) > 0 {
		t.Errorf("want broken and no cause; %s", a.short())
	}
	a.says(t, "volume-hung", "is frozen")
	thaw()
	_ = write.Wait()
	if a := doctor(t, "pod", "db", "-n", "hidden"); a.Verdict != "healthy" {
		t.Errorf("all is well again; %s", a.short())
	}
}

func mountedOver(t *testing.T, at string) {
	on(t, "worker-1", "mount -t tmpfs tmpfs "+at) // the pod's path is a peer and gets it, too
	t.Cleanup(func() { _, _ = cluster.Shell("worker-1", "findmnt -rn -t tmpfs "+at+" && umount "+at) })
	restart(t)
	doctor(t, "pod", "db", "-n", "hidden").root(t, "mount-missing-under-pod", "Pod hidden/db", "certain")
}

// restart ends the container of the pod; the kubelet starts it again.
func restart(t *testing.T) {
	t.Helper()
	const started = "{.status.containerStatuses[0].state.running.startedAt}{.status.containerStatuses[0].restartCount}"
	before := field(started, "-n", "hidden", "pod", "db")
	uid := field("{.metadata.uid}", "-n", "hidden", "pod", "db")
	on(t, "worker-1", `for p in /proc/[0-9]*; do
	if grep -q `+uid+` $p/cgroup 2>/dev/null && ! grep -q pause $p/cmdline; then kill -9 ${p#/proc/}; fi
done`)
	eventually(t, time.Minute, "the container runs again", func() bool {
		now := field(started, "-n", "hidden", "pod", "db")
		return now != before && field("{.status.containerStatuses[0].ready}", "-n", "hidden", "pod", "db") == "true"
	})
}
