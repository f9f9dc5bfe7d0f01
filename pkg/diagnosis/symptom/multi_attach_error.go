package symptom

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// multiAttachError: a pod waits for an exclusive volume that another node has.
// The controller says so once per volume and node, and the event expires: state
// suffices.
var multiAttachError = &diagnosis.SymptomRule{Name: "multi-attach-error", Run: func(p *diagnosis.Pass) {
	for _, v := range p.Volumes() {
		for _, w := range v.Waiting() {
			if node := w.Node(); node != "" {
				takenElsewhere(p, v, w, node)
			}
		}
		refusedTexts(p, v)
	}
}}

// handedOver tells whether a young pod waits for a volume that other nodes only have
// because their pods ended a moment ago. The attach-detach controller says Multi-Attach at
// once, and tries again when the detachment is done.
func handedOver(p *diagnosis.Pass, v *snapshot.Volume, pod *corev1.Pod) bool {
	if p.Age(pod.CreationTimestamp.Time) >= settle || failsToLetGo(p, v) {
		return false
	}
	elsewhere := evidence.Once(evidence.Each(v.Attachments, func(va *storagev1.VolumeAttachment) string { return va.Spec.NodeName }),
		evidence.Each(evidence.Keep(v.Live(), func(c *snapshot.Consumer) bool { return !c.Waiting() }), (*snapshot.Consumer).Node)...)
	elsewhere = slices.DeleteFunc(elsewhere, func(n string) bool { return n == "" || n == pod.Spec.NodeName })
	if slices.ContainsFunc(elsewhere, func(n string) bool { return !volume.JustReleased(p.Index, v, n) }) {
		return false
	}
	if len(elsewhere) == 0 { // nobody else has it any more: the next try attaches it
		return v.CSIName() != "" && p.Collected("storage.k8s.io/volumeattachments") && !slices.ContainsFunc(v.Waiting(), func(c *snapshot.Consumer) bool { return c.Node() != pod.Spec.NodeName })
	}
	return true
}

// failsToLetGo tells whether somebody said lately that a node cannot unmount or unstage a volume.
func failsToLetGo(p *diagnosis.Pass, v *snapshot.Volume) bool {
	return slices.ContainsFunc(p.Texts(v), func(t diagnosis.Text) bool { return t.Fresh && failsToUnmount(t) })
}

// moves says that a volume comes by itself: every pod which has it on another node was told to end
// and has time left for it (terminationGracePeriodSeconds), or the kubelet there reports again only
// since a moment ago.
func moves(p *diagnosis.Pass, v *snapshot.Volume, pod *corev1.Pod) string {
	out := ""
	for _, c := range v.Live() {
		if c.Node() == pod.Spec.NodeName || c.Node() == "" {
			continue
		}
		d := c.Pod.DeletionTimestamp
		if soon := letsGo(p, c.Pod); soon != "" && d != nil {
			out = soon
			continue
		}
		if d == nil || !d.After(p.TakenAt) || !p.NodeReady(c.Node()).Ready {
			return ""
		}
		out = fmt.Sprintf("%s on node %s, where the volume is, was told to end and has %s left for it; then the volume moves by itself.", capital(podName(c.Pod)), c.Node(), evidence.Duration(d.Sub(p.TakenAt)))
	}
	for _, n := range slices.Concat(p.DeviceNodes(v), p.OtherNodes(v)) {
		if out == "" && n != pod.Spec.NodeName {
			out = cmp.Or(justBack(p, n), justGivenUp(p, n))
		}
	}
	if out == "" {
		out = detaches(p, v, pod.Spec.NodeName)
	}
	return out
}

// detaches says that every attachment which keeps a volume from a node is being removed since a moment ago, and
// nobody complained: the last pod there has just let go, however long the next one waits already.
func detaches(p *diagnosis.Pass, v *snapshot.Volume, node string) string {
	out := ""
	if failsToLetGo(p, v) {
		return out
	}
	for _, va := range v.Attachments {
		d := va.DeletionTimestamp
		switch {
		case va.Spec.NodeName == node:
		case d == nil || va.Status.DetachError != nil || p.Age(d.Time) > volume.Handover || !p.NodeReady(va.Spec.NodeName).Ready:
			return ""
		default:
			out = fmt.Sprintf("VolumeAttachment %s of node %s is being removed since %s; then the volume moves by itself.", va.Name, va.Spec.NodeName, evidence.Duration(p.Age(d.Time)))
		}
	}
	return out
}

// retries is how long the kubelet may take until it sees that a volume was attached: its longest
// pause between two tries (maxDurationBeforeRetry, 2m2s).
const retries = 2*time.Minute + 2*time.Second

// justAttached says that the controller attached the volume for the pod a moment ago, and nobody
// complained since: what was said before is past.
func justAttached(p *diagnosis.Pass, v *snapshot.Volume, i involved, texts []diagnosis.Text) string {
	for _, e := range p.Events("Pod", i.pod.Namespace, i.pod.Name) {
		named := strings.Contains(e.Message, `"`+v.PVName()+`"`)
		if e.Reason != "SuccessfulAttachVolume" || v.PVName() == "" || !named || e.ObjUID != string(i.pod.UID) || p.Age(e.Last) >= retries {
			continue
		}
		if slices.ContainsFunc(texts, func(t diagnosis.Text) bool {
			return t.Fresh && blamesVolume(t) && (t.At.After(e.Last) || len(i.volumes) > 1 && !strings.Contains(t.Raw, `"`+v.PVName()+`"`))
		}) {
			continue
		}
		return fmt.Sprintf("%s was attached to node %s %s ago; the kubelet mounts it when it tries again.", capital(name(v)), i.pod.Spec.NodeName, evidence.Duration(p.Age(e.Last)))
	}
	return ""
}

