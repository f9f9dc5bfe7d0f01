package attach

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

func (a *attacher) find(c report.Certainty, pod *corev1.Pod) *diagnosis.Finding {
	f := a.about(c, diagnosis.PodSubject(pod))
	f.Pod(pod)
	return f
}

// about starts a finding with the attachments that nobody acts on.
func (a *attacher) about(c report.Certainty, subject report.Subject) *diagnosis.Finding {
	f := a.p.Find(c, subject)
	for _, v := range a.volumes {
		f.Volume(v)
		for _, w := range v.Waiting() {
			f.Pod(w.Pod)
		}
		for _, name := range silentAttachments(a.p, v, a.least) {
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
	if !mentioned || !snapshot.PodServes(pod) {
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
	if pod == nil || snapshot.PodServes(pod) && !a.stale || a.notAlone(pod) {
		return false
	}
	certainty := report.Likely
	if a.known {
		certainty = report.Certain
	}
	f := a.find(certainty, pod)
	why := "its pod is not Ready"
	if snapshot.PodServes(pod) {
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
		app := o.Labels["app"]
		part := app == "longhorn-manager" || app == "longhorn-csi-plugin" || strings.HasPrefix(app, "csi-") || strings.HasPrefix(o.Name, "longhorn-manager-")
		return part && !slices.Contains(a.pods, o) && o.Namespace == pod.Namespace && !finished(o) && !snapshot.PodServes(o)
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

// absent reports a workload of the attacher that has no pod at all.
func (a *attacher) absent() bool {
	workloads := a.p.SidecarWorkloads(a.driver, "csi-attacher")
	if len(a.pods) > 0 || len(workloads) == 0 || !a.p.Collected("/pods") {
		return false
	}
	w := workloads[0]
	certainty := report.Likely
	if a.known {
		certainty = report.Certain
	}
	f := a.about(certainty, diagnosis.ObjectSubject(w.Kind, w.Namespace, w.Name))
	wanted := wantedReplicas(w)
	f.Fact(diagnosis.FromAPI(w.String(), "spec.replicas", fmt.Sprint(wanted)))
	why := fmt.Sprintf("wants %d pods and has none", wanted)
	if wanted == 0 {
		why = "is scaled to 0"
	}
	f.Sayf("The external-attacher of driver %s does not run: %s %s. VolumeAttachments of the driver get neither a result nor an error.", a.driver, w, why)
	if wanted == 0 {
		f.Advise(remedy.Words("Scale " + w.String() + " up again, after a look why it was scaled down."))
	} else {
		f.Advise(remedy.Words("Read the conditions and events of " + w.String() + " and of its ReplicaSet: they say why no pod is made."))
	}
	a.report(f)
	return true
}

func wantedReplicas(w snapshot.Owner) int32 {
	var n *int32
	switch x := w.Object.(type) {
	case *appsv1.Deployment:
		n = x.Spec.Replicas
	case *appsv1.StatefulSet:
		n = x.Spec.Replicas
	}
	if n == nil {
		return 1
	}
	return *n
}

// perhaps reports a driver whose attacher cannot be found at all: it may run outside
// the cluster. Without a CSIDriver object csidriver-object-wrong is the question.
func (a *attacher) perhaps() {
	if len(a.pods) > 0 || !a.known || !a.missed() || !a.said() && !a.old() || a.works() || !a.p.Collected("/pods") {
		return
	}
	f := a.about(report.Likely, diagnosis.ObjectSubject("CSIDriver", "", a.driver))
	f.Sayf("Nobody acts on the VolumeAttachments of driver %s: its CSIDriver object asks for attachments, and no pod with a csi-attacher for it was found.", a.driver)
	f.NotConfirmed = append(f.NotConfirmed, "whether an attacher of the driver runs outside the cluster")
	f.Fact(diagnosis.FromAPI("CSIDriver "+a.driver, "spec.attachRequired", "true"))
	f.Advise(remedy.Words("Install or start the controller of driver " + a.driver + " with its csi-attacher, or, if the driver needs no attachments, install its CSIDriver object with attachRequired false."))
	a.report(f)
}

// said tells whether the attach-detach controller gave up waiting for the attacher.
func (a *attacher) said() bool {
	return slices.ContainsFunc(a.volumes, func(v *snapshot.Volume) bool {
		return slices.ContainsFunc(a.p.Texts(v), func(t diagnosis.Text) bool { return t.Fresh && strings.Contains(t.Raw, "external-attacher") })
	})
}

// old tells whether an attachment has been silent for longer than any back-off.
func (a *attacher) old() bool {
	for _, v := range a.volumes {
		for _, name := range silentAttachments(a.p, v, a.least) {
			if va := a.p.Attachment(name); va != nil && a.p.Age(va.CreationTimestamp.Time) > holder.DetachBackoff {
				return true
			}
		}
	}
	return false
}

// missed tells whether somebody waits for what nobody does: a pod, or a deletion.
func (a *attacher) missed() bool {
	for _, v := range a.volumes {
		if len(v.Waiting()) > 0 || slices.ContainsFunc(v.Attachments, func(va *storagev1.VolumeAttachment) bool { return va.DeletionTimestamp != nil }) {
			return true
		}
	}
	return false
}

// works tells whether an attachment of the driver got a result that is younger than one
// which nobody acted on: then somebody attaches, and one volume is slow.
func (a *attacher) works() bool {
	var oldest time.Time
	for _, v := range a.volumes {
		for _, name := range silentAttachments(a.p, v, a.least) {
			if va := a.p.Attachment(name); va != nil && (oldest.IsZero() || va.CreationTimestamp.Time.Before(oldest)) {
				oldest = va.CreationTimestamp.Time
			}
		}
	}
	return slices.ContainsFunc(a.p.Cluster.Attachments, func(va *storagev1.VolumeAttachment) bool {
		answered := va.Status.Attached || va.Status.AttachError != nil
		return va.Spec.Attacher == a.driver && answered && va.CreationTimestamp.After(oldest)
	})
}
