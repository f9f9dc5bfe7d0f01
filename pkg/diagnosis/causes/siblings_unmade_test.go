package causes

import (
	"fmt"
	"strings"
	"testing"
)

// notLetIn has a driver live in a namespace, where nobody lets the pods of its plugin, or of its controller, in.
func notLetIn(w *world, ns string, plugin, controller bool) *world {
	d := w.Driver
	w.EditIn("kind: DaemonSet\nmetadata: {namespace: kube-system, name: plugin", "containers: [{name: driver, image: 'registry.example/driver:v1'}]", "hostNetwork: true, containers: [{name: node-driver-registrar, image: 'registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.10.1', args: [--csi-address=/csi/csi.sock, --kubelet-registration-path=/var/lib/kubelet/plugins/"+d+"/csi.sock], volumeMounts: [{name: socket-dir, mountPath: /csi}]}, {name: driver, image: 'registry.example/driver:v1'}], volumes: [{name: socket-dir, hostPath: {path: /var/lib/kubelet/plugins/"+d+"}}]")
	if plugin {
		w.Edit("status: {desiredNumberScheduled: 3, currentNumberScheduled: 3, numberReady: 3, numberAvailable: 3}", "status: {observedGeneration: 1, desiredNumberScheduled: 3, currentNumberScheduled: 0, numberReady: 0, numberUnavailable: 3}")
		w.Drop("kind: Pod\nmetadata: {namespace: kube-system, name: plugin-")
		for i := 1; i <= 3; i++ {
			n := fmt.Sprintf("n%d", i)
			w.Edit(fmt.Sprintf("drivers: [{name: %s, nodeID: n%d, topologyKeys: null}]", d, i), "drivers: []").Without(n, "var/lib/kubelet/plugins_registry/")
		}
		w.Add(`{apiVersion: v1, kind: Event, metadata: {namespace: ` + ns + `, name: fc, creationTimestamp: '2026-01-02T11:00:00Z'}, involvedObject: {apiVersion: apps/v1, kind: DaemonSet, namespace: ` + ns + `, name: plugin, uid: '40000000-0000-4000-8000-000000000001'}, type: Warning, reason: FailedCreate, count: 18, firstTimestamp: '2026-01-02T11:00:00Z', lastTimestamp: '2026-01-02T11:55:00Z', source: {component: daemonset-controller}, message: 'Error creating: pods "plugin-" is forbidden: unable to validate against any security context constraint: [provider "restricted-v2": Forbidden: not usable by user or serviceaccount, spec.volumes[0]: Invalid value: "hostPath": hostPath volumes are not allowed to be used]'}`)
	}
	if controller {
		w.Drop("kind: Pod\nmetadata: {namespace: kube-system, name: controller-0")
		w.Add(`
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: ` + ns + `, name: controller, uid: 60000000-0000-4000-8000-0000000000d1}
spec: {replicas: 1, selector: {matchLabels: {app: controller}}, template: {metadata: {labels: {app: controller}}, spec: {containers: [{name: csi-provisioner, image: 'registry.k8s.io/sig-storage/csi-provisioner:v5.0.1', args: [--csi-address=/csi/csi.sock]}, {name: csi-attacher, image: 'registry.k8s.io/sig-storage/csi-attacher:v4.6.1', args: [--csi-address=/csi/csi.sock]}, {name: driver, image: 'registry.example/driver:v1', args: ['--drivername=` + d + `']}]}}}
status: {unavailableReplicas: 1, conditions: [{type: ReplicaFailure, status: 'True', reason: FailedCreate, message: 'pods "controller-x" is forbidden: violates PodSecurity "restricted:latest": privileged'}]}
`)
	}
	return w.Moved("namespace: kube-system", "namespace: "+ns)
}

