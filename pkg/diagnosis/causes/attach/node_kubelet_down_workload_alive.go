package attach

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed node_kubelet_down_workload_alive.md
var nodeKubeletDownDoc string

// NodeKubeletDownWorkloadAlive finds a node that looks dead in the API while the
// machine runs and uses the volume.
var NodeKubeletDownWorkloadAlive = &diagnosis.Rule{
	Name: "node-kubelet-down-workload-alive", Layer: diagnosis.Attach, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/nodes")},
	Explains: []string{"multi-attach-error", "pod-waiting-for-volume", "pod-stuck-terminating", "detach-stuck"},
	LeadsTo:  []string{"mount-of-dead-device", "device-mapped-on-other-node", "filesystem-readonly-after-error"},
	Doc:      nodeKubeletDownDoc,
	Run:      kubeletDown,
}

func kubeletDown(p *diagnosis.Pass) {
	for _, v := range p.Volumes() {
		for _, l := range lostNodes(p, v) {
			if !l.Holds() && len(l.Waiters) == 0 {
				continue // nobody is kept from the volume: what ails the kubelet is another question
			}
			if view, ok := p.Probed(l.Name); ok {
				if alive := lifeOn(p, l, view); alive.Any() {
					reportKubeletDown(p, l, view, alive)
				}
			}
		}
	}
}

func reportKubeletDown(p *diagnosis.Pass, l lostNode, view *snapshot.NodeView, alive life) {
	f := l.keyed(p.Find(report.Certain, diagnosis.NodeSubject(l.Name)))
	f.Node(l.Name)
	f.Fact(alive.Uses...)
	f.Fact(l.facts(p)...)
	said := alive.Said
	if said == "" {
		said = fmt.Sprintf("%d processes of other pods run", alive.Others)
		f.Missing("a mount of the volume or a process of its pods on node " + l.Name)
	}
	if alive.ClockOff {
		f.Missing("that the recording of node " + l.Name + " is of this moment (its clock says " + clockWords(view) + ")")
	}
	if l.Silent {
		f.Missing("the Ready condition of node " + l.Name + " (it still says True)")
	}
	kubelet := fmt.Sprintf("The kubelet (PID %d) runs but cannot report: look at its certificate, the API server's address and its disk", alive.Kubelet)
	if alive.Kubelet == 0 {
		kubelet = "No kubelet process was seen"
	}
	writes := "the volume is still being written to there"
	if len(alive.Uses) == 0 {
		writes = "a mount of the volume was not seen there"
	}
	f.Sayf("%s, but the machine lives: %s. %s. %s; %s%s.",
		l.silence(p), said, kubelet, l.attachedWords(), writes, l.whoWaits(p))
	f.Unless("a recording of node " + l.Name + " without any mount of the volume and without its pods' processes, or the node being Ready")
	f.Advise(remedy.Words(fmt.Sprintf("Repair the kubelet on node %s: start it, renew its certificate, free its disk, restore its way to the API server. "+
		"The old pod then ends normally and the volume moves by itself. Until then nothing may be detached, and no pod or node object removed by force: the disk is being written.", l.Name)))
	p.Report(f)
}

func clockWords(view *snapshot.NodeView) string {
	if c := view.Facts.Identity.Clock; !c.IsZero() {
		return c.UTC().Format(time.RFC3339)
	}
	return "nothing"
}
