package attach

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// mute reports an attacher that runs and has written neither result nor error for longer
// than its longest back-off: a slow or failing driver would have left an error. Why it
// is so stands in its log or its roles.
func (a *attacher) mute() bool {
	pod := a.leader()
	if pod == nil || !a.known || a.driver == snapshot.LonghornDriver || len(a.p.LogsOf(pod.Namespace, pod.Name)) > 0 || a.works() {
		return false
	}
	for _, v := range a.volumes {
		for _, name := range silentAttachments(a.p, v, a.least) {
			if va := a.p.Attachment(name); va != nil && a.overdue(v, va, patience(pod)) {
				f := a.find(report.Likely, pod)
				f.Missing("the log of the csi-attacher in pod " + podName(pod))
				if !a.p.Collected("rbac.authorization.k8s.io/clusterroles") {
					f.Missing("whether its roles let it write volumeattachments/status (clusterroles could not be read)")
				}
				f.Sayf("The external-attacher of driver %s (pod %s) runs, but has left VolumeAttachment %s for %s without a result and without an error: it does not see the attachment, or may not write down what it did.",
					a.driver, podName(pod), name, ago(a.p, va.CreationTimestamp.Time))
				f.Advise(remedy.Words("Read the log of the csi-attacher container of pod " + podName(pod) + ": a refusal (forbidden) wants a right, silence a restart of the pod."))
				a.report(f)
				return true
			}
		}
	}
	return false
}

// patience is how long an attachment may be silent: the attacher's back-off, and the time
// that it gives a call of the driver (--timeout, some minutes for slow clouds).
func patience(pod *corev1.Pod) time.Duration {
	out := holder.DetachBackoff
	for _, c := range pod.Spec.Containers {
		for _, a := range append(slices.Clone(c.Command), c.Args...) {
			value, ok := strings.CutPrefix(strings.TrimLeft(a, "-"), "timeout=")
			if d, err := time.ParseDuration(value); ok && err == nil && strings.Contains(c.Name+c.Image, "attacher") {
				out = holder.DetachBackoff + d
			}
		}
	}
	return out
}

// overdue tells whether a pod waits on its node for an attachment that nothing but the
// attacher keeps from being made.
func (a *attacher) overdue(v *snapshot.Volume, va *storagev1.VolumeAttachment, patience time.Duration) bool {
	node := va.Spec.NodeName
	pl := &evidence.Place{X: a.p.Index, Volume: v, Node: node, View: a.p.View(node), Texts: a.p.Texts(v)}
	if csi.NotRegistered(pl, node, a.driver).Yes() {
		return false // it has no id of the node before the driver is registered there
	}
	return va.DeletionTimestamp == nil && a.p.Age(va.CreationTimestamp.Time) > patience && len(waitersOn(v, node)) > 0 &&
		a.p.Node(node) != nil && v.PV != nil && v.PV.DeletionTimestamp == nil
}
