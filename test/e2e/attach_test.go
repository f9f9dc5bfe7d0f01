package e2e

import (
	"strings"
	"testing"
	"time"
)

// rollingUpdate: old and new pod of one Deployment sit on two nodes that live.
func rollingUpdate(t *testing.T) {
	v := claim(t, disk, "rolling")
	apply(t, "deployment.yaml", v.with(vars{"NODE": "worker-1"}))
	kubectl(t, "-n", "rolling", "rollout", "status", "deployment/app", "--timeout=60s")
	apply(t, "deployment.yaml", v.with(vars{"NODE": "worker-2"}))
	waiting := ""
	eventually(t, time.Minute, "the new pod waits", func() bool {
		waiting = field("{.items[*].metadata.name}", "-n", "rolling", "pods", "--field-selector=status.phase=Pending")
		return waiting != ""
	})
	waitEvent(t, "rolling", waiting, "Multi-Attach error")

	never := []string{"delete-volumeattachment", "force-delete-pod", "taint-out-of-service"}
	for _, question := range [][]string{
		{"pvc", "data", "-n", "rolling"},
		{"pod", waiting, "-n", "rolling"},
		{"volume", v["VOLUME"]},
		{"node", "worker-2"},
		{"cluster"},
		{"cluster", "-n", "rolling"},
	} {
		a := doctor(t, append(question, "--no-probe")...)
		a.root(t, "rwo-rolling-update", "Deployment rolling/app", "certain")
		a.neverAdvises(t, never...)
	}
	a := doctor(t, "pvc", "data", "-n", "rolling")
	a.root(t, "rwo-rolling-update", "Deployment rolling/app", "certain")
	a.neverAdvises(t, never...)
	sameFromCapture(t, a, "pvc", "data", "-n", "rolling")
	t.Log("as a person reads it:\n" + plugin(t, "pvc", "data", "-n", "rolling").out)
}

// driverMissing: a taint that the driver's DaemonSet does not tolerate drives the
// plugin from the node, and the kubelet forgets the driver.
func driverMissing(t *testing.T) {
	v := claim(t, disk, "nodriver")
	t.Cleanup(func() {
		kubectl(t, "taint", "node", "worker-2", "dedicated-")
		waitDriver(t, "worker-2", v["DRIVER"])
	})
	kubectl(t, "taint", "node", "worker-2", "dedicated=db:NoExecute")
	eventually(t, time.Minute, "worker-2 has lost the driver", func() bool {
		return !strings.Contains(field("{.spec.drivers[*].name}", "csinode", "worker-2"), v["DRIVER"])
	})
	apply(t, "pod.yaml", v.with(vars{"POD": "db", "NODE": "worker-2"}))
	waitEvent(t, "nodriver", "db", "does not contain driver")

	a := doctor(t, "pvc", "data", "-n", "nodriver")
	certainty := "certain"
	if made, err := time.Parse(time.RFC3339, field("{.metadata.creationTimestamp}", "node", "worker-2")); err != nil || time.Since(made) < 5*time.Minute {
		certainty = "possible" // a missing pod of a young node may still come
	}
	c := a.root(t, "csi-plugin-not-on-node", "Node worker-2", certainty)
	if !strings.Contains(c.Message, "dedicated") {
		t.Errorf("the message does not name the taint: %s", c.Message)
	}
	a.neverAdvises(t, "delete-volumeattachment", "force-delete-pod")
}
