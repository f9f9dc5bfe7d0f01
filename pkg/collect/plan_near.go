package collect

import (
	"slices"
	"sort"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// near are the nodes that have, had or want a volume of the question.
func (c *collector) near(x *snapshot.Index, volumes []*snapshot.Volume) []string {
	var out []string
	add := func(n string) {
		if n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	switch c.q.Kind {
	case "node": // of what is well on it only this node matters
		add(c.q.Name)
		volumes = few(unwell(volumes))
	case "pod":
		if pod := x.Pod(c.q.Namespace, c.q.Name); pod != nil {
			add(pod.Spec.NodeName)
		}
	}
	for _, v := range volumes {
		for _, n := range slices.Concat(x.DeviceNodes(v), x.OtherNodes(v), affinityNodes(v.PV)) {
			add(n)
		}
		for _, n := range longhornNodes(v) {
			add(n)
		}
		add(snapshot.ChosenNode(v.Claim))
	}
	sort.Strings(out)
	return out
}

// affinityNodes are the nodes that a local volume is bound to by name.
func affinityNodes(pv *corev1.PersistentVolume) []string {
	if pv == nil || pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil {
		return nil
	}
	var out []string
	for _, term := range pv.Spec.NodeAffinity.Required.NodeSelectorTerms {
		for _, e := range slices.Concat(term.MatchExpressions, term.MatchFields) {
			if e.Operator == corev1.NodeSelectorOpIn && (e.Key == corev1.LabelHostname || e.Key == "metadata.name" || isHostKey(e.Key)) {
				out = append(out, e.Values...)
			}
		}
	}
	return out
}

// maxUnwell is how many volumes of a node are looked at on their other nodes, too.
const maxUnwell = 20

// few are the first of some volumes.
func few(volumes []*snapshot.Volume) []*snapshot.Volume {
	return volumes[:min(len(volumes), maxUnwell)]
}

// unwell are the volumes that wait for something, or of which somebody says that they are not well:
// why, another node may tell.
func unwell(volumes []*snapshot.Volume) []*snapshot.Volume {
	return slices.DeleteFunc(slices.Clone(volumes), func(v *snapshot.Volume) bool {
		return len(v.Waiting()) == 0 && len(v.Terminating()) == 0 && !unwellLonghorn(v.LH()) && !grows(v) &&
			!slices.ContainsFunc(v.Attachments, func(va *storagev1.VolumeAttachment) bool {
				return va.Status.AttachError != nil || va.Status.DetachError != nil || va.DeletionTimestamp != nil
			})
	})
}

func unwellLonghorn(lh *snapshot.LHVolume) bool {
	return lh != nil && (!slices.Contains([]string{"", "attached", "detached"}, lh.Status.State) || lh.Status.Robustness == "degraded" || lh.Status.Robustness == "faulted")
}
