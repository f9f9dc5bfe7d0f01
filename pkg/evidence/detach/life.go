package detach

import (
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Lives asks whether a recording shows that the machine of a node runs: mounts of its
// volumes, processes of pods. A recording of another time, or one without a clock,
// proves nothing. The first result says it in words.
func Lives(x *snapshot.Index, node string) (said string, a evidence.Answer) {
	view := x.View(node)
	dark := evidence.Unseen(evidence.Lack{Need: "node/" + node, Node: node, Why: "nothing shows whether the machine runs and still writes"})
	if view == nil || !evidence.OfNow(x, view).Yes() {
		return "", dark
	}
	var facts []report.Evidence
	for _, v := range x.VolumesOn(node) {
		for _, m := range x.VolumeMounts(v, node) {
			if said == "" {
				said = fmt.Sprintf("volume %s is mounted at %s", v.PVName(), m.Mount.Point)
			}
			facts = append(facts, evidence.FromMount(node, nil, m.Mount))
		}
	}
	for _, p := range view.Processes() {
		if p.PodUID == "" || len(facts) > 4 {
			continue
		}
		if said == "" {
			said = fmt.Sprintf("process %d (%s) of a pod runs there", p.PID, p.Comm)
		}
		facts = append(facts, evidence.FromNode(node, fmt.Sprintf("proc/%d/cgroup", p.PID), p.Cgroup))
	}
	if len(facts) == 0 {
		return "", evidence.Unseen(evidence.Lack{Need: "node/" + node, Node: node, Why: "it runs, and nothing shows whether it comes back to the volume"})
	}
	return said, evidence.Yes(facts...)
}
