package filesystem

import (
	_ "embed"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed fsgroup_chown_slow.md
var fsgroupChownSlowDoc string

// FSGroupChownSlow finds pods that wait while the kubelet changes the owner of every
// file of a large volume.
var FSGroupChownSlow = &diagnosis.Rule{
	Name: "fsgroup-chown-slow", Layer: diagnosis.Filesystem, Severity: report.Degraded,
	Explains: []string{"pod-waiting-for-volume", "mount-failed"},
	Doc:      fsgroupChownSlowDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			for _, w := range v.Waiting() {
				if w.Node() != "" && changesOwners(p, v, w) {
					chownSlow(p, v, w)
				}
			}
		}
	},
}

// manyFiles is the number of inodes from which the walk takes minutes.
const manyFiles = 100_000

// changesOwners tells whether the kubelet walks the volume for this pod at every
// mount (pkg/volume/volume_linux.go, SetVolumeOwnership).
func changesOwners(p *diagnosis.Pass, v *snapshot.Volume, w *snapshot.Consumer) bool {
	s := w.Pod.Spec.SecurityContext
	if s == nil || s.FSGroup == nil || w.Block || s.FSGroupChangePolicy != nil && *s.FSGroupChangePolicy == corev1.FSGroupChangeOnRootMismatch {
		return false
	}
	d := p.CSIDriver(v.CSIName())
	if d == nil || d.Spec.FSGroupPolicy == nil || *d.Spec.FSGroupPolicy == storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy {
		// The kubelet then asks for a type and for ReadWriteOnce (csi_mounter.go, supportsFSGroup).
		typed := v.PV == nil || v.PV.Spec.CSI == nil || v.PV.Spec.CSI.FSType != ""
		return v.CSIName() == "" || typed && (v.Exclusive() || v.SinglePod())
	}
	return *d.Spec.FSGroupPolicy == storagev1.FileFSGroupPolicy
}

// refusedMount tells whether something else than time was said about the mount.
func refusedMount(p *diagnosis.Pass, v *snapshot.Volume, w *snapshot.Consumer) bool {
	for _, t := range p.Texts(v) {
		if !t.Fresh || t.Source != "event" || t.Pod != "" && t.Pod != w.Pod.Namespace+"/"+w.Pod.Name || t.Reason != "FailedMount" && t.Reason != "FailedAttachVolume" {
			continue
		}
		if !t.Is(message.MountTimeout) && !t.Is(message.Deadline) && !t.Is(message.OwnershipSlow) && !t.Is(message.ProcessingFailed) {
			return true
		}
	}
	return false
}

func chownSlow(p *diagnosis.Pass, v *snapshot.Volume, w *snapshot.Consumer) {
	if refusedMount(p, v, w) {
		return
	}
	var said []report.Evidence
	for _, t := range p.Texts(v) {
		if t.Fresh && t.Is(message.OwnershipSlow) {
			said = append(said, t.Evidence())
			break
		}
	}
	node := w.Node()
	view := p.View(node)
	if view == nil {
		if len(said) == 0 {
			return
		}
		p.Probed(node)
	}
	used, at, found := filesOf(p, v, w, view)
	if view != nil && (!found || used < manyFiles && len(said) == 0 || hangs(view)) {
		return
	}
	certainty := report.Likely
	if found && len(said) > 0 || found && walking(view) {
		certainty = report.Certain
	}
	f := p.Find(certainty, diagnosis.PodSubject(w.Pod)).On(v).Located(node).Fact(said...)
	f.Pod(w.Pod)
	f.Waiting = true
	files := ""
	if found {
		files = fmt.Sprintf(" The volume is mounted for the pod, answers, and has %d files.", used)
		f.Fact(diagnosis.FromNode(node, "@statfs"+at, fmt.Sprintf("%d inodes in use", used)))
	} else {
		f.NotConfirmed = append(f.NotConfirmed, "the pod's mount and the number of its files on node "+node)
	}
	f.Sayf("Pod %s/%s on node %s waits for the kubelet, which changes the owner of every file of volume %s to fsGroup %d: fsGroupChangePolicy is not OnRootMismatch, so it does so at every start.%s Nothing failed; it takes time.",
		w.Pod.Namespace, w.Pod.Name, node, volumeName(v), *w.Pod.Spec.SecurityContext.FSGroup, files)
	f.Fact(diagnosis.FromAPI("Pod "+w.Pod.Namespace+"/"+w.Pod.Name, "spec.securityContext", fmt.Sprintf("fsGroup %d, fsGroupChangePolicy %s", *w.Pod.Spec.SecurityContext.FSGroup, policyOf(w.Pod))))
	if certainty != report.Certain {
		f.NotConfirmed = append(f.NotConfirmed, "a thread of the kubelet of node "+node+" that changes owners")
	}
	f.Unless("a task that hangs in the kernel on this mount, or an error of the mount itself")
	f.Advise(
		remedy.Words("Wait: the walk ends by itself. Starting the pod again would begin it anew."),
		remedy.Words("For the next start set fsGroupChangePolicy: OnRootMismatch in the pod's template, or leave fsGroup out where the files have the right group already."),
	)
	p.Report(f)
}

func policyOf(pod *corev1.Pod) string {
	if c := pod.Spec.SecurityContext.FSGroupChangePolicy; c != nil {
		return string(*c)
	}
	return "not set (Always)"
}

// filesOf is the number of inodes in use behind the pod's own mount.
func filesOf(p *diagnosis.Pass, v *snapshot.Volume, w *snapshot.Consumer, view *snapshot.NodeView) (used uint64, at string, ok bool) {
	if view == nil {
		return 0, "", false
	}
	for _, m := range p.VolumeMounts(v, view.Name) {
		if m.Path.Kind != snapshot.Publish || !strings.EqualFold(m.Path.PodUID, string(w.Pod.UID)) {
			continue
		}
		if st, read := view.Statfs(m.Mount.Point); read && st.Err == "" && st.Files >= st.FilesFree {
			return st.Files - st.FilesFree, m.Mount.Point, true
		}
	}
	return 0, "", false
}

// hangs tells whether the kubelet waits in the kernel without progress.
func hangs(view *snapshot.NodeView) bool {
	q := view.Process(view.Facts.Kubelet.PID)
	if q == nil {
		return false
	}
	for _, t := range q.Threads {
		if strings.Contains(t.WChan+t.Stack, "nfs") || strings.Contains(t.WChan+t.Stack, "fuse") {
			return true
		}
	}
	return false
}

// walking tells whether a thread of the kubelet was seen changing owners.
func walking(view *snapshot.NodeView) bool {
	if view == nil {
		return false
	}
	q := view.Process(view.Facts.Kubelet.PID)
	if q == nil {
		return false
	}
	stacks := q.Stack + q.WChan
	for _, t := range q.Threads {
		stacks += t.Stack + t.WChan
	}
	return strings.Contains(stacks, "chown") || strings.Contains(stacks, "chmod_common")
}