// justUp says that what began on a node after it came up must wait for what serves volumes there:
// plugins, agents and Longhorn's instance manager start in the node's first two minutes.
func justUp(p *diagnosis.Pass, node string, began time.Time) string {
	r := p.NodeReady(node)
	if !r.Ready || p.Age(r.Since) >= settle || began.Before(r.Since) {
		return ""
	}
	return fmt.Sprintf("Node %s is ready since %s; what serves volumes there still starts, then the volume is attached by itself.", node, evidence.Duration(p.Age(r.Since)))
}

// justBack says that the kubelet of a node which has a volume reports again only since a moment
// ago: it must still compare what is mounted with the pods that it is to run, and lets go of the rest.
func justBack(p *diagnosis.Pass, node string) string {
	r := p.NodeReady(node)
	if !r.Ready || p.Age(r.Since) >= settle {
		return ""
	}
	return fmt.Sprintf("Node %s, where the volume is, reports again since %s; it lets go of what no pod there needs, then the volume moves by itself.", node, evidence.Duration(p.Age(r.Since)))
}

// letsGo says that a pod which is to end goes by itself: the kubelet of its node is just back, or the node was given up a
// moment ago and nothing keeps the pod's object.
func letsGo(p *diagnosis.Pass, pod *corev1.Pod) string {
	if back := justBack(p, pod.Spec.NodeName); back != "" || len(pod.Finalizers) > 0 {
		return back
	}
	return justGivenUp(p, pod.Spec.NodeName)
}

// justGivenUp says that a silent node is declared out of service only since a moment ago: kube-controller-manager then
// deletes the pods that are to end there and detaches what they used (KEP-2268; its pod garbage collector runs every 20 s).
func justGivenUp(p *diagnosis.Pass, on string) string {
	taint, r := node.Taint(p.Node(on), node.OutOfService), p.NodeReady(on)
	if taint == nil || taint.TimeAdded == nil || p.Age(taint.TimeAdded.Time) >= settle || !r.Known || r.Ready {
		return ""
	}
	return fmt.Sprintf("Node %s, where the volume is, is declared out of service since %s; kube-controller-manager deletes the pods that are to end there and detaches their volumes by itself.", on, evidence.Duration(p.Age(taint.TimeAdded.Time)))
}

func takenElsewhere(p *diagnosis.Pass, v *snapshot.Volume, w *snapshot.Consumer, node string) {
	if here := v.AttachmentOn(node); !v.Exclusive() || here != nil && here.Status.Attached {
		return
	}
	var refused *diagnosis.Text
	for _, t := range p.Texts(v) {
		if is(t, message.MultiAttachExclusive, message.MultiAttachPods) && t.Pod == w.Pod.Namespace+"/"+w.Pod.Name {
			refused = &t
			break
		}
	}
	if refused == nil && p.Age(w.Pod.CreationTimestamp.Time) < settle || handedOver(p, v, w.Pod) {
		return
	}
	for _, va := range v.Attachments {
		if va.Spec.NodeName == node {
			continue
		}
		s := &diagnosis.Symptom{Subject: diagnosis.PodSubject(w.Pod)}
		s.Message = fmt.Sprintf("%s waits on node %s for %s, which node %s still has.",
			capital(podName(w.Pod)), node, name(v), va.Spec.NodeName)
		s.Pending = moves(p, v, w.Pod)
		s.Volume(v)
		s.Pod(w.Pod)
		s.At(node)
		s.At(va.Spec.NodeName)
		s.Object("va", va.Name)
		s.Evidence = append(s.Evidence, evidence.FromAPI("VolumeAttachment "+va.Name, "spec.nodeName", va.Spec.NodeName))
		if refused != nil {
			s.Evidence = append(s.Evidence, refused.Evidence())
		}
		p.AddSymptom(s)
	}
}

// refusedTexts takes what the controller said where no attachment shows it: of a
// migrated or in-tree volume, or because attachments could not be listed.
func refusedTexts(p *diagnosis.Pass, v *snapshot.Volume) {
	all := p.Texts(v)
	for _, t := range all {
		if !is(t, message.MultiAttachExclusive, message.MultiAttachPods) || !strings.Contains(t.Raw, "Multi-Attach") {
			continue
		}
		pod := podOf(v, t)
		if pod != nil && handedOver(p, v, pod) {
			continue
		}
		s := onVolume(v, fmt.Sprintf("%s: %s", capital(name(v)), evidence.Brief(t.Raw)))
		node := t.Node
		if pod != nil {
			s.Subject, s.Pending = diagnosis.PodSubject(pod), moves(p, v, pod)
			node = pod.Spec.NodeName
		}
		s.Pod(pod)
		s.At(node)
		attached := false
		for _, va := range v.Attachments {
			if va.Spec.NodeName == node {
				attached = va.Status.Attached
			} else {
				s.At(va.Spec.NodeName)
				s.Object("va", va.Name)
			}
		}
		for _, c := range v.Live() {
			s.At(c.Node())
		}
		// The event comes once; while the pod waits unattached, it holds.
		s.Past = attached || pod == nil || !waiting(pod)
		s.Evidence = append(s.Evidence, t.Evidence())
		p.AddSymptom(s)
	}
}
