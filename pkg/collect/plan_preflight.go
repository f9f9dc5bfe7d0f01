package collect

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// preflight asks for the nodes in question and for what says which storage there is or
// shall be: classes, drivers with their plugins, Longhorn's settings. It asks for no
// volume and no claim.
func (c *collector) preflight(x *snapshot.Index) {
	if len(c.q.Names) == 0 {
		c.want(want{res: nodes})
	}
	for _, n := range c.q.Names {
		c.byName(nodes, "", n)
	}
	c.constants()
	for _, n := range x.Cluster.Nodes {
		c.byName(leases, corev1.NamespaceNodeLease, n.Name)
	}
	for _, ds := range x.Cluster.DaemonSets {
		if len(snapshot.DriversRegistered(&ds.Spec.Template.Spec)) > 0 {
			c.want(want{res: pods, namespace: ds.Namespace})
		}
	}
	if ns := x.LonghornNamespace(); ns != "" {
		c.want(want{res: lhSettings, namespace: ns})
	}
}
