package snapshot

import (
	"strings"

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

// Unknown tells whether the process runs in a pod that the API does not know.
func (w Who) Unknown() bool { return w.PodUID != "" && w.Pod == nil }

// WhoIs tells whom a process belongs to. A process without a pod in its own
// cgroup keeps its own identity: a child of a container runtime is not a pod.
func (x *Index) WhoIs(view *NodeView, p *probes.Process) Who {
	if p == nil {
		return Who{}
	}
	w := Who{PodUID: p.PodUID, Unit: p.Unit, Process: p}
	w.Pod = x.PodByUID(p.PodUID)
	if w.Pod == nil && p.ContainerID != "" && view != nil {
		w.Pod = x.podOfContainer(view.Name, p.ContainerID)
	}
	if w.Pod != nil {
		if w.PodUID == "" {
			w.PodUID = string(w.Pod.UID)
		}
		w.Container = containerName(w.Pod, p.ContainerID)
	}
	return w
}

func (x *Index) podOfContainer(node, id string) *corev1.Pod {
	for _, p := range x.PodsOn(node) {
		if containerName(p, id) != "" {
			return p
		}
	}
	return nil
}

// containerName finds a container by its id; the status writes "containerd://<id>".
func containerName(p *corev1.Pod, id string) string {
	if id == "" {
		return ""
	}
	s := p.Status
	for _, list := range [][]corev1.ContainerStatus{s.ContainerStatuses, s.InitContainerStatuses, s.EphemeralContainerStatuses} {
		for _, c := range list {
			_, have, ok := strings.Cut(c.ContainerID, "://")
			if ok && have != "" && (strings.HasPrefix(have, id) || strings.HasPrefix(id, have)) {
				return c.Name
			}
		}
	}
	return ""
}

// IsConsumerProcess tells whether the process belongs to a live consumer of the
// volume on the node, or to the share-manager that serves the volume from there.
func (x *Index) IsConsumerProcess(v *Volume, node string, who Who) bool {
	if v == nil || who.PodUID == "" {
		return false
	}
	uid := plainUID(who.PodUID)
	same := func(p *corev1.Pod) bool {
		return p != nil && (who.Pod == p || plainUID(string(p.UID)) == uid)
	}
	for _, c := range v.LiveConsumersOn(node) {
		if same(c.Pod) {
			return true
		}
	}
	sm := x.ShareManagerPod(v)
	return sm != nil && (sm.Spec.NodeName == node || sm.Spec.NodeName == "") && same(sm)
}
