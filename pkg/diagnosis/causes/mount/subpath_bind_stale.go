package mount

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed subpath_bind_stale.md
var subpathBindStaleDoc string

// SubpathBindStale finds subPath binds whose target is gone while the volume is
// well.
var SubpathBindStale = &diagnosis.Rule{
	Name: "subpath-bind-stale", Layer: diagnosis.Mount, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("mountns")},
	Explains: []string{"mount-failed", "pod-stuck-terminating", "unmount-blocked", "pod-waiting-for-volume"},
	LeadsTo:  []string{"pod-directory-orphaned"},
	YieldsTo: []string{"mount-of-dead-device", "nfs-handle-stale", "fuse-daemon-dead"},
	Offers:   []string{"delete-pod", "unmount-lazy"},
	Doc:      subpathBindStaleDoc,
	Run: func(p *diagnosis.Pass) {
		for _, pod := range subPathPods(p) {
			view := p.View(pod.Spec.NodeName)
			if view == nil || view.Init == nil {
				subPathText(p, pod)
				continue
			}
			staleBinds(p, pod, view)
		}
	},
}

// subPathPods are the pods of the question that use a subPath: of a claim, or of
// a ConfigMap or Secret.
func subPathPods(p *diagnosis.Pass) []*corev1.Pod {
	var out []*corev1.Pod
	add := func(pod *corev1.Pod) {
		if pod != nil && pod.Spec.NodeName != "" && usesSubPath(pod) && !slices.Contains(out, pod) {
			out = append(out, pod)
		}
	}
	if p.Question.Kind == "pod" {
		add(p.Pod(p.Question.Namespace, p.Question.Name))
	}
	for _, v := range p.Volumes() {
		for _, c := range v.Live() {
			add(c.Pod)
		}
	}
	if p.Sweep() {
		for _, n := range p.Nodes() {
			for _, pod := range p.PodsOn(n) {
				add(pod)
			}
		}
	}
	return out
}

func usesSubPath(pod *corev1.Pod) bool {
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for _, c := range list {
			for _, m := range c.VolumeMounts {
				if m.SubPath != "" || m.SubPathExpr != "" {
					return true
				}
			}
		}
	}
	return false
}

// staleBinds looks at the pod's subPath mounts. A container that runs with a
// deleted ConfigMap file works until it restarts, so that alone is not reported.
func staleBinds(p *diagnosis.Pass, pod *corev1.Pod, view *snapshot.NodeView) {
	for _, u := range view.VolumePaths() {
		if u.Path.Kind != snapshot.SubPath || !sameUID(u.Path.PodUID, string(pod.UID)) || view.Dead(u.Mount.Dev) {
			continue
		}
		st, _ := view.Statfs(u.Mount.Point)
		broken := slices.Contains([]string{"ESTALE", "EIO", "ENOTCONN"}, st.Err)
		gone := u.Mount.Deleted() && (overdue(p, pod) && !runs(pod) || cannotStart(pod, u.Path.Container))
		if !broken && !gone {
			continue
		}
		v := p.VolumeOfPath(view.Name, u.Mount.Point)
		if !mainHealthy(p, pod, view, u, v) {
			continue
		}
		reportStale(p, pod, view, u, v, st.Err)
	}
}

// mainHealthy tells whether the mount of the whole volume is well: then the fault
// is the subPath's alone. A volume without a mount of its own (ConfigMap, Secret,
// emptyDir) is a directory of the node.
func mainHealthy(p *diagnosis.Pass, pod *corev1.Pod, view *snapshot.NodeView, sub snapshot.VolumeMount, v *snapshot.Volume) bool {
	for _, u := range view.VolumePaths() {
		if u.Path.Kind != snapshot.Publish || !sameUID(u.Path.PodUID, string(pod.UID)) || u.Path.PV != sub.Path.Volume && (v == nil || u.Path.PV != v.PVName()) {
			continue
		}
		if st, ok := view.Statfs(u.Mount.Point); ok && st.Err != "" || view.Dead(u.Mount.Dev) || u.Mount.Deleted() {
			return false
		}
		if v != nil && !u.Mount.Dev.Anonymous() && u.Mount.Dev != sub.Mount.Dev {
			return false // two devices of one volume: mount-of-dead-device
		}
	}
	return true
}

