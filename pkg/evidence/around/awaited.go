package around

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/iscsi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nodeplugin"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/reach"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Awaited are pods that do not run and without which a driver does not mount: those that its fresh words
// name, those that were made for this one volume, whose name they have in theirs or in a label, and those that serve
// the driver on the node (a satellite, a pool).
func Awaited(x *snapshot.Index, v *snapshot.Volume, texts []evidence.Text) []*corev1.Pod {
	if len(v.Waiting()) == 0 {
		return nil
	}
	all, at := idle(x), map[int]bool{}
	for _, t := range texts {
		if t.Fresh {
			for _, name := range snapshot.PodsNamed(t.Raw) {
				all.with(at, name, func(p *corev1.Pod) bool { return p.Name == name })
			}
		}
	}
	for _, name := range []string{v.Handle, v.PVName()} {
		if len(name) > 7 {
			all.with(at, name, func(p *corev1.Pod) bool {
				return slices.ContainsFunc(wordsOf(p), func(s string) bool { // one volume's name may be the beginning of another's
					return strings.Contains("-"+s+"-", "-"+name+"-")
				})
			})
		}
	}
	out := backing(x, v)
	for _, i := range slices.Sorted(maps.Keys(at)) {
		if p := all.pods[i]; !slices.Contains(out, p) && !slices.ContainsFunc(v.Consumers, func(c *snapshot.Consumer) bool { return c.Pod == p }) {
			out = append(out, p)
		}
	}
	return out
}

// backing are those that serve the driver on a node where a pod waits.
func backing(x *snapshot.Index, v *snapshot.Volume) []*corev1.Pod {
	var out []*corev1.Pod
	for _, c := range v.Waiting() {
		for _, p := range nodeplugin.Beside(x, v.CSIName(), c.Node()) {
			out = evidence.Once(out, p)
		}
	}
	return out
}

// idlers are the pods that are not Ready and have not done their work, and which of them have a part of
// a name, between hyphens, in theirs or in a label.
type idlers struct {
	pods []*corev1.Pod
	of   map[string][]int
}

func idle(x *snapshot.Index) idlers {
	return x.Memo("around.idle", func() any {
		l := idlers{of: map[string][]int{}}
		for _, p := range x.Cluster.Pods {
			if snapshot.PodReady(p) || p.Status.Phase == corev1.PodSucceeded {
				continue
			}
			for part := range parts(wordsOf(p)...) {
				l.of[part] = append(l.of[part], len(l.pods))
			}
			l.pods = append(l.pods, p)
		}
		return l
	}).(idlers)
}

// with adds the pods that have a name and are wanted: it looks at those with its rarest part.
func (l idlers) with(at map[int]bool, name string, want func(*corev1.Pod) bool) {
	rare := slices.MinFunc(slices.Collect(maps.Keys(parts(name))), func(a, b string) int { return len(l.of[a]) - len(l.of[b]) })
	for _, i := range l.of[rare] {
		if want(l.pods[i]) {
			at[i] = true
		}
	}
}

func parts(words ...string) map[string]bool {
	out := map[string]bool{}
	for _, w := range words {
		for part := range strings.SplitSeq(w, "-") {
			out[part] = true
		}
	}
	return out
}

func wordsOf(p *corev1.Pod) []string {
	return append(slices.Collect(maps.Values(p.Labels)), p.Name)
}

// WhyNot says why such a pod does not run, with the last words of a container that ended.
func WhyNot(x *snapshot.Index, p *corev1.Pod) []report.Evidence {
	if s := waiting(p); s != nil {
		w := s.State.Waiting
		return append(LastWords(x, p, s.Name), evidence.FromPod(p, "status.containerStatuses["+s.Name+"]", strings.TrimSuffix("waiting: "+w.Reason+": "+w.Message, ": ")))
	}
	if said := pods.Unplaced(x, p); said.Text != "" {
		return []report.Evidence{said}
	}
	return []report.Evidence{evidence.FromPod(p, "status.phase", strings.TrimSpace(fmt.Sprintf("%s %s %s", p.Status.Phase, p.Status.Reason, p.Status.Message)))}
}

func waiting(p *corev1.Pod) *corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for i := range list {
			if list[i].State.Waiting != nil {
				return &list[i]
			}
		}
	}
	return nil
}

// Ended is the container of such a pod that ended and is started again later: its log tells why.
func Ended(p *corev1.Pod) (container string, ok bool) {
	s := waiting(p)
	if s == nil || s.LastTerminationState.Terminated == nil {
		return "", false
	}
	return s.Name, true
}

// Portals are what the ports of the volume's NVMe subsystems answer a node that has no disk of it, and the
// ports of Fibre Channel that are down there, where it comes that way or somebody speaks of it.
func Portals(x *snapshot.Index, v *snapshot.Volume, node string, texts evidence.Texts) []report.Evidence {
	view := x.View(node)
	if _, found := x.DeviceOn(v, node); found || view == nil {
		return nil
	}
	var out []report.Evidence
	if KindOf(x, v, node) == FC || slices.ContainsFunc(texts, iscsi.SpeaksOfFC) {
		out, _ = iscsi.FCPorts(view)
	}
	for _, a := range x.NVMePortals(v, node) {
		if d := reach.Of(view, strconv.Itoa(int(a.Port())), a.Addr().String()); d.Asked() {
			out = append(out, d.Evidence(node))
		}
	}
	return out[:min(len(out), 2)]
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
