package around_test

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/around"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nodeplugin"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestBacking: a pod of a DaemonSet of the driver's own namespace that ends again and again on the node of who waits, with what
// its last line announces.
func TestBacking(t *testing.T) {
	t.Parallel()
	const crashes = "status: {phase: Running, containerStatuses: [{name: sat, ready: false, restartCount: 9, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 20, startedAt: '2026-01-02T11:58:00Z', finishedAt: '2026-01-02T11:58:02Z'}}}]}"
	pod := func(namespace, name, kind, node, status string) string {
		return "apiVersion: v1\nkind: Pod\nmetadata: {namespace: " + namespace + ", name: " + name + ", uid: u-" + name + ", creationTimestamp: '2026-01-01T08:00:00Z', ownerReferences: [{apiVersion: apps/v1, kind: " + kind + ", name: o, uid: o, controller: true}]}\nspec: {nodeName: " + node + ", containers: [{name: sat, image: i}], volumes: [{name: r, hostPath: {path: /var/lib/kubelet/plugins_registry}}]}\n" + status
	}
	const fs = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {namespace: kube-storage, name: o, uid: o}\nspec: {selector: {matchLabels: {a: o}}, template: {metadata: {labels: {a: o}}, spec: {containers: [{name: registrar, image: i, args: [--kubelet-registration-path=/var/lib/kubelet/plugins/fs.csi.example/csi.sock]}], volumes: [{name: s, hostPath: {path: /var/lib/kubelet/plugins/fs.csi.example}}, {name: r, hostPath: {path: /var/lib/kubelet/plugins_registry}}]}}}"
	for name, c := range map[string]struct {
		pod  string
		want bool
	}{
		"it crashes on the node":             {pod("kube-storage", "sat-1", "DaemonSet", "n1", crashes), true},
		"on another one":                     {pod("kube-storage", "sat-1", "DaemonSet", "n2", crashes), false},
		"of a Deployment":                    {pod("kube-storage", "sat-1", "ReplicaSet", "n1", crashes), false},
		"of another namespace":               {pod("monitoring", "sat-1", "DaemonSet", "n1", crashes), false},
		"it is the plugin of another driver": {pod("kube-storage", "sat-1", "DaemonSet", "n1", crashes), false},
		"it serves":                          {pod("kube-storage", "sat-1", "DaemonSet", "n1", "status: {phase: Running, containerStatuses: [{name: sat, ready: true, state: {running: {startedAt: '2026-01-01T08:00:00Z'}}}]}"), false},
	} {
		w := sketch.NewWorld("sat.csi.example", "h", "accessModes: [ReadWriteOnce]\ncsi: {driver: sat.csi.example, volumeHandle: h}").Waits().Moved("kube-system", "kube-storage").Add(c.pod).
			File("logs/kube-storage/sat-1/sat.previous.log", "2026-01-02 11:58:01 ERROR see the following errors:\n1) no watch left")
		if strings.Contains(name, "another driver") {
			w.Add(fs).Edit("nodeID: n1, topologyKeys: null}", "nodeID: n1, topologyKeys: null}, {name: fs.csi.example, nodeID: n1, topologyKeys: null}")
		}
		x := snapshot.NewIndex(w.Snapshot(t))
		got := around.Awaited(x, x.VolumeOfClaim("shop", "data"), nil)
		if (len(got) > 0) != c.want {
			t.Errorf("%s: %v", name, got)
			continue
		}
		if c.want && (!nodeplugin.Backs(got[0]) || around.WhyNot(x, got[0])[0].Text != "1) no watch left") {
			t.Errorf("%s: %v", name, around.WhyNot(x, got[0]))
		}
	}
}
