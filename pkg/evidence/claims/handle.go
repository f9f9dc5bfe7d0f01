package claims

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Twins are two PersistentVolumes that are one volume to the kubelet, and a pod that waits.
type Twins struct {
	Older, Newer *snapshot.Volume
	Waiter       *corev1.Pod
	Here         evidence.Answer // both are used on the pod's node
	Apart        bool            // they are used on two nodes, and one disk is for one
	Alone        evidence.Answer // nothing else is known to keep the pod waiting
}

// TwinsOf finds the volumes with the driver and handle of the place's one that keep a pod
// waiting with it.
func TwinsOf(pl *evidence.Place) []Twins {
	v := pl.Volume
	if v.PV == nil || v.PV.Spec.CSI == nil || v.Handle == "" {
		return nil
	}
	var out []Twins
	for _, o := range pl.X.VolumesOfHandle(v.Driver, v.Handle) {
		if o == v || o.PV == nil || o.PV.Spec.CSI == nil {
			continue
		}
		for _, w := range append(stuck(pl.X, v), stuck(pl.X, o)...) {
			if t, ok := twins(pl, o, w); ok {
				out = append(out, t)
				break
			}
		}
	}
	return out
}

// stuck are the pods of a volume that were placed and have waited for longer than the
// kubelet's own patience (2m3s).
func stuck(x *snapshot.Index, v *snapshot.Volume) []*corev1.Pod {
	var out []*corev1.Pod
	for _, w := range v.Waiting() {
		if w.Node() != "" && x.Age(w.Pod.CreationTimestamp.Time) > 2*time.Minute {
			out = append(out, w.Pod)
		}
	}
	return out
}

func twins(pl *evidence.Place, o *snapshot.Volume, w *corev1.Pod) (Twins, bool) {
	v, node := pl.Volume, w.Spec.NodeName
	here := len(v.LiveConsumersOn(node)) > 0 && len(o.LiveConsumersOn(node)) > 0
	rivals := v.Exclusive() && o.Exclusive() && len(v.Live()) > 0 && len(o.Live()) > 0 &&
		(keptFrom(w, v, o) || said(pl, w, func(s string) bool { return strings.Contains(s, "Multi-Attach error") }) != nil)
	if !here && !rivals || bothMounted(pl.X, w, v, o) {
		return Twins{}, false
	}
	t := Twins{Older: o, Newer: v, Waiter: w, Apart: !here, Here: evidence.Yes(handleFact(o), handleFact(v))}
	if older := v.PV.CreationTimestamp; older.Before(&o.PV.CreationTimestamp) || older.Equal(&o.PV.CreationTimestamp) && v.PV.Name < o.PV.Name {
		t.Older, t.Newer = v, o
	}
	quiet := evidence.ResourceIn(pl.X, "/events", w.Namespace)
	if !consumes(v, w) || !consumes(o, w) { // two pods may have got both: what is mounted below the one that waits tells
		quiet = quiet.And(evidence.TablesFor(pl.X, v, node, probes.Mounts))
	}
	t.Alone = quiet.Nothing()
	if !here {
		t.Here = evidence.Unseen(evidence.Lack{Need: "both volumes used on one node", Node: node, Why: "each is used on its own"}).With(t.Here.Facts()...)
	} else if other := otherReason(pl, w); other != nil {
		t.Alone = evidence.Unseen(evidence.Lack{Need: "that the pod has no other reason to wait", Node: node, Why: "a step fails"}).With(other...)
	}
	return t, true
}

// keptFrom tells whether one of the volumes is attached where its pod lives, and none where another waits: of that the
// attach-detach controller makes one event, which is soon old (MultiAttachErrorReported of its reconciler).
func keptFrom(w *corev1.Pod, volumes ...*snapshot.Volume) bool {
	used := false
	for _, v := range volumes {
		for _, va := range v.Attachments {
			if va.Spec.NodeName == w.Spec.NodeName {
				return false
			}
			used = used || va.Status.Attached && len(v.LiveConsumersOn(va.Spec.NodeName)) > 0
		}
	}
	return used
}

func consumes(v *snapshot.Volume, w *corev1.Pod) bool {
	return slices.ContainsFunc(v.Consumers, func(c *snapshot.Consumer) bool { return c.Pod == w })
}

func handleFact(v *snapshot.Volume) report.Evidence {
	return evidence.FromAPI("PersistentVolume "+v.PV.Name, "spec.csi.volumeHandle", v.Handle)
}

