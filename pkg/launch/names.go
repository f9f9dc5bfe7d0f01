package launch

import (
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// mostNames bounds what one node is asked besides what it leads to itself.
const mostNames = 16

// serverNames are the NFS servers, given by name, of volumes that pods on a node wait
// for: nothing on the node tells them before the first mount. Sorted.
func serverNames(x *snapshot.Index, node string) []string {
	var out []string
	for _, pod := range x.PodsOn(node) {
		if pod.Status.Phase != corev1.PodPending {
			continue
		}
		for _, v := range x.VolumesOfPod(pod) {
			name := serverOf(v)
			if _, err := netip.ParseAddr(name); name != "" && err != nil && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return out[:min(len(out), mostNames)]
}

// serverOf is the NFS server of a volume: in-tree, of a CSI driver whose attributes
// name one, or of Longhorn's share.
func serverOf(v *snapshot.Volume) string {
	switch {
	case v.LH() != nil:
		host, _, _ := strings.Cut(strings.TrimPrefix(v.LH().Status.ShareEndpoint, "nfs://"), "/")
		return strings.Trim(host, "[]")
	case v.PV == nil:
		return ""
	case v.PV.Spec.NFS != nil:
		return v.PV.Spec.NFS.Server
	case v.Attribute("share") != "" || v.Attribute("path") != "":
		return v.Attribute("server")
	}
	return ""
}
