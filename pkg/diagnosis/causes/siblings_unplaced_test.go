package causes

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// tainted is a node that has not reported since a moment, with the taints that the node controller gives it.
func tainted(w *world, node, since string) *world {
	const own = "{key: node.kubernetes.io/unreachable, effect: "
	w = notReady(w, node, since).Unprobed(node, "NodeNotReady")
	return w.EditIn("metadata: {name: "+node+", uid: 'f0000000", "spec: {podCIDR", "spec: {taints: ["+own+"NoSchedule, timeAdded: '"+since+"'}, "+own+"NoExecute, timeAdded: '"+since+"'}], podCIDR")
}

// TestPodsWithoutANode: what keeps the scheduler from the only node that a volume allows is not the volume.
func TestPodsWithoutANode(t *testing.T) {
	t.Parallel()
	lost := func() *world {
		w := unscheduled(sketch.NewWorld("", "", localPV), "0/3 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }, 2 node(s) didn't match PersistentVolume's node affinity. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.")
		return tainted(w, "n1", "2026-01-02T10:00:00Z")
	}
	gated := func() *world {
		w := unscheduled(pendingClaim(vol("topolvm.io", "x", ""), "WaitForFirstConsumer", anno("topolvm.io")), "x").Drop("reason: FailedScheduling")
		return w.Edit("reason: Unschedulable, message: \"x\"", "reason: SchedulingGated, message: 'Scheduling is blocked due to non-empty scheduling gates'").EditIn("name: web-0,", "spec: {", "spec: {schedulingGates: [{name: kueue.x-k8s.io/admission}], ")
	}
	const topology = "broken: certain topology-conflict PersistentVolume pv-data"
	showEach(t, map[string]shown{
		"the only node is silent":          {lost(), "broken: certain node-down Node n1"},
		"the pod may not run there anyway": {lost().EditIn("name: web-0,", "spec: {", "spec: {nodeSelector: {kubernetes.io/hostname: n2}, "), topology},
		"it has another taint, too":        {lost().EditIn("metadata: {name: n1, uid: 'f0000000", "spec: {taints: [", "spec: {taints: [{key: dedicated, value: db, effect: NoSchedule}, "), topology},
		"not all nodes were read":          {lost().Gap("api//nodes", "Truncated"), "broken: likely topology-conflict PersistentVolume pv-data"},
		"a gate that somebody set":         {gated(), "waiting: certain consumer-unschedulable Pod shop/web-0 waiting"},
	})
}

// TestWayToAPlace: a name that no node has is no matter of zones, nor of the pod's selector.
func TestWayToAPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		w     *world
		steps []string
	}{
		"a name that no node has": {unscheduled(sketch.NewWorld("", "", strings.ReplaceAll(localPV, "values: [n1]", "values: [n9]")), "0/3 nodes are available: 3 node(s) didn't match PersistentVolume's node affinity."), []string{"Bring the node back"}},
		"a cordon":                {unscheduled(sketch.NewWorld("", "", localPV), "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match PersistentVolume's node affinity.").Edit("spec: {podCIDR: 10.42.11.0/24}", "spec: {podCIDR: 10.42.11.0/24, unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]}"), []string{"Change what keeps the pod"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, r := c.w.Verdict(t, Catalog(), "pvc shop/data")
			var got []string
			for _, s := range r.RootCauses[0].Remedies {
				if len(s.Commands) == 0 {
					got = append(got, s.Title)
				}
			}
			if !slices.EqualFunc(got, c.steps, strings.HasPrefix) {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestPodsWithoutANodeForTheDriver: where a driver has registered on no node, there is no room and no label to schedule by; why its
// plugins do not register is found as for a pod that was scheduled.
func TestPodsWithoutANodeForTheDriver(t *testing.T) {
	t.Parallel()
	const words = "0/3 nodes are available: 3 node(s) did not have enough free storage. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
	unknown := func(w *world) *world {
		for i := 1; i <= 3; i++ {
			n := fmt.Sprintf("n%d", i)
			w.Edit(fmt.Sprintf("drivers: [{name: %s, nodeID: n%d, topologyKeys: null}]", w.Driver, i), "drivers: []").Without(n, "var/lib/kubelet/plugins_registry/")
		}
		return w
	}
	elsewhere := func(w *world) *world {
		for _, n := range []string{"n1", "n2", "n3"} {
			w.Without(n, "proc/911/cmdline").Entries(n, "proc/911/cmdline", "/usr/bin/kubelet␀--root-dir=/var/lib/k0s/kubelet␀", "var/lib/k0s/kubelet/plugins_registry", "@dir")
		}
		return unknown(w)
	}
	pending := func() *world {
		return unscheduled(pendingClaim(vol("topolvm.io", "x", ""), "WaitForFirstConsumer", anno("topolvm.io")), words)
	}
	bound := func() *world {
		return unscheduled(vol("topolvm.io", "x", zonePV("topology.topolvm.io/node", "n1")), strings.ReplaceAll(words, "did not have enough free storage", "had volume node affinity conflict"))
	}
	unprobed := func(w *world) *world {
		return w.Unprobed("n1", "NotRequested").Unprobed("n2", "NotRequested").Unprobed("n3", "NotRequested")
	}
	const root, short, mute = "broken: certain kubelet-root-dir-wrong DaemonSet kube-system/plugin", "broken: likely provisioning-failed PersistentVolumeClaim shop/data", " csi-plugin-not-registered Pod kube-system/plugin-"
	three := func(certainty string) string {
		return "broken: " + certainty + mute + "1; " + certainty + mute + "2; " + certainty + mute + "3"
	}
	showEach(t, map[string]shown{
		"nobody publishes room, another directory": {elsewhere(pending()), root},
		"nobody has the label, another directory":  {elsewhere(bound()), root},
		"the right directory":                      {unknown(pending()), three("certain")},
		"nobody looked at the nodes":               {unprobed(elsewhere(pending())), three("likely")},
		"one node is registered":                   {elsewhere(pending()).EditIn("kind: CSINode\nmetadata: {name: n2", "drivers: []", "drivers: [{name: topolvm.io, nodeID: n2}]"), short},
		"all are registered":                       {pending(), short},
		"the plugins have just started":            {elsewhere(pending()).Edit("2025-11-07T13:25:00Z", "2026-01-02T11:59:30Z"), short},
		"no plugin is there":                       {elsewhere(pending()).Drop("kind: Pod\nmetadata: {namespace: kube-system, name: plugin-"), short},
	})
}