func reportStale(p *diagnosis.Pass, pod *corev1.Pod, view *snapshot.NodeView, u snapshot.VolumeMount, v *snapshot.Volume, errno string) {
	f := p.Find(report.Certain, diagnosis.PodSubject(pod)).On(v).Located(view.Name)
	f.Pod(pod)
	what := "points to " + u.Mount.Root + ", which was deleted"
	if errno != "" {
		what = "answers " + errno
	}
	then := "A restarted container gets the same bind again, so restarts do not help."
	if pod.DeletionTimestamp != nil {
		then = "The kubelet does not get rid of it, so the pod does not end."
	}
	f.Sayf("The subPath bind %s of container %s in pod %s on node %s %s, while the volume %s itself is well. %s",
		u.Mount.Point, u.Path.Container, podName(pod), view.Name, what, u.Path.Volume, then)
	f.Fact(tableLine(view.Name, view.Init, u.Mount))
	if errno != "" {
		f.Explains = []string{"mount-failed", "pod-stuck-terminating", "unmount-blocked", "pod-waiting-for-volume", "volume-io-error"}
		f.Fact(diagnosis.FromNode(view.Name, "@statfs"+u.Mount.Point, errno))
	}
	f.Unless("the same state of the volume's main mount")
	adviseStale(f, pod, view, u, v, errno)
	p.Report(f)
}

// adviseStale replaces a living pod; of one that ends already only the bind must go.
func adviseStale(f *diagnosis.Finding, pod *corev1.Pod, view *snapshot.NodeView, u snapshot.VolumeMount, v *snapshot.Volume, errno string) {
	switch {
	case pod.DeletionTimestamp == nil:
		f.Advise(remedy.DeletePod(pod).Note("The stale bind belongs to the UID of this pod; a new pod gets new binds."))
	case errno != "":
		f.Advise(remedy.UnmountLazy(view.Name, v, u, remote(u.Mount.FSType)))
	default:
		f.Advise(remedy.Words("Unmount exactly " + u.Mount.Point + " plainly on node " + view.Name + "; that no process of the pod is left was checked. The kubelet finishes with the pod by itself then."))
	}
}

// subPathWords are the kubelet's and the runtime's words about a subPath.
var (
	subPathGone  = regexp.MustCompile(`volume-subpaths/\S+.*no such file or directory`)
	subPathOther = regexp.MustCompile(`failed to prepare subPath for volumeMount|error cleaning subPath mounts`)
)

// subPathText judges by words alone, when the node was not probed.
func subPathText(p *diagnosis.Pass, pod *corev1.Pod) {
	for _, t := range podTexts(p, pod) {
		certainty := report.Certainty("")
		switch {
		case !t.Fresh:
		case subPathGone.MatchString(t.Raw):
			certainty = report.Likely
		case subPathOther.MatchString(t.Raw):
			certainty = report.Possible
		}
		if certainty == "" {
			continue
		}
		p.Probed(pod.Spec.NodeName)
		f := p.Find(certainty, diagnosis.PodSubject(pod)).Located(pod.Spec.NodeName)
		f.Pod(pod)
		f.Sayf("A subPath mount of pod %s on node %s cannot be made or cleaned: its target seems to be gone. The node's mount table, which would show it, was not read.", podName(pod), pod.Spec.NodeName)
		f.Fact(t.Evidence())
		f.NotConfirmed = append(f.NotConfirmed, "the subPath binds in the mount table of node "+pod.Spec.NodeName)
		f.Unless("a subPath directory that never existed, or a volume that is dead as a whole")
		f.Advise(remedy.Words(fmt.Sprintf("Delete pod %s once the volume itself is known to be well: a new pod gets new binds, a restarted container does not.", podName(pod))))
		p.Report(f)
		return
	}
}

// podTexts are the events and waiting reasons of one pod, newest first.
func podTexts(p *diagnosis.Pass, pod *corev1.Pod) []diagnosis.Text {
	var out []diagnosis.Text
	for _, s := range pod.Status.ContainerStatuses {
		if w := s.State.Waiting; w != nil && w.Message != "" {
			out = append(out, diagnosis.Text{Source: "api", Locator: "Pod " + podName(pod) + " status.containerStatuses[" + s.Name + "].state.waiting", Raw: w.Message, Fresh: true})
		}
	}
	events := p.Events("Pod", pod.Namespace, pod.Name)
	for _, e := range slices.Backward(events) {
		if e.ObjUID == "" || strings.EqualFold(e.ObjUID, string(pod.UID)) {
			out = append(out, diagnosis.Text{Source: "event", Locator: "Event Pod " + podName(pod) + " " + e.Reason, Raw: e.Message, Reason: e.Reason, Fresh: p.Fresh(e, pod.CreationTimestamp.Time)})
		}
	}
	return out
}
