package launch

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// mostHomes bounds the nodes of one local volume: its affinity names one, or, where the
// directory is shared by hand, a few.
const mostHomes = 2

// homes are the nodes that a volume is bound to before any pod of it is there: where the
// scheduler wants it to be made (provisioners of local volumes work there, in a helper
// pod), and where a directory or disk of a node lies.
func homes(x *snapshot.Index, v *snapshot.Volume) []string {
	if v.PV == nil {
		if n := snapshot.ChosenNode(v.Claim); n != "" {
			return []string{n}
		}
		return nil
	}
	if s := v.PV.Spec; s.Local == nil && s.HostPath == nil || s.NodeAffinity == nil {
		return nil
	}
	var out []string
	for _, n := range x.Cluster.Nodes {
		if snapshot.NodeMatches(v.PV.Spec.NodeAffinity.Required, n) {
			out = append(out, n.Name)
		}
	}
	if len(out) > mostHomes {
		return nil
	}
	slices.Sort(out)
	return out
}
