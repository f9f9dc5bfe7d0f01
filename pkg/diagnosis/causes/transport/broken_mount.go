package transport

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// brokenMount is one mount below a kubelet's root that answers with an error.
type brokenMount struct {
	snapshot.VolumeMount
	view *snapshot.NodeView
	pod  *corev1.Pod // nil: staging, or a pod that the API does not know
}

func (b brokenMount) evidence() []report.Evidence {
	st, _ := b.view.Statfs(b.Mount.Point)
	return []report.Evidence{
		diagnosis.FromNode(b.view.Name, fmt.Sprintf("proc/1/mountinfo:%d", b.Mount.Line), b.Mount.Raw),
		diagnosis.FromNode(b.view.Name, "@statfs"+b.Mount.Point, st.Err),
	}
}

// brokenShare is what is broken of one volume, in one place or in several.
type brokenShare struct {
	volume *snapshot.Volume // nil: of a volume that stands in the pod's own spec
	mounts []brokenMount
}

// brokenShares collects the mounts of the question that answer with an errno and
// whose filesystem is one of a kind. A question about nodes gets one share for each
// node, any other one for each volume, because it has one cause.
func brokenShares(p *diagnosis.Pass, errno string, kind func(fstype string) bool) []*brokenShare {
	var out []*brokenShare
	byKey := map[string]*brokenShare{}
	for _, node := range nodesOfNFS(p) {
		view := p.View(node)
		if view == nil {
			continue
		}
		for _, u := range view.VolumePaths() {
			if st, _ := view.Statfs(u.Mount.Point); st.Err != errno || !kind(u.Mount.FSType) {
				continue
			}
			v := p.VolumeOfPath(node, u.Mount.Point)
			b := brokenMount{u, view, p.PodByUID(u.Path.PodUID)}
			if !p.Sweep() && (v == nil || !p.InScope(v)) && !isAsked(p, b.pod) {
				continue
			}
			key := u.Path.PodUID
			if v != nil {
				key = v.Key()
			}
			if p.Sweep() {
				key += "@" + node
			}
			if byKey[key] == nil {
				byKey[key] = &brokenShare{volume: v}
				out = append(out, byKey[key])
			}
			byKey[key].mounts = append(byKey[key].mounts, b)
		}
	}
	return out
}

func isAsked(p *diagnosis.Pass, pod *corev1.Pod) bool {
	return pod != nil && p.Question.Kind == "pod" && pod.Namespace == p.Question.Namespace && pod.Name == p.Question.Name
}

// pods are the clients, the asked one first.
func (s *brokenShare) pods(p *diagnosis.Pass) []*corev1.Pod {
	var out []*corev1.Pod
	for _, b := range s.mounts {
		if b.pod != nil && !slices.Contains(out, b.pod) {
			out = append(out, b.pod)
		}
	}
	slices.SortStableFunc(out, func(a, b *corev1.Pod) int {
		switch {
		case isAsked(p, a) && !isAsked(p, b):
			return -1
		case isAsked(p, b) && !isAsked(p, a):
			return 1
		}
		return 0
	})
	return out
}

// find starts the finding: on the first client, or on the node when no pod uses it.
func (s *brokenShare) find(p *diagnosis.Pass, c report.Certainty) *diagnosis.Finding {
	subject := diagnosis.NodeSubject(s.mounts[0].view.Name)
	pods := s.pods(p)
	if len(pods) > 0 {
		subject = diagnosis.PodSubject(pods[0])
	}
	f := p.Find(c, subject).On(s.volume)
	for _, pod := range pods {
		f.Pod(pod)
	}
	for _, b := range s.mounts {
		f.Located(b.view.Name)
		f.Device(b.view.Name, b.Mount.Dev)
		f.Fact(b.evidence()...)
	}
	return f
}

// words names the mounts and who uses them, at most three.
func (s *brokenShare) words() string {
	text := ""
	for i, b := range s.mounts {
		if i == 3 {
			return text + fmt.Sprintf(" and %d more", len(s.mounts)-i)
		}
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s of %s on node %s", b.Mount.Point, b.whose(), b.view.Name)
	}
	return text
}

func (b brokenMount) whose() string {
	name := b.Path.Volume
	if b.Path.PV != "" {
		name = b.Path.PV
	}
	switch {
	case b.pod != nil:
		return fmt.Sprintf("pod %s/%s (volume %s)", b.pod.Namespace, b.pod.Name, name)
	case b.Path.PodUID != "":
		return "a pod that is gone (UID " + b.Path.PodUID + ")"
	}
	return "the staged volume"
}

// advise lets the clients go, and takes a dead mount away that keeps an ending pod.
func (s *brokenShare) advise(p *diagnosis.Pass, f *diagnosis.Finding, errno string) {
	for _, pod := range s.pods(p) {
		if pod.DeletionTimestamp == nil {
			f.Advise(remedy.DeletePod(pod).Note("Its mount answers %s; a new pod mounts the volume anew.", errno))
		}
	}
	for _, b := range s.mounts {
		if b.Path.PodUID != "" && (b.pod == nil || b.pod.DeletionTimestamp != nil) {
			f.Advise(remedy.UnmountLazy(b.view.Name, s.volume, b.VolumeMount, false))
		}
	}
}
