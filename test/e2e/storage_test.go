package e2e

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/test/e2e/internal/lab"
)

// disk is a driver of network disks that none of the tool's rules know by name.
var disk = vars{"DRIVER": "disk.csi.example.com", "CLASS": "disk", "SYSTEM": "storage", "PLUGIN": "disk-csi-node", "DEVICES": "-"}

// install installs a driver and waits until both nodes know it.
func install(t *testing.T, driver vars) {
	t.Helper()
	apply(t, "driver.yaml", driver.with(vars{"STORAGE": cluster.Images(), "KUBECONFIG": cluster.Kubeconfig("admin")}))
	for _, n := range lab.Nodes {
		waitDriver(t, n.Name, driver["DRIVER"])
	}
	kubectl(t, "-n", driver["SYSTEM"], "rollout", "status", "deployment/csi-attacher", "--timeout=60s")
}

func waitDriver(t *testing.T, node, driver string) {
	t.Helper()
	eventually(t, time.Minute, driver+" is registered on "+node, func() bool {
		return strings.Contains(field("{.spec.drivers[*].name}", "csinode", node), driver)
	})
}

// claim makes a namespace with one bound claim, data, on a volume of its own.
// The volume goes when the namespace is gone.
func claim(t *testing.T, driver vars, ns string) vars {
	t.Helper()
	v := driver.with(vars{"NS": ns, "VOLUME": volumeName(ns)})
	t.Cleanup(func() {
		if _, err := cluster.Kubectl("delete", "persistentvolume", v["VOLUME"], "--timeout=60s"); err != nil {
			t.Error(err)
		}
	})
	namespace(t, ns)
	t.Cleanup(func() { // before the namespace goes
		if t.Failed() {
			describe(t)
		}
	})
	apply(t, "claim.yaml", v)
	waitBound(t, ns)
	return v
}

// waitBound: a pod that comes before its claim is bound waits 15 s longer.
func waitBound(t *testing.T, ns string) {
	t.Helper()
	eventually(t, 30*time.Second, "claim "+ns+"/data is bound", func() bool {
		return field("{.status.phase}", "-n", ns, "persistentvolumeclaim", "data") == "Bound"
	})
}

// runPod starts a pod that writes to the claim and waits until it runs.
func runPod(t *testing.T, v vars, pod, node string) {
	t.Helper()
	apply(t, "pod.yaml", v.with(vars{"POD": pod, "NODE": node}))
	waitRunning(t, v["NS"], pod)
}

// globalMount is where the kubelet staged the volume.
func globalMount(t *testing.T, v vars, node string) string {
	t.Helper()
	out := on(t, node, `awk '$5 ~ "/plugins/kubernetes.io/csi/`+v["DRIVER"]+`/.*/globalmount$" {print $5}' /proc/1/mountinfo`)
	if out == "" || strings.Contains(out, "\n") {
		t.Fatalf("one staged volume of %s was expected on %s, got %q", v["DRIVER"], node, out)
	}
	return out
}

// volumeName is a name as provisioners make them, the same in every run: what is
// too short to be unique is not taken for a volume's name by the tool.
func volumeName(ns string) string {
	h := fmt.Sprintf("%x", sha256.Sum256([]byte(ns)))
	return "pvc-" + h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-8" + h[17:20] + "-" + h[20:32]
}
