package snapshot

import (
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// helperRoles are the words after which a provisioner's helper pod has the name of its
// volume: local-path makes "helper-pod-create-<pv>" or "create-<pv>", OpenEBS "init-<pv>".
var helperRoles = []string{"create-", "delete-", "init-", "cleanup-", "quota-"}

// helperIndex finds the helpers of a volume without looking at every pod for every volume.
type helperIndex struct {
	once   sync.Once
	pods   map[string][]*corev1.Pod
	events map[string][]*Event
}

// HelperPods are the pods whose names say that they work at a volume of this name, in the
// order of the snapshot.
func (x *Index) HelperPods(volume string) []*corev1.Pod {
	x.indexHelpers()
	return x.helpers.pods[volume]
}

// HelperEvents are the events of such pods, also of those that are gone.
func (x *Index) HelperEvents(volume string) []*Event {
	x.indexHelpers()
	return x.helpers.events[volume]
}

func (x *Index) indexHelpers() {
	x.helpers.once.Do(func() {
		x.helpers.pods, x.helpers.events = map[string][]*corev1.Pod{}, map[string][]*Event{}
		for _, p := range x.Cluster.Pods {
			for _, v := range HelperOf(p) {
				x.helpers.pods[v] = append(x.helpers.pods[v], p)
			}
		}
		for _, e := range x.Cluster.Events {
			if e.Kind != "Pod" {
				continue
			}
			for _, v := range helperOf(e.ObjName) {
				x.helpers.events[v] = append(x.helpers.events[v], e)
			}
		}
	})
}

// HelperOf are the names of volumes that a pod may be a helper of. It makes directories of the node: a name alone anybody
// gives to his pod.
func HelperOf(p *corev1.Pod) []string {
	if !slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return v.HostPath != nil }) {
		return nil
	}
	return helperOf(p.Name)
}

// helperOf are the volumes that a pod of this name may be a helper of: a volume's own name
// may hold such a word, too.
func helperOf(pod string) []string {
	var out []string
	for _, role := range helperRoles {
		for at := 0; ; {
			i := strings.Index(pod[at:], role)
			if i < 0 {
				break
			}
			i += at
			if rest := pod[i+len(role):]; rest != "" && (i == 0 || pod[i-1] == '-') {
				out = append(out, rest)
			}
			at = i + len(role)
		}
	}
	return out
}
