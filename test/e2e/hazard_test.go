package e2e

import (
	"testing"
)

// oneHostName: two nodes whose kernels have one host name are told apart by
// their Node names only; a sweep that looks at nodes sees it.
func oneHostName(t *testing.T) {
	v := claim(t, disk, "hostname")
	runPod(t, v, "db", "worker-1")
	runPod(t, claim(t, disk, "hostname-too"), "db", "worker-2")
	t.Cleanup(func() { on(t, "worker-2", "hostname worker-2") })
	on(t, "worker-2", "hostname worker-1")

	a := doctor(t, "cluster", "--probe")
	for _, c := range append(a.RootCauses, a.Findings...) {
		if c.Name == "hostname-shared" && c.Certainty == "certain" {
			return
		}
	}
	t.Errorf("hostname-shared is not reported; %s", a.short())
}
