package launch

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"

// replicaNodes are the nodes with the data of a Longhorn volume in trouble: what is
// wrong with a replica's directory or disk is seen only there. For a healthy
// volume that nobody waits for they would be pods for nothing.
func replicaNodes(v *snapshot.Volume) []string {
	lh := v.LH()
	if lh == nil || !troubled(v, lh) {
		return nil
	}
	var out []string
	for _, r := range v.Longhorn.Replicas {
		out = append(out, r.NodeID)
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
