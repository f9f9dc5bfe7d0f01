package around

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Awaited are pods that do not run and without which a driver does not mount: those that its fresh words
// name, and those that were made for this one volume, whose name they have in theirs or in a label.
func Awaited(x *snapshot.Index, v *snapshot.Volume, texts []evidence.Text) []*corev1.Pod {
	var named []string
	for _, t := range texts {
		if t.Fresh {
			named = append(named, snapshot.PodsNamed(t.Raw)...)
		}
	}
	mine := func(s string) bool { // one volume's name may be the beginning of another's
		return slices.ContainsFunc([]string{v.Handle, v.PVName()}, func(name string) bool {
			return len(name) > 7 && strings.Contains("-"+s+"-", "-"+name+"-")
		})
	}
	return evidence.Keep(x.Cluster.Pods, func(p *corev1.Pod) bool {
		uses := slices.ContainsFunc(v.Consumers, func(c *snapshot.Consumer) bool { return c.Pod == p })
		if uses || snapshot.PodReady(p) || p.Status.Phase == corev1.PodSucceeded || len(v.Waiting()) == 0 {
			return false
		}
		return slices.Contains(named, p.Name) || mine(p.Name) || slices.ContainsFunc(slices.Collect(maps.Values(p.Labels)), mine)
	})
}

// WhyNot says why such a pod does not run.
func WhyNot(p *corev1.Pod) report.Evidence {
	for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if w := s.State.Waiting; w != nil {
			return evidence.FromPod(p, "status.containerStatuses["+s.Name+"]", strings.TrimSuffix("waiting: "+w.Reason+": "+w.Message, ": "))
		}
	}
	if why, ok := pods.Unscheduled(p); ok {
		return evidence.FromPod(p, "status.conditions[PodScheduled]", why)
	}
	return evidence.FromPod(p, "status.phase", strings.TrimSpace(fmt.Sprintf("%s %s %s", p.Status.Phase, p.Status.Reason, p.Status.Message)))
}

// Sessions are those of the volume's iSCSI targets on a node that has no disk of it: whether it logs in at all,
// and whether the target then shows it no LUN, are two questions.
func Sessions(x *snapshot.Index, v *snapshot.Volume, node string) []report.Evidence {
	view := x.View(node)
	targets, _ := v.ISCSITargets(node)
	if _, found := x.DeviceOn(v, node); found || view == nil || len(targets) == 0 || v.IsLonghorn() {
		return nil
	}
	var out []report.Evidence
	for _, t := range targets {
		for _, s := range view.SessionsOf(t) {
			out = append(out, evidence.FromNode(node, "sys/class/iscsi_session/"+s.Name, fmt.Sprintf("%s, without a disk of the volume", s.State)))
		}
	}
	if len(out) == 0 && evidence.Tables(x, node, probes.Sessions).Complete() {
		out = append(out, evidence.FromNode(node, "sys/class/iscsi_session", "no session of "+targets[0]))
	}
	return out[:min(len(out), 2)]
}
