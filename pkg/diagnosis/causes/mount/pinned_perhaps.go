package mount

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// perhapsPinned names the pods that could hold a mount on a node that was not
// probed: they see the kubelet's directory through a private hostPath and began
// to run while the volume was mounted. More than "possible" this never is.
func perhapsPinned(p *diagnosis.Pass, v *snapshot.Volume, node, why string) {
	if !p.NodeReady(node).Ready || !stillUsed(p, v, node) {
		return
	}
	root := kubeletRoot(p, node)
	var suspects []*corev1.Pod
	for _, pod := range p.PodsOn(node) {
		if host, _ := privateHostMount(pod, root); host != "" && runs(pod) && startedWhileMounted(p, v, node, pod) {
			suspects = append(suspects, pod)
		}
	}
	if len(suspects) == 0 {
		return
	}
	slices.SortFunc(suspects, func(a, b *corev1.Pod) int { return compareNames(podName(a), podName(b)) })
	pod := suspects[0]
	host, at := privateHostMount(pod, root)
	f := p.Find(report.Possible, diagnosis.PodSubject(pod)).On(v).Located(node)
	f.Pod(pod)
	f.Sayf("Node %s does not let go of volume %s, although %s. Its mount tables were not read (%s), so who holds it is not known. "+
		"One specific indication: %s mounts %s of the host at %s without mount propagation and began to run on %s while the volume was mounted there; such a pod keeps a private copy of every mount that exists when it starts.",
		node, volumeName(v), why, gapOf(p, node), owned(p, pod), host, at, startedAt(pod, root).UTC().Format(time.RFC3339))
	for _, o := range suspects[1:] {
		f.Also = append(f.Also, "The same holds for "+owned(p, o)+".")
	}
	f.Fact(diagnosis.FromAPI("Pod "+podName(pod), "spec.volumes[].hostPath.path", host+", mounted at "+at+" without mountPropagation"))
	if p.ReportedInUse(node, v) {
		f.Fact(diagnosis.FromAPI("Node "+node, "status.volumesInUse", v.UniqueName()))
	}
	f.Missing("the mount tables of node " + node)
	f.Certainty = report.Possible
	f.Unless("a mount table of the pod's processes without the volume's device")
	f.Advise(remedy.Words("Probe node " + node + " before anything is restarted: only its mount tables tell who has the device. " +
		fmt.Sprintf("If process and mount of pod %s are confirmed there, restarting that pod is enough; the driver then succeeds by itself.", podName(pod))))
	p.Report(f)
}

// stillUsed tells whether the API shows that the node did not finish with the volume.
func stillUsed(p *diagnosis.Pass, v *snapshot.Volume, node string) bool {
	if p.ReportedInUse(node, v) {
		return true
	}
	for _, s := range p.Symptoms("unmount-blocked", v) {
		if !s.Past {
			return true
		}
	}
	return false
}

// startedWhileMounted compares the pod's start with the time in which the node had
// the volume: after it was attached, before it was wanted elsewhere.
func startedWhileMounted(p *diagnosis.Pass, v *snapshot.Volume, node string, pod *corev1.Pod) bool {
	t := startedAt(pod, kubeletRoot(p, node))
	if t.IsZero() {
		return false
	}
	if va := v.AttachmentOn(node); va != nil {
		if va.CreationTimestamp.After(t) {
			return false
		}
		if va.DeletionTimestamp != nil && va.DeletionTimestamp.Time.Before(t) {
			return false
		}
	}
	for _, w := range v.Waiting() {
		if w.Pod.Spec.NodeName != node && w.Pod.CreationTimestamp.Time.Before(t) {
			return false
		}
	}
	return true
}

// gapOf says why the mount tables of a node are not there.
func gapOf(p *diagnosis.Pass, node string) string {
	if view := p.View(node); view != nil {
		return "the probe of mount namespaces did not succeed"
	}
	g, _ := p.NodeGap(node)
	if g.Detail != "" {
		return g.Reason + ": " + g.Detail
	}
	if g.Reason == "" {
		return snapshot.NotRequested
	}
	return g.Reason
}

// perhapsUnread is said when the filesystem lives, no table that was read mounts
// it, and some tables could not be read.
func perhapsUnread(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView) {
	d, ok := p.DeviceOn(v, view.Name)
	if !ok || view.Unread() == 0 || view.Init == nil {
		return
	}
	top := d.Top()
	s := view.Superblock(top)
	if s == nil || len(view.Uses(top)) > 0 || view.Facts.Claims[top] == "free" {
		return
	}
	f := p.Find(report.Possible, diagnosis.DeviceSubject(view.Name, top)).On(v).Located(view.Name)
	f.Device(view.Name, top)
	f.Device(view.Name, d.Dev)
	f.Sayf("The filesystem on %s of volume %s is alive on node %s, but no mount table that was read has it. %d mount namespaces could not be read; one of them may keep it.",
		diskName(view, top), volumeName(v), view.Name, view.Unread())
	f.Fact(diagnosis.FromNode(view.Name, s.Locator, "the superblock is alive"))
	f.NotConfirmed = []string{fmt.Sprintf("the tables of %d mount namespaces", view.Unread())}
	f.Unless("a table of those namespaces without this device")
	f.Advise(remedy.Words("Read the mount tables of the remaining namespaces of node " + view.Name + " first; who holds the device decides what has to be restarted."))
	p.Report(f)
}
