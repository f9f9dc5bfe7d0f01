package pods

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// HeldBy are the processes of a pod's node, none of its own, that have files of its volumes open,
// of whatever kind: also those of a Secret or a token, which no device carries.
func HeldBy(x *snapshot.Index, pod *corev1.Pod) (names []string, facts []report.Evidence) {
	view := x.View(pod.Spec.NodeName)
	if view == nil || pod.UID == "" {
		return nil, nil
	}
	dir := "/pods/" + string(pod.UID) + "/volumes/"
	for _, p := range view.Processes() {
		at := slices.IndexFunc(p.Open, func(d probes.Descriptor) bool { return strings.Contains(d.Target, dir) })
		if at < 0 || snapshot.SameUID(p.PodUID, string(pod.UID)) {
			continue
		}
		names = append(names, fmt.Sprintf("%d (%s)", p.PID, p.Comm))
		facts = append(facts, evidence.FromNode(view.Name, p.Open[at].Path, p.Open[at].Target))
	}
	return names, facts
}
