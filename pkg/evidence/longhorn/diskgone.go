package longhorn

import (
	"path"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// DiskGone asks whether the node of a failed replica does not have its disk any more,
// under no UUID and no path: such as after the node was created again under its name.
func DiskGone(x *snapshot.Index, v *snapshot.Volume, r *snapshot.LHReplica) (have string, a evidence.Answer) {
	n := x.LHNode(r.NodeID)
	if n == nil || r.DiskID == "" || len(n.Disks) == 0 || r.FailedAt == "" && v.LH().Status.Robustness != "faulted" {
		return "", evidence.No()
	}
	var all []string
	for _, d := range n.Disks {
		if d.UUID == "" || d.UUID == r.DiskID || r.DiskPath != "" && path.Clean(d.Path) == path.Clean(r.DiskPath) {
			return "", evidence.No()
		}
		all = append(all, d.UUID+" ("+d.Path+")")
	}
	have = strings.Join(all, ", ")
	a = evidence.Yes(evidence.FromAPI("Replica "+r.Name, "spec.diskID", r.DiskID), evidence.FromAPI("Node.longhorn.io "+n.Name, "status.diskStatus[].diskUUID", have))
	if at := RegisteredAgain(x, n.Name); at != "" {
		a = a.With(evidence.FromAPI("Node "+n.Name, "metadata.creationTimestamp", at))
	}
	return have, a
}

// RegisteredAgain is when a Node object was made that is younger than Longhorn's of the
// same name: the machine was registered again.
func RegisteredAgain(x *snapshot.Index, node string) string {
	k, n := x.Node(node), x.LHNode(node)
	if k == nil || n == nil || n.CreationTimestamp.IsZero() || !k.CreationTimestamp.After(n.CreationTimestamp.Time) {
		return ""
	}
	return k.CreationTimestamp.UTC().Format(time.RFC3339)
}
