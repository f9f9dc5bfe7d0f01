package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

// dangerous are steps that can destroy data while nobody knows that the node is off.
var dangerous = []string{"taint-out-of-service", "delete-volumeattachment", "force-delete-pod", "delete-node"}

// stranded runs a Deployment on worker-2, takes the node from the cluster, and
// waits until the replacement cannot attach the volume.
func stranded(t *testing.T, ns string, take func() error) vars {
	t.Helper()
	v := claim(t, disk, ns)
	t.Cleanup(func() { restore(t) }) // before the claim goes, which needs the node
	apply(t, "deployment.yaml", v.with(vars{"NODE": "worker-2"}))
	kubectl(t, "-n", ns, "rollout", "status", "deployment/app", "--timeout=60s")
	old := field("{.items[0].metadata.name}", "-n", ns, "pods")
	if node := field("{.spec.nodeName}", "-n", ns, "pod", old); node != "worker-2" {
		t.Fatalf("the pod runs on %s, want worker-2", node)
	}
	if err := take(); err != nil {
		t.Fatal(err)
	}
	waiting := ""
	eventually(t, 90*time.Second, "a replacement waits on worker-1", func() bool {
		waiting = field("{.items[*].metadata.name}", "-n", ns, "pods", "--field-selector=status.phase=Pending")
		return waiting != "" && !strings.Contains(waiting, old)
	})
	waitEvent(t, ns, waiting, "Multi-Attach error")
	return v
}

// nodeOff: a power cut. The volume stays attached to a node that does not report.
func nodeOff(t *testing.T) {
	stranded(t, "nodeoff", func() error { return cluster.PowerOff("worker-2") })

	// A node that went a moment ago may only be rebooting.
	eventually(t, 2*time.Minute, "worker-2 is not ready for a minute", func() bool {
		since, err := time.Parse(time.RFC3339, field(`{.status.conditions[?(@.type=="Ready")].lastTransitionTime}`, "node", "worker-2"))
		return err == nil && time.Since(since) > 65*time.Second
	})
	begin := time.Now()
	a := doctor(t, "pvc", "data", "-n", "nodeoff")
	if took := time.Since(begin); took > 40*time.Second {
		t.Errorf("it took %s: a node that is not ready is not waited for", took)
	}
	a.root(t, "node-down", "Node worker-2", "certain")
	a.neverAdvises(t, dangerous...)
	a.says(t, `out[- ]of[- ]service`, `6 min|six minutes`)
	notSeen(t, a, "worker-2")
	byNode := doctor(t, "node", "worker-2")
	byNode.root(t, "node-down", "Node worker-2", "certain")
	sweep := doctor(t, "cluster", "--no-probe")
	sweep.root(t, "node-down", "Node worker-2", "certain")
	restore(t) // the node's return is the first thing that the report advises
	eventually(t, 2*time.Minute, "the replacement runs", func() bool {
		return strings.Contains(field("{.items[*].status.containerStatuses[0].ready}", "-n", "nodeoff", "pods"), "true")
	})
}

func restore(t *testing.T) {
	t.Helper()
	begin := time.Now()
	if !cluster.On("worker-2") {
		if err := cluster.PowerOn("worker-2"); err != nil {
			t.Fatal(err)
		}
	}
	if err := cluster.StartKubelet("worker-2"); err != nil {
		t.Fatal(err)
	}
	// The API shows the old kubelet's word for a while.
	eventually(t, time.Minute, "the kubelet of worker-2 reports again", func() bool {
		renewed, err := time.Parse(time.RFC3339, field("{.spec.renewTime}", "-n", "kube-node-lease", "lease", "worker-2"))
		return err == nil && renewed.After(begin)
	})
	if err := cluster.WaitReady("worker-2"); err != nil {
		t.Fatal(err)
	}
	waitDriver(t, "worker-2", disk["DRIVER"])
}

// kubeletDead: to the API the node is as dead as in a power cut, but the pod
// still writes to the disk. Nothing that the tool says may bring a second writer.
func kubeletDead(t *testing.T) {
	stranded(t, "kubeletdead", func() error { return cluster.StopKubelet("worker-2") })
	if alive := on(t, "worker-2", "pgrep -cx sleep || true"); alive == "0" {
		t.Fatal("the containers of worker-2 do not live")
	}
	a := doctor(t, "pvc", "data", "-n", "kubeletdead")
	if !slices.ContainsFunc(a.RootCauses, func(c cause) bool { return c.Name == "node-down" && c.Subject.Name == "worker-2" }) {
		t.Errorf("node-down is not among the root causes; %s", a.short())
	}
	a.neverAdvises(t, dangerous...)
	notSeen(t, a, "worker-2")
}

// offMidRun: the node loses power while the probe runs on it.
func offMidRun(t *testing.T) {
	v := claim(t, disk, "offmidrun")
	runPod(t, v, "db", "worker-2")
	t.Cleanup(func() {
		restore(t)
		// The new kubelet first has to find out what the old one left.
		eventually(t, 90*time.Second, "the kubelet has ended the probe pod", func() bool {
			return field("{.items[*].metadata.name}", "-A", "pods", "-l", "mountdoctor.io/probe") == ""
		})
		nothingLeft(t)
	})
	r := begin(t, "Running", "pvc", "data", "-n", "offmidrun", "-o", "json", "--probe-timeout", "30s")
	if err := cluster.PowerOff("worker-2"); err != nil {
		t.Fatal(err)
	}
	a := r.end(t, 90*time.Second)
	if err := json.Unmarshal([]byte(a.out), &a.document); err != nil {
		t.Fatalf("exit code %d, no report: %v: %s%s", a.code, err, a.out, a.errors)
	}
	notSeen(t, a, "worker-2")
}
