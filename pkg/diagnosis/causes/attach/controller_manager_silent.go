package attach

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/manager"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// ControllerManagerSilent finds work on a volume that a controller of kube-controller-manager
// has to begin and has not begun.
var ControllerManagerSilent = &diagnosis.Rule{
	Name: "controller-manager-silent", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Provisioning, diagnosis.Attaching, diagnosis.Detaching, diagnosis.Deleting},
	LeadsTo:  []string{"attach-state-out-of-step"},
	YieldsTo: []string{"csidriver-object-wrong"},
	Asks:     diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		i, ok := manager.IdleOf(pl)
		if !ok {
			return nil
		}
		why, silent := manager.Silent(pl.X)
		p := &diagnosis.Proof{
			Subject: diagnosis.ObjectSubject("Lease", "kube-system", snapshot.ControllerManager), Says: i.Says, State: i.State, Last: []evidence.Answer{silent},
			Breaks: breaks(i),
			With:   words.Fields{"volume": volume.Name(pl.Volume), "claim": i.Claim, "node": i.Node, "pod": "", "age": i.Since(), "why": why},
		}
		if silent.No() { // it leads, and does not do this
			p.State, p.Last, p.AtMost = append(p.State, evidence.Yes(silent.Facts()...)), nil, report.Likely
		}
		if i.Undated && !silent.Yes() {
			p.AtMost = report.Possible
		}
		if i.Pod != nil {
			p.With["pod"] = pods.Name(i.Pod)
			p.Pod(i.Pod)
		}
		p.Steps = []remedy.Step{
			remedy.Check("See who leads, since when, and whether its pods run (in a managed cluster its provider's status page tells).",
				remedy.Kubectl("get", "lease", snapshot.ControllerManager, "-n", "kube-system", "-o", "yaml"),
				remedy.Kubectl("get", "pods", "-n", "kube-system", "-l", "component="+snapshot.ControllerManager)),
			remedy.Words("Start kube-controller-manager again, or restart its leader when it leads and does nothing; its log says what it misses. It takes up what was left by itself: " +
				"no VolumeAttachment is made by hand, no finalizer taken away."),
		}
		return []*diagnosis.Proof{p}
	},
}

func breaks(i manager.Idle) []diagnosis.Step {
	if i.Says == "release" {
		return []diagnosis.Step{diagnosis.Attaching, diagnosis.Detaching}
	}
	return []diagnosis.Step{diagnosis.Provisioning, diagnosis.Attaching, diagnosis.Deleting}
}
