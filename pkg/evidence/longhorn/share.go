package longhorn

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Used asks whether pods use a volume: those that were read, or, where those of its
// namespace are missing as in a support bundle, the ones that Longhorn notes as present.
func Used(v *snapshot.Volume) bool {
	if len(v.Live()) > 0 {
		return true
	}
	lh := v.LH()
	if lh == nil || lh.Status.Kubernetes.LastPodRefAt != "" || len(v.Consumers) > 0 {
		return false
	}
	return slices.ContainsFunc(lh.Status.Kubernetes.Workloads, func(w snapshot.LHWorkload) bool {
		return w.PodStatus == "Running" || w.PodStatus == "Pending"
	})
}

// ShareDown asks whether the share of an RWX volume that somebody wants has not been
// served for more than a start takes. The pod outranks the custom resource that describes
// it: a controller may be unable to update that (longhorn issue 7183). Where the resource is not there,
// the pod tells alone, and that it is not there where the volume itself is attached.
func ShareDown(x *snapshot.Index, v *snapshot.Volume) (how string, a evidence.Answer) {
	if !v.RegularRWX() || !Used(v) {
		return "", evidence.No()
	}
	state, said := shareState(v)
	if restsRightly(v, state) {
		return "", evidence.No()
	}
	name, pod := "share-manager-"+v.Handle, x.ShareManagerPod(v)
	whole := evidence.ResourceIn(x, "/pods", x.LonghornNamespace())
	none := whole.Nothing(said, evidence.FromAPI("Pods of namespace "+x.LonghornNamespace(), "", "none is named "+name))
	lh := v.LH()
	switch {
	case pod != nil:
		does, down := podDown(x, v, state, pod)
		if !down {
			return "", evidence.No()
		}
		return "is in state " + state + "; its pod " + name + " on node " + OrNone(pod.Spec.NodeName) + ": " + does, evidence.Yes(said, evidence.FromPod(pod, "status", does))
	case lh == nil:
		return "", evidence.No() // what keeps the volume may keep the pod
	case state == unread && (lh.Status.State != "attached" || !whole.Complete()), (state == unread || state == "running") && WantedFor(x, v) <= tolerated:
		return "", evidence.No()
	case state == unread:
		return "is in a state that was not read, and its pod " + name + " does not exist", none
	case state == "running":
		return "is said to be running, but its pod " + name + " does not exist", none
	case !patient(x, v, state):
		return "", evidence.No()
	}
	how = "is in state " + state + ", and its pod " + name + " does not exist"
	if !whole.Complete() {
		how = "is in state " + state + "; whether its pod " + name + " exists was not seen"
	}
	return how, evidence.Yes(said, evidence.FromAPI("Volume "+lh.Name, "status.shareState", OrNone(lh.Status.ShareState)))
}

// ShareComing is the share-manager of a volume that was made a moment ago and does not serve yet, as after the
// loss of its node: its clients go on by themselves. One that is made again and again is none.
func ShareComing(x *snapshot.Index, v *snapshot.Volume) *corev1.Pod {
	if v == nil || !v.RegularRWX() {
		return nil
	}
	pod := x.ShareManagerPod(v)
	if state, _ := shareState(v); pod == nil || state == "error" || snapshot.PodFinished(pod) || pod.DeletionTimestamp != nil || snapshot.PodReady(pod) || x.Age(pod.CreationTimestamp.Time) > tolerated {
		return nil
	}
	before := func(e *snapshot.Event) bool {
		return e.Last.Before(pod.CreationTimestamp.Time) && x.Age(e.Last) <= 5*tolerated
	}
	started := slices.ContainsFunc(x.Events("Pod", pod.Namespace, pod.Name), func(e *snapshot.Event) bool { return e.Reason == "Started" && before(e) })
	if started {
		return nil
	}
	return pod
}

const unread = "unknown"

// shareState is the state of a volume's ShareManager, in a word, and where it stands.
func shareState(v *snapshot.Volume) (string, report.Evidence) {
	sm := v.Longhorn.ShareManager
	if sm == nil {
		return unread, evidence.FromAPI("ShareManager "+v.Handle, "", "not there")
	}
	return OrNone(sm.State), evidence.FromAPI("ShareManager "+sm.Name, "status.state", OrNone(sm.State))
}

