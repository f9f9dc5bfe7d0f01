package longhorn

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	lhe "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed longhorn_remount_pending.md
var longhornRemountPendingDoc string

// RemountPending finds a pod that still uses the device from before the engine died.
var RemountPending = &diagnosis.Rule{
	Name: "longhorn-remount-pending", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("longhorn.io/volumes"), diagnosis.API("longhorn.io/settings")},
	Explains: []string{"volume-io-error", "volume-readonly", "volume-hung"},
	LeadsTo:  []string{"mount-of-dead-device"},
	Offers:   []string{"delete-pod"},
	Doc:      longhornRemountPendingDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			for _, c := range v.Running() {
				remountPending(p, v, c)
			}
		}
	},
}

// aboutToHappen is how long Longhorn may take to delete the pod: it waits 5 seconds
// and gives a grace period of 30.
const aboutToHappen = time.Minute

func remountPending(p *diagnosis.Pass, v *snapshot.Volume, c *snapshot.Consumer) {
	lh := volumeOf(v)
	if lh == nil || lh.Status.RemountRequestedAt == "" || c.Pod.Status.StartTime == nil {
		return
	}
	asked, err := time.Parse(time.RFC3339, lh.Status.RemountRequestedAt)
	started := c.Pod.Status.StartTime.Time
	if err != nil || !asked.After(started) || c.Pod.DeletionTimestamp != nil {
		return
	}
	if v.RegularRWX() && lhe.SkipsShared(p.Index) && !p.Suffers(v, "volume-io-error", "volume-hung", "volume-readonly") {
		return // the NFS client recovers by itself
	}
	blocker, evidence := remountBlocker(p, c.Pod)
	age := p.Age(asked)
	certainty, waiting := report.Certain, false
	switch {
	case blocker != "":
	case age < aboutToHappen:
		waiting = true
		blocker = fmt.Sprintf("Longhorn asked for it %d seconds ago and is about to recreate the pod itself", int(age.Seconds()))
	default:
		certainty = report.Likely
		blocker = "why Longhorn does not recreate the pod is open"
	}
	f := p.Find(certainty, diagnosis.PodSubject(c.Pod)).On(v).Located(c.Pod.Spec.NodeName)
	f.Pod(c.Pod)
	f.Waiting = waiting
	f.Sayf("Longhorn asked for a remount of volume %s at %s, %s after pod %s/%s started. The pod still uses the mount from before, whose device is gone or dead; the volume is %s now. %s.",
		lh.Name, lh.Status.RemountRequestedAt, diagnosis.Duration(asked.Sub(started)), c.Pod.Namespace, c.Pod.Name, describe(lh), upper(blocker))
	f.Fact(
		diagnosis.FromAPI("Volume "+lh.Name, "status.remountRequestedAt", lh.Status.RemountRequestedAt),
		diagnosis.FromAPI("Pod "+c.Pod.Namespace+"/"+c.Pod.Name, "status.startTime", started.UTC().Format(time.RFC3339)),
		evidence,
	)
	f.Unless("a pod start time later than the request")
	switch {
	case waiting:
		f.Advise(remedy.Words("Wait until the pod has been recreated (under a minute). No step is needed."))
	case lh.Status.State != "attached":
		f.Advise(remedy.Words("First bring the volume back, which is " + describe(lh) + " now; a new pod has nothing to mount before that."))
	default:
		f.Advise(remedy.DeletePod(c.Pod).Note("It is the one that still has the old mount."))
		f.Advise(remedy.Words("Then find out why the engine died: instance-manager restarts, network, replica nodes at " + lh.Status.RemountRequestedAt + "."))
	}
	p.Report(f)
}

const blacklistSetting = "blacklist-for-auto-delete-pod-when-volume-detached-unexpectedly"

// remountBlocker names what keeps Longhorn from deleting the pod.
func remountBlocker(p *diagnosis.Pass, pod *corev1.Pod) (string, report.Evidence) {
	const auto = "auto-delete-pod-when-volume-detached-unexpectedly"
	owner := controller(pod)
	switch {
	case owner == nil:
		return "the pod has no controller (a bare pod), and Longhorn recreates only pods that something creates again",
			diagnosis.FromAPI("Pod "+pod.Namespace+"/"+pod.Name, "metadata.ownerReferences", "no controller")
	case settingIs(p, auto, "false"):
		return "the setting " + auto + " is false", diagnosis.FromAPI("Setting "+auto, "value", "false")
	}
	if list, ok := p.Setting(blacklistSetting); ok {
		group, _, _ := strings.Cut(owner.APIVersion, "/")
		if slices.Contains(strings.FieldsFunc(list, func(r rune) bool { return r == ';' || r == ',' || r == ' ' }), group+"/"+owner.Kind) {
			return "its owner " + group + "/" + owner.Kind + " is on the list of owners that Longhorn leaves alone", diagnosis.FromAPI("Setting "+blacklistSetting, "value", list)
		}
	}
	if why := lhe.ManagerAway(p.Index, pod.Spec.NodeName); why != "" {
		return "longhorn-manager on node " + pod.Spec.NodeName + " is not ready (" + why + "), and only it recreates pods of that node",
			diagnosis.FromAPI("Node.longhorn.io "+pod.Spec.NodeName, "status.conditions[Ready]", "False "+why)
	}
	if m := lhe.ManagerOn(p.Index, pod.Spec.NodeName); m != nil {
		if _, sick := lhe.NotReadySince(m); sick {
			return "longhorn-manager " + m.Name + " on node " + pod.Spec.NodeName + " is not Ready (" + lhe.Trouble(m) + "), and only it recreates pods of that node",
				diagnosis.FromAPI("Pod "+m.Namespace+"/"+m.Name, "status.conditions[Ready]", "not True: "+lhe.Trouble(m))
		}
	}
	return "", report.Evidence{}
}

func settingIs(p *diagnosis.Pass, name, value string) bool {
	v, ok := lhe.SettingFor(p.Index, name, "v1")
	return ok && v == value
}
