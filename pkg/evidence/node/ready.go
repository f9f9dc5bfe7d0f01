package node

import (
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Ready asks whether the API calls a node Ready. A node that is not there is not.
func Ready(x *snapshot.Index, name string) evidence.Answer {
	r := x.NodeReady(name)
	if !r.Known {
		return evidence.Not(evidence.Resource(x, "/nodes").Nothing())
	}
	return evidence.When(r.Ready, evidence.FromAPI("Node "+name, "status.conditions[Ready]", "True since "+r.Since.UTC().Format(time.RFC3339)))
}

// Quiet tells whether a kubelet let its lease run out, while others renew theirs.
func Quiet(x *snapshot.Index, name string) bool {
	return x.NodeReady(name).LeaseOld() && !skewed(x)
}

// skewed tells whether every kubelet looks silent: then the clock that dated the snapshot
// is ahead of the cluster's, and not every node down.
func skewed(x *snapshot.Index) bool {
	seen := 0
	for _, n := range x.Cluster.Nodes {
		r := x.NodeReady(n.Name)
		if r.LeaseAge >= 0 && !r.LeaseOld() {
			return false
		}
		if r.LeaseOld() && r.Ready {
			seen++
		}
	}
	return seen > 1
}
