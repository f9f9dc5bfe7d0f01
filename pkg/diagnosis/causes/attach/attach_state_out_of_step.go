package attach

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed attach_state_out_of_step.md
var attachStateOutOfStepDoc string

// settled is how long the attach-detach controller may take to write what it did
// into the node's status.
const settled = 2 * time.Minute

// AttachStateOutOfStep finds a VolumeAttachment and a node's volumesAttached that
// contradict each other.
var AttachStateOutOfStep = &diagnosis.Rule{
	Name: "attach-state-out-of-step", Layer: diagnosis.Attach, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/nodes"), diagnosis.API("storage.k8s.io/volumeattachments")},
	Explains: []string{"pod-waiting-for-volume", "mount-failed", "attach-failed", "multi-attach-error"},
	Offers:   []string{"delete-pod", "delete-volumeattachment"},
	Doc:      attachStateOutOfStepDoc,
	Run:      outOfStep,
}

func outOfStep(p *diagnosis.Pass) {
	if !p.Collected("/nodes") {
		return
	}
	for _, v := range p.Volumes() {
		if v.PV == nil || v.CSIName() == "" || v.Handle == "" || !v.AttachRequired(p.Index) {
			continue // in-tree volumes that were not migrated have other names and no VolumeAttachment
		}
		for _, name := range p.NodesOf(v) {
			n, w := p.Node(name), waiterOf(p, v, name)
			if n == nil || w == nil || !p.NodeReady(n.Name).Ready || p.Age(n.CreationTimestamp.Time) <= settled {
				continue
			}
			judgeStep(p, v, n, w)
		}
	}
}

// waiterOf returns a pod that has waited long enough because of what a node's
// status says: one on that node, or one elsewhere when the volume is exclusive.
func waiterOf(p *diagnosis.Pass, v *snapshot.Volume, node string) *corev1.Pod {
	waiters := waitersOn(v, node)
	if v.Exclusive() && len(unfinishedOn(v, node)) == 0 {
		waiters = append(waiters, waitersAwayFrom(v, node)...)
	}
	for _, w := range waiters {
		if p.Age(w.CreationTimestamp.Time) > settled {
			return w
		}
	}
	return nil
}

func judgeStep(p *diagnosis.Pass, v *snapshot.Volume, n *corev1.Node, w *corev1.Pod) {
	va, listed := v.AttachmentOn(n.Name), p.ReportedAttached(n.Name, v)
	here := w.Spec.NodeName == n.Name
	switch {
	case here && va != nil && va.Status.Attached && va.DeletionTimestamp == nil && !listed:
		if p.Age(va.CreationTimestamp.Time) <= settled {
			return
		}
		f := stepFinding(p, v, n, w)
		f.Object("va", va.Name)
		f.Fact(attachedEvidence(va), diagnosis.FromAPI("Node "+n.Name, "status.volumesAttached", attachedList(n)))
		younger := ""
		if n.CreationTimestamp.After(va.CreationTimestamp.Time) {
			younger = fmt.Sprintf(" The Node object is younger (%s) than the attachment (%s): it was created again under its name.", ago(p, n.CreationTimestamp.Time), ago(p, va.CreationTimestamp.Time))
			f.Fact(diagnosis.FromAPI("Node "+n.Name, "metadata.creationTimestamp", n.CreationTimestamp.UTC().Format(time.RFC3339)),
				diagnosis.FromAPI("VolumeAttachment "+va.Name, "metadata.creationTimestamp", va.CreationTimestamp.UTC().Format(time.RFC3339)))
		}
		f.Sayf("VolumeAttachment %s says that volume %s is attached to node %s, but the node's status.volumesAttached does not list it. The kubelet mounts only what is listed there, so pod %s waits for ever; the attach-detach controller believes that its work is done.%s",
			va.Name, volumeName(v), n.Name, podName(w), younger)
		finishStep(p, f, n, w)
	case va == nil && listed && !p.Collected("storage.k8s.io/volumeattachments"):
		if t, ok := textAbout(p, v, n.Name, noRelationship); here && ok && t.Fresh {
			reportUnread(p, v, n, w)
		}
	case va == nil && listed:
		f := stepFinding(p, v, n, w)
		if !here {
			f.Missing("since when the node's status has listed a volume without an attachment (after a detach it does so for a moment)")
		}
		name := snapshot.AttachmentName(v.CSIHandle(), v.CSIName(), n.Name)
		f.Object("va", name)
		f.Fact(diagnosis.FromAPI("Node "+n.Name, "status.volumesAttached", v.UniqueName()),
			diagnosis.FromAPI("VolumeAttachments", "", "collected; none is named "+name))
		f.Sayf("Node %s lists volume %s in status.volumesAttached, but its VolumeAttachment %s does not exist. The attach-detach controller believes that the volume is attached and makes no new attachment, so pod %s waits on node %s. "+
			"A kubelet that reads the missing object is told \"no relationship found\": that is how the node authorizer says that it does not exist, not a missing permission.",
			n.Name, volumeName(v), name, podName(w), w.Spec.NodeName)
		finishStep(p, f, n, w)
	}
}