// TestPodsThatAreNotLetIn: a driver none of whose pods may be made is found by the templates of its workloads. Outside the
// namespaces of the cluster's own storage that is the word of whoever wrote them, and of two neither is believed.
func TestPodsThatAreNotLetIn(t *testing.T) {
	t.Parallel()
	attaching := func() *world { return va(ebs().Waits(), "csi-a", "n1", "", "attached: false") }
	pending := func() *world { return pendingClaim(ebs(), "Immediate", anno("ebs.csi.aws.com")).Waits() }
	second := func(w *world) *world {
		return w.Add(`
apiVersion: apps/v1
kind: DaemonSet
metadata: {namespace: tenant, name: mine, uid: 40000000-0000-4000-8000-0000000000d2}
spec: {selector: {matchLabels: {app: mine}}, template: {metadata: {labels: {app: mine}}, spec: {containers: [{name: r, image: x, args: [--kubelet-registration-path=/var/lib/kubelet/plugins/ebs.csi.aws.com/csi.sock]}]}}}
`, `
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: tenant, name: mine, uid: 60000000-0000-4000-8000-0000000000d2}
spec: {replicas: 1, selector: {matchLabels: {app: mine}}, template: {metadata: {labels: {app: mine}}, spec: {containers: [{name: csi-provisioner, image: x}, {name: driver, image: x, args: ['--drivername=ebs.csi.aws.com']}]}}}
`)
	}
	const node, deployment = " csi-plugin-not-on-node Node n1", " attacher-not-working Deployment "
	showEach(t, map[string]shown{
		"the plugin, in a namespace of its own":       {notLetIn(ebs().Waits().Attached("n1"), "storage", true, false), "broken: likely" + node},
		"the plugin, where only administrators write": {notLetIn(ebs().Waits().Attached("n1"), "kube-system", true, false), "broken: certain" + node},
		"a plugin that needs no attachment":           {notLetIn(nfs().Waits(), "storage", true, false), "broken: likely" + node},
		"the plugin, and another says that it is it":  {second(notLetIn(ebs().Waits().Attached("n1"), "storage", true, false)), "broken: unexplained pod-waiting-for-volume"},
		"the controller beside plugins that run":      {notLetIn(attaching(), "storage", false, true), "broken: certain" + deployment + "storage/controller"},
		"both":                                        {notLetIn(attaching(), "storage", true, true), "broken: likely" + node + "; likely" + deployment + "storage/controller"},
		"both, a volume that nobody makes":            {notLetIn(pending(), "storage", true, true), "broken: likely provisioner-not-responding PersistentVolumeClaim shop/data"},
	})
	for name, c := range map[string]struct {
		w    *world
		says bool
	}{
		"the words of the refusal": {notLetIn(pending(), "storage", true, true), true},
		"those of one among two":   {second(notLetIn(pending(), "storage", true, true)), false},
	} {
		_, r := c.w.Verdict(t, Catalog(), "pvc shop/data")
		says := false
		for _, k := range r.RootCauses {
			for _, e := range k.Evidence {
				says = says || strings.Contains(e.Text, "restricted:latest")
			}
		}
		if says != c.says {
			t.Errorf("%s: says %t", name, says)
		}
	}
}

// TestWhatWasNotRead: what a claim shall be filled from is never read, and a log that says why nobody makes its volume may not be.
func TestWhatWasNotRead(t *testing.T) {
	t.Parallel()
	pending := func() *world { return pendingClaim(ebs(), "Immediate", anno("ebs.csi.aws.com")).Waits() }
	snap := pending().EditIn("kind: PersistentVolumeClaim\n", "resources: {requests", "dataSource: {apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: snap-1}, resources: {requests")
	for name, c := range map[string]struct {
		w    *world
		want string
	}{
		"a snapshot":                    {snap, "VolumeSnapshot snap-1"},
		"the provisioner's log":         {pending().Gap("logs/kube-system/controller-0/csi-provisioner", "Forbidden"), "logs/kube-system/controller-0/csi-provisioner"},
		"all logs":                      {pending().Gap("logs", "Forbidden"), "logs"},
		"the log of nobody in question": {pending().Gap("logs/kube-system/coredns-0/coredns", "Forbidden"), ""},
		"nothing":                       {pending(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, r := c.w.Verdict(t, Catalog(), "pvc shop/data")
			got := ""
			for _, n := range r.NotChecked {
				got += n.Need
			}
			if got != c.want {
				t.Errorf("not checked: %q", got)
			}
		})
	}
}
