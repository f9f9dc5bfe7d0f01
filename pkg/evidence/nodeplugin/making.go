package nodeplugin

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// unanswered are the codes of a call that nobody ended: its time ran out, the same call still runs, or nobody
// was there.
var unanswered = []string{"DeadlineExceeded", "Aborted", "Unavailable"}

// Making finds the plugin that does not serve on the node which a claim's volume was promised to, while the driver's
// controller waits for somebody to make it: a driver of local disks lets its plugin there do that (TopoLVM's
// LogicalVolume, OpenEBS' LVMVolume and ZFSVolume).
func Making(pl *evidence.Place) (f Failing, asked evidence.Answer) {
	v := pl.Volume
	if v == nil || pl.Node != "" || v.PV != nil || v.Claim == nil || v.Class == nil || v.Claim.Status.Phase != corev1.ClaimPending {
		return f, evidence.No()
	}
	on := snapshot.ChosenNode(v.Claim)
	asked = pl.Refused().Say(func(t evidence.Text) bool {
		return t.Reason == "ProvisioningFailed" && slices.Contains(unanswered, t.Code)
	})
	if on == "" || !asked.Yes() ||
		!pl.X.Memo("nodeplugin.eachNodeItsOwn "+v.Class.Provisioner, func() any { return eachNodeItsOwn(pl.X, v.Class.Provisioner) }).(bool) {
		return f, evidence.No()
	}
	all := FailingOn(pl.X, on)
	i := slices.IndexFunc(all, func(o Failing) bool { return o.Driver == v.Class.Provisioner })
	if i < 0 {
		return f, evidence.No()
	}
	return all[i], asked
}

// eachNodeItsOwn tells whether a driver's volumes lie on one node each: its topology key has the name of each of the nodes that
// it knows (as TopoLVM's and OpenEBS' do). That they differ is not enough: a small cluster may have one node in each zone.
func eachNodeItsOwn(x *snapshot.Index, driver string) bool {
	known, named := 0, map[string]int{}
	for _, n := range x.Cluster.CSINodes {
		for _, d := range n.Spec.Drivers {
			host := x.Node(n.Name)
			if d.Name != driver || host == nil {
				continue
			}
			known++
			for _, key := range d.TopologyKeys {
				if value := host.Labels[key]; value != "" && slices.Contains([]string{host.Name, host.Labels[corev1.LabelHostname], d.NodeID}, value) {
					named[key]++
				}
			}
		}
	}
	return known > 0 && slices.Contains(slices.Collect(maps.Values(named)), known) && !slices.ContainsFunc(x.Volumes, func(v *snapshot.Volume) bool {
		return v.Driver == driver && v.PV != nil && v.PV.Spec.NodeAffinity == nil // LINSTOR's may be had on every node
	})
}