// noRelationship is how the node authorizer answers a kubelet that asks for an object
// which does not exist (plugin/pkg/auth/authorizer/node).
var noRelationship = regexp.MustCompile(`no relationship found between node`)

// reportUnread judges by the kubelet's word where attachments could not be read.
func reportUnread(p *diagnosis.Pass, v *snapshot.Volume, n *corev1.Node, w *corev1.Pod) {
	f := stepFinding(p, v, n, w)
	name := snapshot.AttachmentName(v.Handle, v.Driver, n.Name)
	f.Object("va", name)
	f.Fact(diagnosis.FromAPI("Node "+n.Name, "status.volumesAttached", v.UniqueName()))
	f.Missing("that VolumeAttachment " + name + " does not exist (volumeattachments could not be read)")
	f.Sayf("Node %s lists volume %s in status.volumesAttached, and its kubelet is told \"no relationship found\" when it reads VolumeAttachment %s: that is how the node authorizer says that it does not exist, not a missing permission. "+
		"The attach-detach controller believes that the volume is attached and makes no new attachment, so pod %s waits.", n.Name, volumeName(v), name, podName(w))
	finishStep(p, f, n, w)
}

func stepFinding(p *diagnosis.Pass, v *snapshot.Volume, n *corev1.Node, w *corev1.Pod) *diagnosis.Finding {
	f := p.Find(report.Certain, diagnosis.NodeSubject(n.Name)).On(v).Located(n.Name)
	f.Pod(w)
	f.Fact(diagnosis.FromAPI(podFact(w)))
	for _, t := range p.Texts(v) {
		if strings.Contains(t.Raw, "no relationship found") || strings.Contains(t.Raw, "according to node") {
			f.Fact(t.Evidence())
			break
		}
	}
	return f
}

func finishStep(p *diagnosis.Pass, f *diagnosis.Finding, n *corev1.Node, w *corev1.Pod) {
	f.Unless("VolumeAttachment and status.volumesAttached of node " + n.Name + " agreeing")
	f.Advise(remedy.DeletePod(w).Note("It waits and mounts nothing; when it is gone the controller forgets the volume on this node and starts again."))
	f.Advise(remedy.Words("If it stays: restart kube-controller-manager, which rebuilds its picture of attached volumes from the API. Give nodes no further permissions: none is missing."))
	p.Report(f)
}

// attachedList prints what the node's status lists.
func attachedList(n *corev1.Node) string {
	names := make([]string, 0, len(n.Status.VolumesAttached))
	for _, a := range n.Status.VolumesAttached {
		names = append(names, string(a.Name))
	}
	if len(names) == 0 {
		return "empty"
	}
	return strings.Join(names, " ")
}
