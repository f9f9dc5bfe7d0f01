package transport

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
)

// iscsiTexts are the fresh texts of a node that speak of iSCSI: what was said of
// the question's volumes there, and the logs of all pods that run there, because
// one fault of the initiator fails every volume of the node. Newest first.
func iscsiTexts(p *diagnosis.Pass, node string) []diagnosis.Text {
	var out []diagnosis.Text
	seen := map[string]bool{}
	add := func(t diagnosis.Text) {
		if t.Fresh && !seen[t.Raw] && strings.Contains(strings.ToLower(t.Raw), "iscsi") {
			seen[t.Raw] = true
			out = append(out, t)
		}
	}
	for _, t := range p.TextsOn(node) {
		add(t)
	}
	for _, l := range p.Logs {
		pod := p.Pod(l.Namespace, l.Pod)
		if pod == nil || pod.Spec.NodeName != node {
			continue
		}
		for i, line := range l.Lines {
			at := message.Date(line, p.TakenAt)
			if at.IsZero() || p.Age(at) >= 10*time.Minute || !strings.Contains(strings.ToLower(line), "iscsi") {
				continue
			}
			where := fmt.Sprintf("logs/%s/%s/%s:%d", l.Namespace, l.Pod, l.Container, i+1)
			add(diagnosis.Text{Source: "log", Component: l.Container, Locator: where, Node: node, At: at, Fresh: true, Raw: line, Failure: message.Parse(line)})
		}
	}
	for _, t := range hostLines(p, node) {
		add(t)
	}
	slices.SortStableFunc(out, func(a, b diagnosis.Text) int { return b.At.Compare(a.At) })
	return out
}

// hostLines are the fresh lines about iSCSI in the text logs that the host keeps
// itself: iscsid and the kubelet write there and name no volume.
func hostLines(p *diagnosis.Pass, node string) []diagnosis.Text {
	view := p.View(node)
	if view == nil {
		return nil
	}
	var out []diagnosis.Text
	for _, path := range sortedFiles(view, "var/log/") {
		if strings.Contains(path, "/audit/") {
			continue
		}
		for i, line := range strings.Split(view.Facts.Files[path].Content, "\n") {
			if !strings.Contains(strings.ToLower(line), "iscsi") {
				continue
			}
			if at := message.Date(line, p.TakenAt); !at.IsZero() && p.Age(at) < 10*time.Minute {
				out = append(out, diagnosis.Text{Source: "log", Component: "host", Locator: fmt.Sprintf("%s:%d", path, i+1), Node: node, At: at, Fresh: true, Raw: line, Failure: message.Parse(line)})
			}
		}
	}
	return out
}
