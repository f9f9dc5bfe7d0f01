package e2e

import (
	"testing"
	"time"
)

// controllerGone: nobody provisions, attaches or detaches, and nobody says so. Each
// question is answered by the workload that is missing.
func controllerGone(t *testing.T) {
	attached := claim(t, disk, "controller-attached")
	waiting := claimOnly(t, disk, "controller-waiting")
	waitBound(t, waiting["NS"])
	deployment := "deployment/" + disk["CONTROLLER"]
	scale := func(t *testing.T, replicas string) {
		t.Helper()
		kubectl(t, "-n", disk["SYSTEM"], "scale", deployment, "--replicas="+replicas)
		kubectl(t, "-n", disk["SYSTEM"], "rollout", "status", deployment, "--timeout=60s")
	}
	runPod(t, attached, "db", "worker-1")
	scale(t, "0")
	t.Cleanup(func() { scale(t, "1") }) // before the namespaces go
	eventually(t, time.Minute, "no pod of the controller is left", func() bool {
		return field("{.items[*].metadata.name}", "-n", disk["SYSTEM"], "pods", "-l", "app="+disk["CONTROLLER"]) == ""
	})
	unmade := claimOnly(t, disk, "controller-unmade")
	apply(t, "pod.yaml", waiting.with(vars{"POD": "db", "NODE": "worker-2"}))

	about := "Deployment " + disk["SYSTEM"] + "/" + disk["CONTROLLER"]
	time.Sleep(70 * time.Second) // longer than an attacher and a provisioner need
	doctor(t, "pvc", "data", "-n", "controller-waiting").root(t, "attacher-not-working", about, "")
	doctor(t, "pvc", "data", "-n", "controller-unmade").root(t, "provisioner-not-responding", claimOf("controller-unmade").String(), "certain")
	a := doctor(t, "pvc", "data", "-n", "controller-attached")
	if a.Verdict == "broken" {
		t.Errorf("a pod that has its volume is broken; %s", a.short())
	}

	scale(t, "1")
	waitBound(t, unmade["NS"])
	runs("db")(t, waiting)
	for _, v := range []vars{attached, waiting, unmade} {
		if a := doctor(t, "pvc", "data", "-n", v["NS"]); len(a.RootCauses)+len(a.Unexplained) > 0 || a.Verdict == "broken" || a.Verdict == "degraded" {
			t.Errorf("something is blamed although the controller is back; %s", a.short())
		}
	}
}
