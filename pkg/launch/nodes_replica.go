package launch

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// replicaNodes are the nodes with the data of a Longhorn volume in trouble: what is
// wrong with a replica's directory or disk is seen only there. For a healthy
// volume that nobody waits for they would be pods for nothing.
func replicaNodes(x *snapshot.Index, v *snapshot.Volume) []string {
	lh := v.LH()
	if lh == nil || !troubled(v, lh) {
		return nil
	}
	var out []string
	placeless := false
	for _, r := range v.Longhorn.Replicas {
		out = append(out, r.NodeID)
		placeless = placeless || r.NodeID == ""
	}
	if placeless {
		out = append(out, sickDisks(x)...)
	}
	return out
}

// mostSick bounds how many nodes are looked at for the sake of a replica without a place.
const mostSick = 3

// sickDisks are nodes with a disk that Longhorn cannot use: why is seen only there.
func sickDisks(x *snapshot.Index) []string {
	var out []string
	for _, n := range x.Cluster.Longhorn.Nodes {
		sick := slices.ContainsFunc(n.Disks, func(d snapshot.LHDisk) bool {
			c, ok := d.Conditions.Get("Ready")
			return ok && c.Status == "False"
		})
		if sick && len(out) < mostSick {
			out = append(out, n.Name)
		}
	}
	return out
}

func troubled(v *snapshot.Volume, lh *snapshot.LHVolume) bool {
	if lh.Status.Robustness != "healthy" || lh.Status.ExpansionRequired || len(v.Waiting()) > 0 {
		return true
	}
	for _, e := range v.Longhorn.Engines {
		if e.Expanding || e.LastExpansionError != "" {
			return true
		}
	}
	return false
}