// otherReason is a fresh word about a step that failed: then the pod may wait for another
// reason than two names for one volume. The kubelet's summary is none.
func otherReason(pl *evidence.Place, w *corev1.Pod) []report.Evidence {
	for _, t := range pl.Refused() {
		if ofStep(t.Op) || t.Reason == "attachError" {
			return []report.Evidence{t.Evidence()}
		}
	}
	return said(pl, w, func(s string) bool { return ofStep(message.Parse(s).Op) })
}

func ofStep(op string) bool {
	return strings.HasPrefix(op, "MountVolume") || strings.HasPrefix(op, "AttachVolume") || strings.HasPrefix(op, "MapVolume")
}

// said quotes the newest fresh event of a pod that says something.
func said(pl *evidence.Place, w *corev1.Pod, what func(string) bool) []report.Evidence {
	for _, e := range slices.Backward(pl.X.Events("Pod", w.Namespace, w.Name)) {
		if pl.X.Fresh(e, w.CreationTimestamp.Time) && what(e.Message) {
			return []report.Evidence{{Source: "event", Node: e.Host, Locator: "Event Pod " + w.Namespace + "/" + w.Name + " " + e.Reason, Text: e.Message}}
		}
	}
	return nil
}

// UsedBy names a volume's live pods with their nodes.
func UsedBy(v *snapshot.Volume) string {
	var out []string
	for _, c := range v.Live() {
		text := c.Pod.Namespace + "/" + c.Pod.Name
		if c.Node() != "" {
			text += " on " + c.Node()
		}
		out = evidence.Once(out, text)
	}
	if out == nil {
		out = []string{"no pod"}
	}
	return v.PV.Name + " by " + strings.Join(out, ", ")
}

// bothMounted tells whether the pod's node has a mount for each of the two below the pod:
// then it waits for something else.
func bothMounted(x *snapshot.Index, w *corev1.Pod, volumes ...*snapshot.Volume) bool {
	view := x.View(w.Spec.NodeName)
	return view != nil && !slices.ContainsFunc(volumes, func(v *snapshot.Volume) bool {
		return !slices.ContainsFunc(view.VolumePaths(), func(m snapshot.VolumeMount) bool {
			return m.Path.Kind == snapshot.Publish && m.Path.PodUID == string(w.UID) && m.Path.PV == v.PV.Name
		})
	})
}

// Twice is a pod with the same claim in two of its volumes, which kubelets count as one and
// wait for the other.
type Twice struct {
	Pod   *corev1.Pod
	Names []string
	Is    evidence.Answer
	Waits evidence.Answer // the kubelet's summary misses one of the names and not another
}

// TwiceIn finds the stuck pods that name the place's claim twice while no step fails.
func TwiceIn(pl *evidence.Place) []Twice {
	v := pl.Volume
	if v.PV == nil || v.PV.Spec.CSI == nil || v.Handle == "" || v.Claim == nil || v.Claim.Status.Phase != corev1.ClaimBound {
		return nil
	}
	var out []Twice
	for _, w := range stuck(pl.X, v) {
		t := Twice{Pod: w}
		for _, c := range v.Consumers {
			if c.Pod == w {
				t.Names = append(t.Names, c.Volume)
			}
		}
		va := v.AttachmentOn(w.Spec.NodeName)
		early := v.AttachRequired(pl.X) && (va == nil || !va.Status.Attached) // it has not come that far
		if len(t.Names) < 2 || early || otherReason(pl, w) != nil || slices.ContainsFunc(out, func(o Twice) bool { return o.Pod == w }) {
			continue
		}
		t.Is = evidence.Yes(evidence.FromPod(w, "spec.volumes", fmt.Sprintf("%s: persistentVolumeClaim %s", strings.Join(t.Names, ", "), v.Claim.Name)))
		t.Waits = onlyOneWaits(pl, t.Names, w.Spec.NodeName)
		out = append(out, t)
	}
	return out
}

// onlyOneWaits finds the kubelet's fresh summary in which one of the names is unmounted and
// another one is not.
func onlyOneWaits(pl *evidence.Place, names []string, node string) evidence.Answer {
	for _, t := range pl.Refused() {
		if len(t.Unmounted) == 0 {
			continue
		}
		waits := len(evidence.Keep(names, func(n string) bool { return slices.Contains(t.Unmounted, n) }))
		if waits > 0 && waits < len(names) {
			return evidence.Yes(t.Evidence())
		}
		break
	}
	return evidence.Unseen(evidence.Lack{Need: "whether this kubelet counts the two as one", Node: node, Why: "its mounts on the node were not compared"})
}
