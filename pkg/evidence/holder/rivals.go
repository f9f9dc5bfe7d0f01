package holder

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/cloud"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Rival is a pod that waits for a ReadWriteOnce volume, and the live pod that has it.
type Rival struct {
	Waiter, Holder           *corev1.Pod
	WaiterOwner, HolderOwner snapshot.Owner
	Held                     evidence.Answer // the holder's node is Ready and has the volume
}

// Together tells whether both pods are on one node, and the driver gives a volume to one pod.
func (r Rival) Together() bool { return r.Waiter.Spec.NodeName == r.Holder.Spec.NodeName }

// Rivals finds, for a volume that only one node may have, each waiting pod with one live
// holder on another node, or on its own where the driver refuses a second mount. A holder that
// is being deleted, has finished or sits on a node that does not report is another fault.
func Rivals(pl *evidence.Place) []Rival {
	if !onlyRWO(pl.Volume) {
		return nil
	}
	var out []Rival
	for _, c := range pl.Volume.Waiting() {
		if c.Node() == "" {
			continue
		}
		if r, ok := neighbourOf(pl, c.Pod); ok {
			out = append(out, r)
			continue
		}
		if _, here := On(pl.X, pl.Volume, c.Node()); here {
			continue // its own node has the volume: it waits for something else
		}
		if r, ok := rivalOf(pl, c.Pod); ok {
			out = append(out, r)
		}
	}
	return out
}

func onlyRWO(v *snapshot.Volume) bool {
	modes := v.AccessModes()
	return len(modes) > 0 && !slices.ContainsFunc(modes, func(m corev1.PersistentVolumeAccessMode) bool { return m != corev1.ReadWriteOnce })
}

// neighbourOf is the live pod on a waiting pod's own node whose mount of the volume the driver
// gives as its reason: it names the path. ReadWriteOnce allows two pods on a node, and drivers of
// local disks may not (the parameter shared of OpenEBS).
func neighbourOf(pl *evidence.Place, w *corev1.Pod) (Rival, bool) {
	for _, c := range pl.Volume.Live() {
		h := c.Pod
		if h == w || c.Terminating() || h.Spec.NodeName != w.Spec.NodeName {
			continue
		}
		said := pl.Refused().Say(func(t evidence.Text) bool {
			return t.Pod == pods.Name(w) && strings.HasPrefix(t.Op, "MountVolume") && strings.Contains(t.Raw, "/pods/"+string(h.UID)+"/volumes/")
		})
		if said.Yes() {
			held := evidence.All(said.With(mounted(pl, h.Spec.NodeName)...), node.Ready(pl.X, h.Spec.NodeName))
			return Rival{w, h, OwnerOf(pl.X, w), OwnerOf(pl.X, h), held}, true
		}
	}
	return Rival{}, false
}

func rivalOf(pl *evidence.Place, w *corev1.Pod) (Rival, bool) {
	for _, c := range pl.Volume.Live() {
		h := c.Pod
		if h == w || c.Terminating() || c.Node() == "" || c.Node() == w.Spec.NodeName {
			continue
		}
		if held := holds(pl, w, h); !held.No() {
			return Rival{w, h, OwnerOf(pl.X, w), OwnerOf(pl.X, h), held}, true
		}
	}
	return Rival{}, false
}

// holds asks whether a pod's node is Ready and has the volume that another pod wants.
// Without an attachment, somebody must say that the mode is enforced; where nobody may read attachments,
// a disk of the machine is on one machine.
func holds(pl *evidence.Place, w, h *corev1.Pod) evidence.Answer {
	on, required := h.Spec.NodeName, pl.Volume.AttachRequired(pl.X)
	ready := node.Ready(pl.X, on)
	a, attached := On(pl.X, pl.Volume, on)
	drivers := evidence.Resource(pl.X, "storage.k8s.io/csidrivers") // which say whether anything is attached
	read := evidence.Resources(pl.X, "/nodes", "storage.k8s.io/volumeattachments")
	switch {
	case attached:
		return evidence.All(evidence.Yes(a.Facts...), ready)
	case h.Status.Phase != corev1.PodRunning:
		return evidence.No()
	case (!required || !drivers.Complete()) && pluginRefused(pl, w):
		return evidence.All(evidence.Yes(mounted(pl, on)...), ready, drivers.Nothing())
	case pl.Volume.PV == nil && !read.Complete() && volume.KindOf(pl.X, pl.Volume) == volume.Disk:
	case !required || len(RefusedTo(pl, w)) == 0:
		return evidence.No()
	}
	return evidence.All(ready, read.Found())
}

// RefusedTo quotes the newest refusal of the attach-detach controller to give a pod a
// volume that another node has.
func RefusedTo(pl *evidence.Place, w *corev1.Pod) []report.Evidence {
	return pl.Texts.Say(func(t evidence.Text) bool { return t.Pod == pods.Name(w) && multiAttach(t) }).Facts()
}

// multiAttach tells whether a text is the attach-detach controller's refusal.
func multiAttach(t evidence.Text) bool { return strings.Contains(t.Raw, "Multi-Attach error") }

var inUseElsewhere = pattern.MustCompile(`(?i)(?:in use|mounted|published|staged|attached|opened|used) (?:by|on|to|at) (?:an)?other|already (?:in use|published|mapped)|exclusive`)

// heldBy is the same with a name: of a node, or a number or an address that only the storage knows, never a path.
var heldBy = pattern.MustCompile(`(?i)\b(?:is|was|still|currently) (?:in use|mounted|published|staged|attached|opened|used|locked|mapped) (?:by|on|to|at)\b[: ]+(?:(?:the|an?|host|instance|machine|server|client|node|vm|droplet|linode)\b[: ]+)*["']?([^\s/"',;]+)(?:[\s"',;.]|$)`)

// pluginRefused tells whether the node plugin freshly refuses the volume to a pod because
// somebody has it. Where nothing is attached nobody speaks of Multi-Attach; a network
// filesystem takes several nodes whatever the claim's mode is.
func pluginRefused(pl *evidence.Place, w *corev1.Pod) bool {
	return slices.ContainsFunc(pl.Refused(), func(t evidence.Text) bool {
		if t.Pod != pods.Name(w) || !t.Mounts() {
			return false
		}
		return t.Is(message.AlreadyMountedBusy) || t.Is(message.InUseBySystem) || t.Is(message.RBDInUse) || t.Is(message.DeviceBusy) ||
			t.Code == "FailedPrecondition" || inUseElsewhere.MatchString(t.Desc) ||
			slices.ContainsFunc(heldBy.FindAllStringSubmatch(t.Desc, -1), func(m []string) bool {
				n := cloud.MachineNode(pl.X, pl.Volume.CSIName(), strings.TrimRight(m[1], ".:"))
				if n == nil { // no name of this cluster: words of other things have no number
					return strings.ContainsAny(m[1], "0123456789")
				}
				return n.Name != w.Spec.NodeName // on its own node it is there for the pod itself
			})
	})
}

// mounted quotes a node's mount of the volume, where it was seen.
func mounted(pl *evidence.Place, on string) []report.Evidence {
	for _, m := range pl.X.VolumeMounts(pl.Volume, on) {
		return []report.Evidence{evidence.FromMount(on, m.NS, m.Mount)}
	}
	return nil
}
