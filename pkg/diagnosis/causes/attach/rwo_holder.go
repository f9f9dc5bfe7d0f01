package attach

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// rivalry is two pods on two nodes that want one ReadWriteOnce volume; the
// holder has it and is alive.
type rivalry struct {
	Volume         *snapshot.Volume
	Waiter, Holder *corev1.Pod
	WaiterOwner    snapshot.Owner
	HolderOwner    snapshot.Owner
	Evidence       []report.Evidence
	Unseen         string // why the holder's attachment could not be seen; empty: it was
}

// SameOwner tells whether one workload owns both pods.
func (r rivalry) SameOwner() bool {
	a, b := r.WaiterOwner, r.HolderOwner
	return !a.Pod && a.Kind == b.Kind && a.Namespace == b.Namespace && a.Name == b.Name
}

// rivalries finds, for a volume that only one node may have, each waiting pod
// with one live holder on another, Ready node. A holder that is being deleted, has
// finished or sits on a node that does not report is another fault.
func rivalries(p *diagnosis.Pass, v *snapshot.Volume) []rivalry {
	if !onlyRWO(v) {
		return nil
	}
	var out []rivalry
	for _, c := range v.Waiting() {
		w := c.Pod
		if w.Spec.NodeName == "" || w.DeletionTimestamp != nil {
			continue
		}
		if _, here := attachedOn(p, v, w.Spec.NodeName); here {
			continue // its own node has the volume: it waits for something else
		}
		if r, ok := holderFor(p, v, w); ok {
			out = append(out, r)
		}
	}
	return out
}

func holderFor(p *diagnosis.Pass, v *snapshot.Volume, w *corev1.Pod) (rivalry, bool) {
	for _, c := range v.Live() {
		h := c.Pod
		if h == w || h.DeletionTimestamp != nil || h.Spec.NodeName == "" || h.Spec.NodeName == w.Spec.NodeName {
			continue
		}
		ready := p.NodeReady(h.Spec.NodeName)
		nodesSeen := p.Collected("/nodes")
		if nodesSeen && !ready.Ready {
			continue
		}
		r := rivalry{Volume: v, Waiter: w, Holder: h, WaiterOwner: ownerOf(p, w), HolderOwner: ownerOf(p, h)}
		a, ok := attachedOn(p, v, h.Spec.NodeName)
		switch {
		case ok:
			r.Evidence = a.Evidence
			if !nodesSeen {
				r.Unseen = "whether node " + h.Spec.NodeName + " is Ready (nodes could not be read)"
			}
		case h.Status.Phase == corev1.PodRunning && nodesSeen && !v.AttachRequired(p.Index) && pluginRefused(p, v, w):
			r.Evidence = heldThere(p, v, h)
		case h.Status.Phase != corev1.PodRunning || !v.AttachRequired(p.Index) && !refused(p, v, w):
			continue // nothing says that the mode is enforced by attaching at all
		case !nodesSeen:
			r.Unseen = "whether node " + h.Spec.NodeName + " is Ready and has the volume attached (nodes could not be read)"
		case !p.Collected("storage.k8s.io/volumeattachments"):
			r.Unseen = "where the volume is attached (volumeattachments could not be read)"
		default:
			continue // collected, and nothing says that the holder's node has it
		}
		return r, true
	}
	return rivalry{}, false
}

// ownerOf is the top owner of a pod. Where ReplicaSets could not be read, the hash that a
// Deployment puts into their names and the pod's labels tells its name.
func ownerOf(p *diagnosis.Pass, pod *corev1.Pod) snapshot.Owner {
	o := p.TopOwner(pod)
	cut := strings.LastIndexByte(o.Name, '-')
	if o.Kind != "ReplicaSet" || o.Object != nil || cut <= 0 {
		return o
	}
	name, hash := o.Name[:cut], o.Name[cut+1:]
	for _, d := range p.Cluster.Deployments {
		if d.Namespace == pod.Namespace && d.Name == name {
			return snapshot.Owner{Kind: "Deployment", Namespace: pod.Namespace, Name: name, Object: d}
		}
	}
	if pod.Labels["pod-template-hash"] != hash {
		return o
	}
	return snapshot.Owner{Kind: "Deployment", Namespace: pod.Namespace, Name: name}
}

// pluginRefused tells whether the node plugin freshly refuses the volume to a pod because
// somebody has it. Where nothing is attached nobody speaks of Multi-Attach; a network
// filesystem takes several nodes whatever the claim's mode is.
func pluginRefused(p *diagnosis.Pass, v *snapshot.Volume, w *corev1.Pod) bool {
	return slices.ContainsFunc(p.Texts(v), func(t diagnosis.Text) bool {
		busy := t.Is(message.AlreadyMountedBusy) || t.Is(message.InUseBySystem) || t.Is(message.RBDInUse) || t.Is(message.DeviceBusy) ||
			t.Code == "FailedPrecondition" || inUseElsewhere.MatchString(t.Desc)
		return t.Fresh && t.Pod == podName(w) && strings.HasPrefix(t.Op, "MountVolume") && busy
	})
}

var inUseElsewhere = regexp.MustCompile(`(?i)(?:in use|mounted|published|staged|attached|opened|used) (?:by|on|to|at) (?:an)?other|already (?:in use|published|mapped)|exclusive`)

// heldThere quotes the holder's mount of the volume, where it was seen.
func heldThere(p *diagnosis.Pass, v *snapshot.Volume, h *corev1.Pod) []report.Evidence {
	for _, m := range p.VolumeMounts(v, h.Spec.NodeName) {
		return []report.Evidence{diagnosis.FromNode(h.Spec.NodeName, mountLocator(m.Use), m.Mount.Raw)}
	}
	return nil
}

// refused tells whether the attach-detach controller refused the volume to a pod.
func refused(p *diagnosis.Pass, v *snapshot.Volume, w *corev1.Pod) bool {
	return slices.ContainsFunc(p.Texts(v), func(t diagnosis.Text) bool { return t.Pod == podName(w) && multiAttach(t.Raw) })
}

// onlyRWO tells whether ReadWriteOnce is the only access mode.
func onlyRWO(v *snapshot.Volume) bool {
	modes := v.AccessModes()
	return len(modes) > 0 && !slices.ContainsFunc(modes, func(m corev1.PersistentVolumeAccessMode) bool {
		return m != corev1.ReadWriteOnce
	})
}

// found makes the finding that both RWO rules share.
func (r rivalry) found(p *diagnosis.Pass, c report.Certainty, subject report.Subject) *diagnosis.Finding {
	f := p.Find(c, subject).On(r.Volume).Located(r.Waiter.Spec.NodeName).Located(r.Holder.Spec.NodeName)
	f.Pod(r.Waiter)
	f.Fact(diagnosis.FromAPI(podFact(r.Holder)), diagnosis.FromAPI(podFact(r.Waiter)))
	ns, name := r.Volume.ClaimRef()
	f.Fact(diagnosis.FromAPI("PersistentVolumeClaim "+ns+"/"+name, "spec.accessModes", "ReadWriteOnce"))
	f.Fact(r.Evidence...)
	for _, t := range p.Texts(r.Volume) {
		if t.Pod == podName(r.Waiter) && multiAttach(t.Raw) {
			f.Fact(t.Evidence())
			break
		}
	}
	if r.Unseen != "" {
		f.Missing(r.Unseen)
	}
	return f
}
