package remedy

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// CephLook is a look with Ceph's own tools. They are in the toolbox of Rook, which calls
// its drivers by its namespace (rook-ceph.rbd.csi.ceph.com) and its cluster by that of
// the toolbox (clusterID); of any other Ceph no pod has them, and the words say so.
func CephLook(v *snapshot.Volume, title string, argv ...string) Step {
	if ns := rookOf(v); ns != "" {
		words := append([]string{"-n", operand(ns), "exec", "deploy/rook-ceph-tools", "--"}, argv...)
		return Check(title+", in the toolbox of Rook.", Kubectl(words...))
	}
	return Words(title + ", on a host of Ceph: " + Inline(argv...) + ".")
}

// rookOf is the namespace of the cluster that Rook runs for a volume; empty: no Rook. An
// inline volume's attributes are a tenant's and name no namespace.
func rookOf(v *snapshot.Volume) string {
	if v == nil || v.PV == nil {
		return ""
	}
	driver := v.CSIName()
	for _, own := range []string{".rbd.csi.ceph.com", ".cephfs.csi.ceph.com"} {
		if ns, ok := strings.CutSuffix(driver, own); ok {
			if id := v.Attribute("clusterID"); id != "" {
				return id
			}
			return ns
		}
	}
	return ""
}

// OnSatellite runs a tool of DRBD: in the pod of LINSTOR's satellite on the node, which
// brings the tools, else on the node itself. A label is anyone's: the satellite lives in
// the namespace of the driver's proven plugin.
func OnSatellite(x *snapshot.Index, node string, argv ...string) Command {
	plugin := x.DriverPodOn("linstor.csi.linbit.com", node)
	for _, p := range x.PodsOn(node) {
		if plugin != nil && p.Namespace == plugin.Namespace && p.Labels["app.kubernetes.io/component"] == "linstor-satellite" {
			return Kubectl(append([]string{"-n", operand(p.Namespace), "exec", operand(p.Name), "--"}, argv...)...)
		}
	}
	return OnNode(node, argv...)
}
