package testcluster

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Crowd is what else a cluster holds: objects that no name and no selector of a
// question leads to, and that every whole list must carry all the same.
type Crowd struct {
	Nodes, Claims int
}

// crowded are the resources that grow with a cluster: how many objects there
// are per node and per claim, and in which namespace they lie.
var crowded = []struct {
	resource         string // GROUP/RESOURCE
	namespace        string // empty: none, or those of others
	perNode, perItem int
}{
	{"/nodes", "", 1, 0},
	{"storage.k8s.io/csinodes", "", 1, 0},
	{"coordination.k8s.io/leases", "kube-node-lease", 1, 0},
	{"/pods", "longhorn-system", 4, 0},
	{"/pods", "kube-system", 3, 0},
	{"/pods", "crowd", 0, 1},
	{"/persistentvolumeclaims", "crowd", 0, 1},
	{"/persistentvolumes", "", 0, 1},
	{"storage.k8s.io/volumeattachments", "", 0, 1},
	{"/events", "crowd", 1, 2},
	{"apps/replicasets", "crowd", 0, 1},
	{"apps/deployments", "crowd", 0, 1},
	{"/services", "crowd", 0, 1},
	{"/endpoints", "crowd", 0, 1},
	{"longhorn.io/volumes", "longhorn-system", 0, 1},
	{"longhorn.io/engines", "longhorn-system", 0, 1},
	{"longhorn.io/replicas", "longhorn-system", 0, 3},
	{"longhorn.io/volumeattachments", "longhorn-system", 0, 1},
	{"longhorn.io/nodes", "longhorn-system", 1, 0},
	{"longhorn.io/instancemanagers", "longhorn-system", 1, 0},
}

// size is how many objects of the crowd an unselective list meets.
func (c Crowd) size(q question) int {
	n := 0
	for _, r := range crowded {
		if r.resource == q.key() && (q.namespace == "" || q.namespace == r.namespace) {
			n += c.Nodes*r.perNode + c.Claims*r.perItem
		}
	}
	return n
}

// filler is one object of the crowd, about as long as a real one.
func filler(q question, i int) json.RawMessage {
	return fmt.Appendf(nil, `{"metadata":{"name":"crowd-%d","namespace":%q,"annotations":{"text":%q}}}`, i, q.namespace, strings.Repeat("x", 2000))
}
