package files

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Group is the group that the pod wants its files to have, in words.
func (t Tree) Group() string {
	if s := t.c.Pod.Spec.SecurityContext; s != nil && s.FSGroup != nil {
		return fmt.Sprint(*s.FSGroup)
	}
	return ""
}

// OwnersChange asks whether kubelet gives every file to the pod's group at each start, or, as it says itself, at this one:
// with OnRootMismatch it does when the top directory has another group or other rights (pkg/volume/volume_linux.go,
// SetVolumeOwnership, requiresPermissionChange).
func (t Tree) OwnersChange() evidence.Answer {
	s := t.c.Pod.Spec.SecurityContext
	if s == nil || s.FSGroup == nil || t.c.Block {
		return evidence.No()
	}
	policy := "not set (Always)"
	if s.FSGroupChangePolicy != nil {
		policy = string(*s.FSGroupChangePolicy)
	}
	says := evidence.FromPod(t.c.Pod, "spec.securityContext", fmt.Sprintf("fsGroup %d, fsGroupChangePolicy %s", *s.FSGroup, policy))
	return evidence.When((!t.Once() || t.Saying().Yes()) && t.driverLets(), says)
}

// Once tells whether kubelet looks at the top directory first.
func (t Tree) Once() bool {
	s := t.c.Pod.Spec.SecurityContext
	return s != nil && s.FSGroupChangePolicy != nil && *s.FSGroupChangePolicy == corev1.FSGroupChangeOnRootMismatch
}

// Often says when it gives away every file.
func (t Tree) Often() string {
	if t.Once() {
		return "fsGroupChangePolicy is OnRootMismatch, and the top directory had another group or other rights"
	}
	return "fsGroupChangePolicy is not OnRootMismatch, so it does so at every start"
}

// driverLets tells whether the driver leaves the group to kubelet. Without a policy, it asks for a
// filesystem type and for ReadWriteOnce among the modes (csi_mounter.go, supportsFSGroup).
func (t Tree) driverLets() bool {
	v := t.pl.Volume
	d := t.pl.X.CSIDriver(v.CSIName())
	if d == nil || d.Spec.FSGroupPolicy == nil || *d.Spec.FSGroupPolicy == storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy {
		typed := v.PV == nil || v.PV.Spec.CSI == nil || v.PV.Spec.CSI.FSType != ""
		return v.CSIName() == "" || typed && (slices.Contains(v.AccessModes(), corev1.ReadWriteOnce) || v.SinglePod())
	}
	return *d.Spec.FSGroupPolicy == storagev1.FileFSGroupPolicy
}

// Saying asks whether kubelet says of this pod that it changes owners. In its log it says so once,
// when it begins, which holds until the pod starts. One that makes an event of it makes another each
// minute until it is done (monitorProgress in pkg/volume/volume_linux.go): an old one alone says that
// it has stopped, or that nobody hears it.
func (t Tree) Saying() evidence.Answer {
	for _, x := range t.pl.Texts { // newest first
		own := !strings.Contains(x.Raw, "/pods/") || strings.Contains(x.Raw, string(t.c.Pod.UID))
		if !x.Is(message.OwnershipSlow) || !own {
			continue
		}
		switch {
		case x.Fresh, x.Source != "event" && x.At.After(t.c.Pod.CreationTimestamp.Time):
			return evidence.Yes(x.Evidence())
		case x.Source == "event" && x.At.After(t.c.Pod.CreationTimestamp.Time):
			return evidence.Unseen(evidence.Lack{Need: "whether the kubelet of node " + t.c.Node() + " still changes owners", Node: t.c.Node(),
				Why: "it last said so " + evidence.Duration(t.pl.X.Age(x.At)) + " ago, and while it does it says so each minute"}).With(x.Evidence())
		}
	}
	return evidence.No()
}

// kubelets are the processes in which a kubelet runs.
func kubelets(t Tree) []*probes.Process {
	if t.pl.View == nil {
		return nil
	}
	if q := t.pl.View.Process(t.pl.View.Facts.Kubelet.PID); q != nil {
		return []*probes.Process{q}
	}
	return nil
}

// Chowning asks whether a thread of kubelet is changing owners or modes.
func (t Tree) Chowning() evidence.Answer {
	return t.inKernel(kubelets(t), "chown", "chmod_common", "setattr")
}

// Hanging asks whether kubelet waits on a server without changing anything: then it does
// not walk, it hangs.
func (t Tree) Hanging() evidence.Answer {
	if t.Chowning().Yes() {
		return evidence.No()
	}
	return t.inKernel(kubelets(t), "nfs", "fuse", "ceph", "cifs")
}

// Refused asks whether something else than time was said about the volume for this pod.
func (t Tree) Refused() evidence.Answer {
	pod := t.c.Pod.Namespace + "/" + t.c.Pod.Name
	for _, x := range t.pl.Texts {
		if !x.Fresh || x.Source != "event" || x.Pod != "" && x.Pod != pod || x.Reason != "FailedMount" && x.Reason != "FailedAttachVolume" {
			continue
		}
		if !x.Is(message.MountTimeout) && !x.Is(message.Deadline) && !x.Is(message.OwnershipSlow) && !x.Is(message.ProcessingFailed) {
			return evidence.Yes(x.Evidence())
		}
	}
	return evidence.No()
}

// OnlyTime asks whether kubelet says that time ran out while it waited for this pod's
// volumes, and the volume is attached as its driver wants it, or is a local one: what is left
// is work, unless it told of the work before and no longer does.
func (t Tree) OnlyTime() evidence.Answer {
	if says := t.Saying(); !says.No() {
		return says // what it says itself tells more
	}
	v := t.pl.Volume
	va := v.AttachmentOn(t.c.Node())
	var attached []report.Evidence
	switch {
	case v.PV != nil && v.PV.Spec.Local != nil: // there is nothing to attach
	case !v.AttachRequired(t.pl.X) || va == nil || !va.Status.Attached:
		return evidence.No() // a server that does not answer looks the same
	default:
		attached = append(attached, evidence.FromAPI("VolumeAttachment "+va.Name, "status.attached", "true"))
	}
	for _, x := range t.pl.Texts {
		if x.Fresh && x.Reason == "FailedMount" && x.Pod == t.c.Pod.Namespace+"/"+t.c.Pod.Name && x.Is(message.MountTimeout) {
			return evidence.Yes(append(attached, x.Evidence())...)
		}
	}
	return evidence.No()
}

// AtWork asks whether kubelet was seen, or says itself, that it changes owners. That no
// thread of it was in the kernel at one look says nothing.
func (t Tree) AtWork() evidence.Answer {
	return evidence.Any(t.Saying(), evidence.All(t.Chowning(), t.Counted()),
		evidence.Unseen(evidence.Lack{Need: "a thread of the kubelet of node " + t.c.Node() + " that changes owners", Node: t.c.Node(), Why: "none was seen at this moment"}))
}
