package causes

import (
	"strings"
	"testing"
)

// TestPodsOfASilentNode: nobody mounts anything where no kubelet works, whatever kind of volume it is.
func TestPodsOfASilentNode(t *testing.T) {
	t.Parallel()
	const down, open = "node-down Node n1", "unexplained pod-waiting-for-volume"
	silent := func(w *world, since string) *world { return notReady(w, "n1", since).Unprobed("n1", "NodeNotReady") }
	reports := func(w *world) *world { // its network is not ready; it mounts
		return w.EditIn("kind: Node\nmetadata: {name: n1", "status: 'True', reason: KubeletReady, lastTransitionTime: '2025-12-23T12:00:00Z'", "status: 'False', reason: KubeletNotReady, message: 'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady', lastTransitionTime: '2026-01-02T11:20:00Z'").
			Add("\napiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {namespace: kube-node-lease, name: n1}\nspec: {holderIdentity: n1, renewTime: '2026-01-02T11:59:55.000000Z'}\n")
	}
	leased := func(w *world, renewed string) *world {
		return w.Add("\napiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {namespace: kube-node-lease, name: n1}\nspec: {holderIdentity: n1, renewTime: '" + renewed + "'}\n")
	}
	young := func(w *world) *world {
		return w.EditIn("name: web-0, uid", "2026-01-02T11:30:00Z", "2026-01-02T11:57:00Z")
	}
	rows := map[string]shown{
		"its kubelet reports":           {reports(nfs().Waits()), "broken: " + open},
		"its lease is 50 seconds old":   {leased(nfs().Waits(), "2026-01-02T11:59:10.000000Z"), "broken: " + open},
		"its lease is five minutes old": {leased(nfs().Waits(), "2026-01-02T11:55:00.000000Z"), "broken: likely " + down},
		"just now, and the pod is old":  {silent(nfs().Waits(), "2026-01-02T11:59:30Z"), "broken: possible " + down + "; " + open},
		"just now, as the pod came":     {silent(young(nfs().Waits()), "2026-01-02T11:59:30Z").EditIn("name: web-0, uid", "2026-01-02T11:57:00Z", "2026-01-02T11:57:40Z"), "waiting: possible " + down + " waiting"},
		"a minute's silence and a half": {silent(young(nfs().Waits()), "2026-01-02T11:58:30Z"), "broken: certain " + down},
		"of another node":               {notReady(nfs().Waits(), "n2", "2026-01-02T11:20:00Z").Unprobed("n2", "NodeNotReady"), "broken: " + open},
	}
	for name, w := range map[string]*world{"a share": nfs(), "SMB": smb(), "a disk": ebs(), "a local disk": localDir("/mnt/disks/vol1")} {
		rows[name] = shown{silent(w.Waits(), "2026-01-02T11:20:00Z"), "broken: certain " + down}
	}
	showEach(t, rows)
	_, r := silent(nfs().Waits(), "2026-01-02T11:20:00Z").Verdict(t, Catalog(), "pvc shop/data")
	for _, s := range r.RootCauses[0].Remedies {
		if strings.Contains(s.Title+strings.Join(s.Commands, ""), "force") {
			t.Errorf("nothing is held there, and the step says %s %v", s.Title, s.Commands)
		}
	}
}