// Described asks whether the ShareManager of a share was read.
func Described(v *snapshot.Volume) evidence.Answer {
	if v.Longhorn.ShareManager != nil {
		return evidence.Yes()
	}
	return evidence.Unseen(evidence.Lack{Need: "api/longhorn.io/sharemanagers", Why: "the ShareManager of volume " + v.Handle + " was not found"})
}

// patient tells whether a share has been away for more than a start, by the oldest pod
// that wants it; an error is one at once.
func patient(x *snapshot.Index, v *snapshot.Volume, state string) bool {
	return state == "error" || len(v.Live()) == 0 || slices.ContainsFunc(v.Live(), func(c *snapshot.Consumer) bool { return x.Age(c.Pod.CreationTimestamp.Time) > tolerated })
}

// podDown judges a pod that exists, and says how it is.
func podDown(x *snapshot.Index, v *snapshot.Volume, state string, pod *corev1.Pod) (does string, down bool) {
	since, sick := notReadySince(pod)
	serves := state == "running" || state == unread
	if snapshot.PodReady(pod) && pod.Status.Phase == corev1.PodRunning && serves {
		return "", false
	}
	if !snapshot.PodFinished(pod) && serves && (!sick || x.Age(since) <= tolerated) {
		return "", false
	}
	young := x.Age(pod.CreationTimestamp.Time) <= tolerated
	// A young pod may be one of many: somebody has waited for longer than a start takes.
	if young && state != "error" && !slices.ContainsFunc(v.Waiting(), func(w *snapshot.Consumer) bool { return x.Age(w.Pod.CreationTimestamp.Time) > 5*tolerated }) {
		return "", false
	}
	return pods.Condition(pod), true
}

// restsRightly tells whether a stopped share-manager is what Kubernetes asked for: no
// attachment, no ticket and no waiting pod want the share.
func restsRightly(v *snapshot.Volume, state string) bool {
	stops := state == "stopped" || state == "stopping" || state == unread
	return stops && len(v.Waiting()) == 0 && len(v.Attachments) == 0 && len(v.Tickets()) == 0
}

// ShareNode asks whether all was looked at that can be wrong below a share: its pod, and
// the node where its device, its iSCSI session and its mount are.
func ShareNode(x *snapshot.Index, v *snapshot.Volume) evidence.Answer {
	nodes := x.DeviceNodes(v)
	if len(nodes) == 0 {
		return evidence.Unseen(evidence.Lack{Need: "api/longhorn.io/volumes", Why: "the node of the share-manager: the volume is attached nowhere, so no device was looked at"})
	}
	whole := evidence.ResourceIn(x, "/pods", x.LonghornNamespace())
	for _, n := range nodes {
		whole = whole.And(evidence.Tables(x, n, probes.Mounts, probes.Block)).And(evidence.Ended(x, n, probes.Sessions))
	}
	return whole.Nothing()
}

// ShareWords are the last telling lines of the share-manager's log.
func ShareWords(x *snapshot.Index, v *snapshot.Volume) []report.Evidence {
	var out []report.Evidence
	for l := range evidence.Lines(x.LogsOf(x.LonghornNamespace(), "share-manager-"+v.Handle)) {
		if len(out) < 3 && telling(l.Text) {
			out = append(out, l.Evidence())
		}
	}
	return out
}

// Recovery names the service in which the NFS server of a share keeps the state of its
// clients, when the server's log says that it cannot reach it: nfs-ganesha's driver
// "longhorn" (support/recovery) logs the failed call and gives up.
func Recovery(x *snapshot.Index, v *snapshot.Volume) string {
	for l := range evidence.Lines(x.LogsOf(x.LonghornNamespace(), "share-manager-"+v.Handle)) {
		if strings.Contains(l.Text, "HTTP call error") || strings.Contains(l.Text, control["9503"]) && telling(l.Text) {
			return control["9503"] + ":9503"
		}
	}
	return ""
}

func telling(line string) bool {
	return evidence.ContainsAny(line, "error", "Error", "fatal", "UNHEALTHY", "READONLY", "not attached", "res=-1", "failed", "refused")
}
