package mounts

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// What the kubelet, a driver or an application says when the device under a mount is gone.
var (
	corruptWords = pattern.MustCompile(`(?i)staging target path \S+ is no longer valid|corrupt(?:ed)? mount ?point`)
	deadWords    = pattern.MustCompile(`(?i)input/output error|staging target path \S+ is no longer valid|corrupt(?:ed)? mount ?point`)
)

// SaidDead is a pod whose mount is dead by what somebody says, on a node whose mounts were
// not read.
type SaidDead struct {
	Pod      *corev1.Pod
	Waits    bool      // it waits: the mount was there before it
	Began    time.Time // when it began to run
	Attached time.Time // when the volume was attached anew, later than that
	Is       evidence.Answer
}

// SaidDeadOf finds those of a Ready node to which the volume is attached: the words speak
// of a mount that was there before a waiting pod, or the volume was attached anew after its
// pod had started.
func SaidDeadOf(pl *evidence.Place) []SaidDead {
	va := pl.Volume.AttachmentOn(pl.Node)
	if va == nil || !va.Status.Attached || !pl.X.NodeReady(pl.Node).Ready {
		return nil
	}
	for _, c := range pl.Volume.WaitingOn(pl.Node) {
		if said := complains(pl, corruptWords); said.Yes() {
			return []SaidDead{{Pod: c.Pod, Waits: true, Is: said}}
		}
	}
	var out []SaidDead
	for _, c := range pl.Volume.LiveConsumersOn(pl.Node) {
		if !pods.Runs(c.Pod) || c.Pod.Status.StartTime == nil || !va.CreationTimestamp.After(c.Pod.Status.StartTime.Add(stageTime)) {
			continue
		}
		began := c.Pod.Status.StartTime.Time
		out = append(out, SaidDead{Pod: c.Pod, Began: began, Attached: va.CreationTimestamp.Time, Is: evidence.All(complains(pl, deadWords), evidence.Yes(
			evidence.FromAPI("VolumeAttachment "+va.Name, "metadata.creationTimestamp", va.CreationTimestamp.UTC().Format(time.RFC3339)),
			evidence.FromPod(c.Pod, "status.startTime", began.UTC().Format(time.RFC3339))))})
	}
	return out
}

// Words are those of a sentence.
func (s SaidDead) Words(pl *evidence.Place) map[string]string {
	return map[string]string{"node": pl.Node, "volume": volume.Name(pl.Volume), "pod": pods.Name(s.Pod), "attached": s.Attached.UTC().Format(time.RFC3339), "began": s.Began.UTC().Format(time.RFC3339)}
}

// Judge is the branch of the sentence, how far the words carry, and what to do: the mount
// itself was not seen, and of a waiting pod not even which device it is of.
func (s SaidDead) Judge(pl *evidence.Place) (branch string, ceiling report.Certainty, advice string) {
	if s.Waits {
		return "before", report.Possible, "Probe node " + pl.Node + " before anything is unmounted or deleted there."
	}
	return "anew", report.Likely, "Probe node " + pl.Node + ". If the number in the pod's mount is not the volume's disk any more, all pods of the volume on that node have to be replaced, so that it is unstaged and staged anew."
}

// complains asks for the newest fresh complaint about a dead mount of the volume on the node.
func complains(pl *evidence.Place, words *pattern.Pattern) evidence.Answer {
	return pl.Refused().Say(func(t evidence.Text) bool {
		return words.MatchString(t.Raw + "\n" + t.Desc)
	})
}
