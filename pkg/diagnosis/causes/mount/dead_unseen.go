package mount

import (
	"fmt"
	"regexp"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// deadWords are what the kubelet, a driver or an application says when the device
// under a mount is gone.
var (
	corruptWords = regexp.MustCompile(`(?i)staging target path \S+ is no longer valid|corrupt(?:ed)? mount ?point`)
	deadWords    = regexp.MustCompile(`(?i)input/output error|` + corruptWords.String()[len("(?i)"):])
)

// deadUnseen judges a node that was not probed: the volume was attached anew after its
// pod had started, and somebody says that its mount is dead. The mount itself was not
// seen, so it is likely, never more.
func deadUnseen(p *diagnosis.Pass, v *snapshot.Volume, node string) {
	va := v.AttachmentOn(node)
	if va == nil || !va.Status.Attached || !p.NodeReady(node).Ready {
		return
	}
	for _, c := range v.WaitingOn(node) {
		if text := deadText(p, v, node, corruptWords); text.Raw != "" {
			perhapsDead(p, v, node, c.Pod, text)
			return
		}
	}
	for _, c := range v.LiveConsumersOn(node) {
		began := firstStart(c.Pod)
		if began.IsZero() || !va.CreationTimestamp.After(began.Add(stageTime)) {
			continue
		}
		text := deadText(p, v, node, deadWords)
		if text.Raw == "" {
			continue
		}
		f := p.Find(report.Likely, diagnosis.PodSubject(c.Pod)).On(v).Located(node)
		f.Pod(c.Pod)
		f.Sayf("Volume %s was attached to node %s anew at %s, when pod %s ran there already since %s: the pod's mount was made from the earlier device, which went away with the earlier attachment. The node's mount table, which would show it, was not read.",
			volumeName(v), node, va.CreationTimestamp.UTC().Format(time.RFC3339), podName(c.Pod), began.UTC().Format(time.RFC3339))
		f.Fact(text.Evidence(),
			diagnosis.FromAPI("VolumeAttachment "+va.Name, "metadata.creationTimestamp", va.CreationTimestamp.UTC().Format(time.RFC3339)),
			diagnosis.FromAPI("Pod "+podName(c.Pod), "status.startTime", began.UTC().Format(time.RFC3339)))
		f.Missing("the mount table and the block devices of node " + node)
		f.Unless("a mount of the pod whose number is that of the volume's present disk")
		f.Advise(remedy.Words(fmt.Sprintf("Probe node %s. If the number in the pod's mount is not the volume's disk any more, all pods of the volume on that node have to be replaced, so that it is unstaged and staged anew.", node)))
		p.Report(f)
	}
}

// perhapsDead reports words that speak of a mount that was there before the waiting
// pod: which device it is of was not seen.
func perhapsDead(p *diagnosis.Pass, v *snapshot.Volume, node string, pod *corev1.Pod, text diagnosis.Text) {
	f := p.Find(report.Possible, diagnosis.PodSubject(pod)).On(v).Located(node)
	f.Pod(pod)
	f.Sayf("The driver finds a mount of volume %s on node %s that does not answer, before it mounts anything for pod %s: a mount of an earlier device may have stayed there. The node's mount table was not read.", volumeName(v), node, podName(pod))
	f.Fact(text.Evidence())
	f.NotConfirmed = append(f.NotConfirmed, "the mount table and the block devices of node "+node)
	f.Unless("a mount whose number is that of the volume's present disk, or a lost connection to the storage")
	f.Advise(remedy.Words("Probe node " + node + " before anything is unmounted or deleted there."))
	p.Report(f)
}

// firstStart is when the pod's first container started, if it runs since.
func firstStart(pod *corev1.Pod) time.Time {
	var t time.Time
	if !runs(pod) || pod.Status.StartTime == nil {
		return t
	}
	return pod.Status.StartTime.Time
}

// deadText is the newest fresh complaint about a dead mount of the volume on a node.
func deadText(p *diagnosis.Pass, v *snapshot.Volume, node string, words *regexp.Regexp) diagnosis.Text {
	for _, t := range p.Texts(v) {
		if t.Fresh && (t.Node == "" || t.Node == node) && words.MatchString(t.Raw+"\n"+t.Desc) {
			return t
		}
	}
	return diagnosis.Text{}
}
