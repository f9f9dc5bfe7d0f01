package symptom

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// shareManagerFailing: the NFS server of a Longhorn RWX volume does not serve.
var shareManagerFailing = &diagnosis.SymptomRule{Name: "share-manager-failing", Run: func(p *diagnosis.Pass) {
	for _, v := range p.Volumes() {
		if v.RegularRWX() && len(v.Live()) > 0 {
			shareFails(p, v)
		}
	}
}}

func shareFails(p *diagnosis.Pass, v *snapshot.Volume) {
	var facts []report.Evidence
	var node string
	pod := p.ShareManagerPod(v)
	if pod != nil {
		node = pod.Spec.NodeName
		facts = append(facts, podFails(p, pod)...)
	}
	settled := pod == nil || p.Age(pod.CreationTimestamp.Time) > settle
	if sm := v.Longhorn.ShareManager; sm != nil {
		fail := sm.State == "error" || settled && (sm.State == "stopped" || sm.State == "starting" || sm.State == "stopping") && consumersSettled(p, v)
		if fail {
			facts = append(facts, evidence.FromAPI("ShareManager "+sm.Name, "status.state", sm.State))
		}
	}
	if lh := v.LH(); lh != nil && lh.Status.ShareState == "error" {
		facts = append(facts, evidence.FromAPI("Volume "+lh.Name, "status.shareState", "error"))
	}
	for _, t := range p.Texts(v) {
		if (settled || waitsLong(p, v)) && is(t, message.ShareNotAvailable) && present(t, podOf(v, t), p.Texts(v)) && len(facts) < 4 {
			facts = append(facts, t.Evidence())
		}
	}
	if len(facts) == 0 {
		return
	}
	s := onVolume(v, fmt.Sprintf("The share-manager of %s does not serve it.", name(v)))
	s.Subject = diagnosis.ObjectSubject("ShareManager", "", v.Handle)
	s.Pod(pod)
	s.At(node)
	s.At(p.DeviceNodes(v)...)
	s.Evidence = facts
	p.AddSymptom(s)
}

func podFails(p *diagnosis.Pass, pod *corev1.Pod) []report.Evidence {
	object := "Pod " + pod.Namespace + "/" + pod.Name
	var out []report.Evidence
	for _, cs := range pod.Status.ContainerStatuses {
		last := cs.LastTerminationState.Terminated
		restarted := cs.RestartCount > 0 && last != nil && p.Age(last.FinishedAt.Time) < settle*5
		if restarted || !cs.Ready && p.Age(pod.CreationTimestamp.Time) > settle {
			out = append(out, evidence.FromAPI(object, "status.containerStatuses["+cs.Name+"]",
				fmt.Sprintf("ready %v, restartCount %d", cs.Ready, cs.RestartCount)))
		}
	}
	if pod.Status.Phase == corev1.PodFailed {
		out = append(out, evidence.FromAPI(object, "status.phase", "Failed"))
	}
	return out
}

// waitsLong tells whether a pod waits for longer than one start of a share-manager takes: each of several may be young.
func waitsLong(p *diagnosis.Pass, v *snapshot.Volume) bool {
	return slices.ContainsFunc(v.Waiting(), func(c *snapshot.Consumer) bool { return p.Age(c.Pod.CreationTimestamp.Time) > settle*5 })
}

func consumersSettled(p *diagnosis.Pass, v *snapshot.Volume) bool {
	// With the last consumer ending, Longhorn stops the share-manager itself.
	return slices.ContainsFunc(v.Live(), func(c *snapshot.Consumer) bool {
		return !c.Terminating() && p.Age(c.Pod.CreationTimestamp.Time) > settle
	})
}
