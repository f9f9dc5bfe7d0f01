package attach

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// multiAttach recognises the attach-detach controller's refusal.
func multiAttach(text string) bool { return strings.Contains(text, "Multi-Attach error") }

// textAbout returns the newest text of a volume that matches and concerns a node
// or names none.
func textAbout(p *diagnosis.Pass, v *snapshot.Volume, node string, form *regexp.Regexp) (diagnosis.Text, bool) {
	for _, t := range p.Texts(v) {
		if form.MatchString(t.Raw) && (t.Node == "" || t.Node == node) {
			return t, true
		}
	}
	return diagnosis.Text{}, false
}

// askedPods are the pods whose inline volumes belong to the question.
func askedPods(p *diagnosis.Pass) []*corev1.Pod {
	switch p.Question.Kind {
	case "pod":
		if pod := p.Pod(p.Question.Namespace, p.Question.Name); pod != nil {
			return []*corev1.Pod{pod}
		}
	case "node":
		return p.PodsOn(p.Question.Name)
	case "cluster":
		return p.Cluster.Pods
	}
	return nil
}

func list(names []string) string {
	if len(names) == 0 {
		return "empty"
	}
	out := names[0]
	for _, n := range names[1:] {
		out += " " + n
	}
	return out
}
