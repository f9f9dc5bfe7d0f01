package attach

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

func podReadyNow(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue && pod.DeletionTimestamp == nil
		}
	}
	return false
}

func (a *attacher) find(c report.Certainty, pod *corev1.Pod) *diagnosis.Finding {
	f := a.p.Find(c, diagnosis.PodSubject(pod))
	f.Pod(pod)
	for _, v := range a.volumes {
		f.Volume(v)
		for _, w := range v.Waiting() {
			f.Pod(w.Pod)
		}
		for _, name := range silentAttachments(a.p, v) {
			f.Object("va", name)
			f.Fact(diagnosis.FromAPI("VolumeAttachment "+name, "status", "no result and no error"))
		}
	}
	return f.Fact(a.holder)
}

func (a *attacher) report(f *diagnosis.Finding) {
	f.Unless("a VolumeAttachment of the driver that got a result or an error in the last minutes")
	f.Advise(remedy.Words("Do not edit the status or the finalizers of VolumeAttachments by hand: the attacher must undo what it did in the backend."))
	a.p.Report(f)
}

// lacksVerb finds an account whose roles were all read and do not let it write.
func (a *attacher) lacksVerb() bool {
	pod := a.leader()
	if pod == nil || !a.p.Collected("rbac.authorization.k8s.io/clusterroles") || !a.p.Collected("rbac.authorization.k8s.io/clusterrolebindings") {
		return false
	}
	user := "system:serviceaccount:" + pod.Namespace + ":" + pod.Spec.ServiceAccountName
	roles := a.roles(user)
	mentioned := false
	for _, role := range roles {
		if role.AggregationRule != nil {
			return false
		}
		for _, r := range role.Rules {
			all := slices.Contains(r.Resources, "*")
			mentioned = mentioned || slices.Contains(r.Resources, "volumeattachments")
			if (all || slices.Contains(r.Resources, "volumeattachments/status")) && (slices.Contains(r.Verbs, "patch") || slices.Contains(r.Verbs, "*")) {
				return false
			}
			// Attachers before 3.0 update the object itself.
			if slices.Contains(r.Resources, "volumeattachments") && oldAttacher(pod) {
				return false
			}
		}
	}
	if !mentioned || !podReadyNow(pod) {
		return false
	}
	f := a.find(report.Certain, pod)
	f.Sayf("The external-attacher of driver %s (pod %s, account %s) may not write the status of VolumeAttachments: none of its ClusterRoles has patch on volumeattachments/status. Attachments stay without a result.", a.driver, podName(pod), user)
	f.Fact(a.rights(user)...)
	f.Advise(remedy.Words("Grant patch on volumeattachments/status to the ClusterRole of " + user + ", as the driver's current manifest does."))
	a.report(f)
	return true
}

// oldAttacher tells whether the sidecar is older than the status subresource's use
// (external-attacher 3.0), or of an unknown version.
func oldAttacher(pod *corev1.Pod) bool {
	for _, c := range pod.Spec.Containers {
		if !strings.Contains(c.Image, "attacher") {
			continue
		}
		_, tag, ok := strings.Cut(c.Image[strings.LastIndex(c.Image, "/")+1:], ":")
		tag = strings.TrimPrefix(tag, "v")
		return !ok || tag == "" || tag[0] < '3' || tag[0] > '9'
	}
	return true
}

// down reports an attacher that is not Ready, or whose leader does not renew its lease.
func (a *attacher) down() bool {
	pod := a.leader()
	if pod == nil || podReadyNow(pod) && !a.stale || a.notAlone(pod) {
		return false
	}
	certainty := report.Likely
	if a.known {
		certainty = report.Certain
	}
	f := a.find(certainty, pod)
	why := "its pod is not Ready"
	if podReadyNow(pod) {
		why = "its leader has stopped renewing the lease"
	}
	f.Sayf("The external-attacher of driver %s does not work: %s (pod %s%s). VolumeAttachments of the driver get neither a result nor an error.", a.driver, why, podName(pod), waitingReason(pod))
	f.Fact(diagnosis.FromAPI(podFact(pod)))
	f.Advise(remedy.Words("Repair the attacher: read the state and the last log of pod " + podName(pod) + ". When a dead pod still holds the lease, removing that pod lets another one lead."))
	a.report(f)
	return true
}

// notAlone tells whether the attacher is down together with other parts of Longhorn:
// then they share a reason (longhorn-control-plane-down), and it is not the attacher.
func (a *attacher) notAlone(pod *corev1.Pod) bool {
	if a.driver != snapshot.LonghornDriver {
		return false
	}
	for _, l := range a.p.LogsOf(pod.Namespace, pod.Name) {
		if slices.ContainsFunc(l.Lines, func(line string) bool { return strings.Contains(line, "longhorn-backend") }) {
			return true
		}
	}
	return slices.ContainsFunc(a.p.Cluster.Pods, func(o *corev1.Pod) bool {
		mine := slices.Contains(a.pods, o)
		return !mine && o.Namespace == pod.Namespace && o.Status.Phase != corev1.PodSucceeded && !podReadyNow(o)
	})
}

func waitingReason(pod *corev1.Pod) string {
	for _, s := range pod.Status.ContainerStatuses {
		if w := s.State.Waiting; w != nil {
			return fmt.Sprintf(", container %s: %s", s.Name, w.Reason)
		}
	}
	return ""
}

// perhaps reports a driver whose attacher cannot be found at all: it may run outside
// the cluster. Without a CSIDriver object csidriver-object-wrong is the question.
func (a *attacher) perhaps() {
	if len(a.pods) > 0 || !a.known || !a.waited() || !a.p.Collected("/pods") {
		return
	}
	f := a.p.Find(report.Likely, diagnosis.ObjectSubject("CSIDriver", "", a.driver))
	for _, v := range a.volumes {
		f.Volume(v)
		for _, w := range v.Waiting() {
			f.Pod(w.Pod)
		}
		for _, name := range silentAttachments(a.p, v) {
			f.Object("va", name)
		}
	}
	f.Sayf("Nobody acts on the VolumeAttachments of driver %s: its CSIDriver object asks for attachments, and no pod with a csi-attacher for it was found.", a.driver)
	f.NotConfirmed = append(f.NotConfirmed, "whether an attacher of the driver runs outside the cluster")
	f.Fact(diagnosis.FromAPI("CSIDriver "+a.driver, "spec.attachRequired", "true")).Fact(a.holder)
	f.Advise(remedy.Words("Install or start the controller of driver " + a.driver + " with its csi-attacher, or, if the driver needs no attachments, install its CSIDriver object with attachRequired false."))
	a.report(f)
}

func (a *attacher) waited() bool {
	for _, v := range a.volumes {
		for _, t := range a.p.Texts(v) {
			if t.Fresh && strings.Contains(t.Raw, "external-attacher") {
				return true
			}
		}
	}
	return false
}
