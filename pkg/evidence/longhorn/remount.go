package longhorn

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// aboutToHappen is how long Longhorn may take to delete the pod: it waits 5 seconds and
// gives a grace period of 30.
const aboutToHappen = time.Minute

// The settings of the deletion.
const (
	autoDelete = "auto-delete-pod-when-volume-detached-unexpectedly"
	blacklist  = "blacklist-for-auto-delete-pod-when-volume-detached-unexpectedly"
)

// Remount is a request of Longhorn to mount a volume anew for a pod that is older.
type Remount struct {
	pl      *evidence.Place
	pod     *corev1.Pod
	At      string
	Asked   time.Time
	Started time.Time
}

// RemountOf is the request that a running pod of the place's volume has not followed. The
// field is never cleared: a time before the pod's start says nothing.
func RemountOf(pl *evidence.Place, pod *corev1.Pod) (Remount, bool) {
	lh := pl.Volume.LH()
	if lh == nil || lh.Status.RemountRequestedAt == "" || pod.Status.StartTime == nil || pod.DeletionTimestamp != nil {
		return Remount{}, false
	}
	asked, err := time.Parse(time.RFC3339, lh.Status.RemountRequestedAt)
	r := Remount{pl, pod, lh.Status.RemountRequestedAt, asked, pod.Status.StartTime.Time}
	return r, err == nil && asked.After(r.Started)
}

// Older is the pod that is older than the request.
func (r Remount) Older() evidence.Answer {
	return evidence.When(r.Asked.After(r.Started),
		evidence.FromAPI("Volume "+r.pl.Volume.LH().Name, "status.remountRequestedAt", r.At),
		evidence.FromPod(r.pod, "status.startTime", r.Started.UTC().Format(time.RFC3339)))
}

// Recovers asks whether the pod needs no new mount: it has an NFS mount of a shared
// volume, which Longhorn leaves alone, and nothing shows that it fails.
func (r Remount) Recovers() evidence.Answer {
	v := r.pl.Volume
	if !v.RegularRWX() || !skipsShared(r.pl.X) {
		return evidence.No()
	}
	for _, t := range r.pl.Refused() {
		if t.Pod == r.pod.Namespace+"/"+r.pod.Name && filesFail(t) {
			return evidence.No(t.Evidence())
		}
	}
	node := r.pod.Spec.NodeName
	if view := r.pl.X.View(node); view != nil {
		for _, m := range r.pl.X.VolumeMounts(v, node) {
			if st, ok := view.Statfs(m.Mount.Point); ok && st.Err != "" {
				return evidence.No(evidence.FromNode(node, "@statfs"+m.Mount.Point, st.Err))
			}
		}
	}
	return evidence.Yes()
}

// Renewed asks whether the pod has a mount of the volume's present disk: a node that boots
// starts its pods again with new mounts, and their start time stays. Where nobody looked,
// containers that are older than the request tell that it has not.
func (r Remount) Renewed() evidence.Answer {
	x, node := r.pl.X, r.pod.Spec.NodeName
	if x.View(node) == nil {
		ready := x.NodeReady(node)
		if pods.RanAt(r.pod, r.Asked) || ready.Known && ready.Since.Before(r.Asked) {
			return evidence.No()
		}
		return evidence.Unseen(evidence.Lack{Need: "node/" + node, Node: node, Why: "it may have been booted since the request, which mounts the volume anew"})
	}
	return onPresentDisk(r.pl, r.pl.Volume, r.pod)
}

// onPresentDisk asks whether what a pod has mounted of a volume, on a node that was looked
// at, is the disk that the volume is there now, and nothing says that files fail.
func onPresentDisk(pl *evidence.Place, v *snapshot.Volume, pod *corev1.Pod) evidence.Answer {
	x, node := pl.X, pod.Spec.NodeName
	view := x.View(node)
	d, found := x.DeviceOn(v, node)
	if !found || d.Block == nil || view.DeadPath(d.Block.Name) != "" || slices.ContainsFunc(pl.Refused(), filesFail) {
		return evidence.No()
	}
	out := evidence.No()
	for _, m := range x.VolumeMounts(v, node) {
		switch {
		case m.Path.PodUID != string(pod.UID):
		case !view.Rests(m.Mount.Dev, d.Dev):
			return evidence.No()
		default:
			out = evidence.Yes(evidence.FromNode(node, "proc/1/mountinfo", m.Mount.Raw))
		}
	}
	return out
}

// Soon tells whether Longhorn is about to recreate the pod itself, and how long ago it
// asked.
func (r Remount) Soon() (ago time.Duration, soon bool) {
	ago = r.pl.X.Age(r.Asked)
	return ago, ago < aboutToHappen
}

// Blocker finds what keeps Longhorn from deleting the pod, as a sentence says it. Not
// seen: it should have been deleted.
func (r Remount) Blocker() (why string, a evidence.Answer) {
	owner := metav1.GetControllerOf(r.pod)
	if owner == nil {
		return "The pod has no controller (a bare pod), and Longhorn recreates only pods that something creates again",
			evidence.Yes(evidence.FromPod(r.pod, "metadata.ownerReferences", "no controller"))
	}
	if v, ok := settingFor(r.pl.X, autoDelete, "v1"); ok && v == "false" {
		return "The setting " + autoDelete + " is false", evidence.Yes(evidence.FromAPI("Setting "+autoDelete, "value", "false"))
	}
	if list, ok := r.pl.X.Setting(blacklist); ok {
		group, _, _ := strings.Cut(owner.APIVersion, "/")
		if slices.Contains(strings.FieldsFunc(list, func(r rune) bool { return r == ';' || r == ',' || r == ' ' }), group+"/"+owner.Kind) {
			return "Its owner " + group + "/" + owner.Kind + " is on the list of owners that Longhorn leaves alone", evidence.Yes(evidence.FromAPI("Setting "+blacklist, "value", list))
		}
	}
	return managerSick(r.pl.X, r.pod.Spec.NodeName)
}

// Unmanaged tells whether it is the manager of the pod's node that is missed.
func (r Remount) Unmanaged() bool {
	_, sick := managerSick(r.pl.X, r.pod.Spec.NodeName)
	return sick.Yes()
}

// managerSick asks whether the manager of a node, which alone recreates its pods, does not
// work.
func managerSick(x *snapshot.Index, node string) (why string, a evidence.Answer) {
	if why := managerAway(x, node); why != "" {
		return fmt.Sprintf("The longhorn-manager on node %s is not ready (%s), and only it recreates pods of that node", node, why),
			evidence.Yes(evidence.FromAPI("Node.longhorn.io "+node, "status.conditions[Ready]", "False "+why))
	}
	if m := ManagerOn(x, node); m != nil {
		if _, sick := notReadySince(m); sick {
			return fmt.Sprintf("The longhorn-manager %s on node %s is not Ready (%s), and only it recreates pods of that node", m.Name, node, Trouble(m)),
				evidence.Yes(evidence.FromPod(m, "status.conditions[Ready]", "not True: "+Trouble(m)))
		}
	}
	return "Why Longhorn does not recreate the pod is open", evidence.Unseen(evidence.Lack{Need: "api/longhorn.io/settings", Why: "what keeps Longhorn from recreating the pod"})
}
