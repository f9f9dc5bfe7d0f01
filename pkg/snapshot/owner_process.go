package snapshot

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// Who is whom a process belongs to.
type Who struct {
	Pod       *corev1.Pod // nil: no pod, or one that the API does not know
	PodUID    string      // from the cgroup; empty: no pod
	Container string      // name of the container; empty when unknown
	Unit      string      // systemd unit
	Process   *probes.Process
}

// WhoIs tells whom a process belongs to.
func (x *Index) WhoIs(view *NodeView, p *probes.Process) Who { return Who{Process: p} }

// IsConsumerProcess tells whether the process belongs to a live consumer of the
// volume on the node, or to Longhorn's share-manager of it.
func (x *Index) IsConsumerProcess(v *Volume, node string, who Who) bool { return false }
