package local

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/provision"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// PoolFor is the pool from which a claim's volume shall be cut, and the node that the
// scheduler chose for it: named by the class (parameters volgroup of LVM-LocalPV, poolname of
// ZFS-LocalPV) or by the provisioner's words.
func PoolFor(pl *evidence.Place) (p Pool, at *evidence.Place, ok bool) {
	v := pl.Volume
	if v.PV != nil || v.Claim == nil || v.Class == nil {
		return p, nil, false
	}
	node := snapshot.ChosenNode(v.Claim)
	for key, kind := range map[string]string{"volgroup": "lvm", "poolname": "zfs"} {
		if name := v.Class.Parameters[key]; name != "" {
			p = Pool{Kind: kind, Name: rootOfDataset(name), Named: evidence.Yes(evidence.FromAPI("StorageClass "+v.Class.Name, "parameters["+key+"]", name))}
		}
	}
	if t, said := provision.Refusal(pl); p.Name == "" && said {
		if m := vgOf.FindStringSubmatch(t.Raw); m != nil {
			p = Pool{Kind: "lvm", Name: m[1], Named: evidence.Yes(t.Evidence())}
		}
	}
	return p, pl.On(node), node != "" && p.Name != ""
}

// NotThere asks whether the node of a volume that is to be made lacks the pool: by what the
// kernel lists of ZFS, by the driver's own object of the node, by the provisioner's fresh
// word. A volume group without volumes has nothing in /sys.
func (p Pool) NotThere(at *evidence.Place) evidence.Answer {
	if t, said := provision.Refusal(at); said && t.Fresh {
		if m := vgOf.FindStringSubmatch(t.Raw); m != nil && m[1] == p.Name {
			return evidence.Yes(t.Evidence())
		}
	}
	if p.Kind == "zfs" && at.View != nil {
		return p.zpoolAbsent(at)
	}
	kind := map[string]string{"lvm": "LVMNode", "zfs": "ZFSNode"}[p.Kind]
	if pools, _, known := at.X.NodePools(kind, at.Node); known && slices.Contains(pools, p.Name) {
		return evidence.No()
	}
	return p.Unlisted(at)
}
