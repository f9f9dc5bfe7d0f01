package e2e

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// pinnedDevice: the pod is gone and its volume unmounted, but the private mount
// of a monitoring agent keeps the device busy, so the volume cannot move.
func pinnedDevice(t *testing.T) {
	v := claim(t, disk, "pinned")
	runPod(t, v, "db", "worker-1")
	apply(t, "holder.yaml", v.with(vars{"NODE": "worker-1", "PATH_ON_HOST": globalMount(t, v, "worker-1")}))
	waitRunning(t, "pinned", "disk-exporter")
	kubectl(t, "-n", "pinned", "delete", "pod", "db")
	apply(t, "pod.yaml", v.with(vars{"POD": "db-moved", "NODE": "worker-2"}))
	waitEvent(t, "pinned", "db-moved", "Multi-Attach error")

	a := doctor(t, "pvc", "data", "-n", "pinned")
	c := a.root(t, "mount-pinned-in-namespace", "Pod pinned/disk-exporter", "certain")
	if !slices.Contains(c.Explains, "multi-attach-error") {
		t.Errorf("it explains %v, want multi-attach-error among them", c.Explains)
	}
	a.neverAdvises(t, "unmount-lazy", "delete-volumeattachment", "force-delete-pod", "remove-finalizer", "taint-out-of-service")
	sameFromCapture(t, a, "pvc", "data", "-n", "pinned")

	t.Log("as a person reads it:\n" + plugin(t, "pvc", "data", "-n", "pinned").out)

	byPod := doctor(t, "pod", "db-moved", "-n", "pinned")
	byPod.root(t, "mount-pinned-in-namespace", "Pod pinned/disk-exporter", "certain")
	byNode := doctor(t, "node", "worker-1")
	byNode.root(t, "mount-pinned-in-namespace", "Pod pinned/disk-exporter", "certain")

	// What the report advises helps, and the driver's next try succeeds.
	kubectl(t, "-n", "pinned", "delete", "pod", "disk-exporter")
	eventually(t, 2*time.Minute, "the volume has moved", func() bool {
		return field("{.status.containerStatuses[0].ready}", "-n", "pinned", "pod", "db-moved") == "true"
	})
}

// sameFromCapture captures the same question and compares what is found.
func sameFromCapture(t *testing.T, live answer, question ...string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "incident.tar.gz")
	if c := plugin(t, append([]string{"capture"}, append(question, "--to", file)...)...); c.code == 1 {
		t.Fatalf("capture: exit code %d: %s%s", c.code, c.out, c.errors)
	}
	again := doctor(t, append(question, "--from", file)...)
	if diff := cmp.Diff(conclusions(live), conclusions(again)); diff != "" || again.code != live.code {
		t.Errorf("the captured snapshot gives another report, exit code %d (-live +captured):\n%s", again.code, diff)
	}
}

// conclusions are what a report says whenever it was taken.
func conclusions(a answer) []string {
	out := []string{a.Verdict}
	for _, c := range append(a.RootCauses, a.Findings...) {
		out = append(out, c.Certainty+" "+c.Name+" on "+c.Subject.String())
	}
	for _, s := range a.Symptoms {
		out = append(out, "symptom "+s.Name)
	}
	for _, n := range a.NotChecked {
		out = append(out, "not checked "+n.Need+" "+n.Node+" "+n.Reason)
	}
	slices.Sort(out[1:])
	return out
}
