package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/test/e2e/internal/lab"
)

// disk is a driver of network disks that none of the tool's rules know by name.
var disk = vars{
	"DRIVER": "disk.csi.example.com", "CLASS": "disk", "SYSTEM": "storage", "DEVICES": "-",
	"PLUGIN": "disk-csi-node", "CONTROLLER": "disk-csi-controller", "TOPOLOGY": "topology.disk.csi.example.com/zone",
}

// install installs a driver and waits until both nodes know it.
func install(t *testing.T, driver vars) {
	t.Helper()
	apply(t, "driver.yaml", driver.with(vars{"STORAGE": cluster.Images(), "API_HOST": lab.HostIP, "API_PORT": lab.APIPort}))
	for _, n := range lab.Nodes {
		waitDriver(t, n.Name, driver["DRIVER"])
	}
	kubectl(t, "-n", driver["SYSTEM"], "rollout", "status", "deployment/"+driver["CONTROLLER"], "--timeout=60s")
}

func waitDriver(t *testing.T, node, driver string) {
	t.Helper()
	eventually(t, time.Minute, driver+" is registered on "+node, func() bool {
		return strings.Contains(field("{.spec.drivers[*].name}", "csinode", node), driver)
	})
}

// claim makes a namespace with one claim, data, for which the driver makes a volume.
// The volume goes when the namespace is gone.
func claim(t *testing.T, driver vars, ns string) vars {
	t.Helper()
	v := claimOnly(t, driver, ns)
	waitBound(t, ns)
	return v.with(vars{"VOLUME": boundVolume(ns)})
}

// claimOnly does not wait until the claim has its volume.
func claimOnly(t *testing.T, driver vars, ns string) vars {
	t.Helper()
	v := driver.with(vars{"NS": ns})
	t.Cleanup(func() { volumeGone(t, ns) })
	namespace(t, ns)
	t.Cleanup(func() { // before the namespace goes
		if t.Failed() {
			describe(t)
		}
	})
	apply(t, "claim.yaml", v)
	return v
}

func boundVolume(ns string) string {
	return field("{.spec.volumeName}", "-n", ns, "persistentvolumeclaim", "data")
}

// volumeGone waits until the driver has removed what it made for a namespace.
func volumeGone(t *testing.T, ns string) {
	t.Helper()
	left := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		left = field(`{range .items[?(@.spec.claimRef.namespace=="`+ns+`")]}{.metadata.name} {.status}{end}`, "persistentvolumes")
		if left == "" {
			return
		}
	}
	t.Errorf("the volume of namespace %s is left: %s", ns, left)
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
