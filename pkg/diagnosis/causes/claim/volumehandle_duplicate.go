package claim

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed volumehandle_duplicate.md
var volumehandleDuplicateDoc string

// VolumehandleDuplicate finds volumes that kubelet and attach-detach controller take
// for one: two PVs with one driver and handle, or one claim twice in one pod.
var VolumehandleDuplicate = &diagnosis.Rule{
	Name: "volumehandle-duplicate", Layer: diagnosis.Claim, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/persistentvolumes"), diagnosis.API("/pods")},
	Explains: []string{"pod-waiting-for-volume", "mount-failed", "multi-attach-error"},
	Doc:      volumehandleDuplicateDoc,
	Run: func(p *diagnosis.Pass) {
		byKey := map[string][]*snapshot.Volume{}
		for _, v := range p.Index.Volumes {
			if ofCSI(v) {
				byKey[v.Key()] = append(byKey[v.Key()], v)
			}
		}
		for _, v := range p.Volumes() {
			if !ofCSI(v) {
				continue
			}
			for _, o := range byKey[v.Key()] {
				if o != v {
					sameHandle(p, v, o)
				}
			}
			namedTwice(p, v)
		}
	},
}

func ofCSI(v *snapshot.Volume) bool { return v.PV != nil && v.PV.Spec.CSI != nil && v.Handle != "" }

// stuckPods are the pods of a volume that were placed and have waited for longer than
// the kubelet's own patience (2m3s).
func stuckPods(p *diagnosis.Pass, v *snapshot.Volume) []*corev1.Pod {
	var out []*corev1.Pod
	for _, w := range v.Waiting() {
		if w.Pod.Spec.NodeName != "" && w.Pod.DeletionTimestamp == nil && p.Age(w.Pod.CreationTimestamp.Time) > 2*time.Minute {
			out = append(out, w.Pod)
		}
	}
	return out
}

// sameHandle judges two PVs that are one volume to the kubelet: a pod waits on a node
// where the other is used, too.
func sameHandle(p *diagnosis.Pass, v, o *snapshot.Volume) {
	for _, w := range append(stuckPods(p, v), stuckPods(p, o)...) {
		node := w.Spec.NodeName
		mine, theirs := v.LiveConsumersOn(node), o.LiveConsumersOn(node)
		here := len(mine) > 0 && len(theirs) > 0
		rivals := v.Exclusive() && o.Exclusive() && p.Suffers(v, "multi-attach-error") && (len(v.Live()) > 0 && len(o.Live()) > 0)
		if !here && !rivals || bothMounted(p, w, v, o) {
			continue
		}
		newer, older := v, o
		if older.PV.CreationTimestamp.After(newer.PV.CreationTimestamp.Time) || older.PV.CreationTimestamp.Equal(&newer.PV.CreationTimestamp) && older.PV.Name > newer.PV.Name {
			newer, older = older, newer
		}
		f := p.Find(report.Certain, diagnosis.ObjectSubject("PersistentVolume", "", newer.PV.Name)).On(v).On(o).Located(node)
		f.Pod(w)
		f.Fact(handleFact(older), handleFact(newer))
		users := consumersText(v) + "; " + consumersText(o)
		if !here {
			f.Missing("both volumes used on one node")
		} else if said, other := specific(p, v, o); other {
			f.Missing("that the pod has no other reason to wait")
			f.Fact(said)
		}
		f.Object("pv", v.PV.Name)
		f.Object("pv", o.PV.Name)
		f.Sayf("PersistentVolumes %s and %s have one volumeHandle, %q, with driver %s. To the kubelet and to the attach-detach controller they are one volume: one is attached and staged for both, and pod %s/%s waits for the other on node %s without an end. Used by: %s.",
			older.PV.Name, newer.PV.Name, v.Handle, v.Driver, w.Namespace, w.Name, node, users)
		f.Unless("different handles, or a node with a mount for each of the two")
		f.Advise(remedy.Words(fmt.Sprintf("Give each volume a handle of its own: with policy Retain, make PersistentVolume %s anew with another volumeHandle (many drivers ignore a suffix such as ##name, or tell a rule for it), or let one claim serve both with two subPaths. The policy must be Retain before a PersistentVolume is removed.", newer.PV.Name)))
		p.Report(f)
		return
	}
}

func handleFact(v *snapshot.Volume) report.Evidence {
	return diagnosis.FromAPI("PersistentVolume "+v.PV.Name, "spec.csi.volumeHandle", v.Handle)
}

// consumersText names a volume's live pods with their nodes.
func consumersText(v *snapshot.Volume) string {
	var out []string
	for _, c := range v.Live() {
		text := c.Pod.Namespace + "/" + c.Pod.Name
		if c.Node() != "" {
			text += " on " + c.Node()
		}
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	if out == nil {
		out = []string{"no pod"}
	}
	return v.PV.Name + " by " + strings.Join(out, ", ")
}

// specific is a fresh word about a step that failed: then the pod may wait for another
// reason than two names for one volume. The kubelet's summary is none.
func specific(p *diagnosis.Pass, volumes ...*snapshot.Volume) (report.Evidence, bool) {
	for _, v := range volumes {
		for _, t := range p.Texts(v) {
			if t.Fresh && (strings.HasPrefix(t.Op, "MountVolume") || strings.HasPrefix(t.Op, "AttachVolume") || strings.HasPrefix(t.Op, "MapVolume") || t.Reason == "attachError") {
				return t.Evidence(), true
			}
		}
	}
	return report.Evidence{}, false
}

// bothMounted tells whether the pod's node has a mount for each of the two below the
// pod: then it waits for something else.
func bothMounted(p *diagnosis.Pass, w *corev1.Pod, volumes ...*snapshot.Volume) bool {
	view := p.View(w.Spec.NodeName)
	if view == nil {
		return false
	}
	for _, v := range volumes {
		found := slices.ContainsFunc(view.VolumePaths(), func(m snapshot.VolumeMount) bool {
			return m.Path.Kind == snapshot.Publish && m.Path.PodUID == string(w.UID) && m.Path.PV == v.PV.Name
		})
		if !found {
			return false
		}
	}
	return true
}

// namedTwice judges a pod with the same claim in two of its volumes, which kubelets
// count as one and wait for the other.
func namedTwice(p *diagnosis.Pass, v *snapshot.Volume) {
	for _, w := range stuckPods(p, v) {
		var names []string
		for _, c := range v.Consumers {
			if c.Pod == w {
				names = append(names, c.Volume)
			}
		}
		if len(names) < 2 || v.Claim == nil || v.Claim.Status.Phase != corev1.ClaimBound {
			continue
		}
		if _, other := specific(p, v); other {
			continue
		}
		if va := v.AttachmentOn(w.Spec.NodeName); v.AttachRequired(p.Index) && (va == nil || !va.Status.Attached) {
			continue // it has not come that far
		}
		c := report.Likely
		f := p.Find(c, diagnosis.ObjectSubject("PersistentVolume", "", v.PV.Name)).On(v).Located(w.Spec.NodeName)
		f.Pod(w)
		f.Fact(diagnosis.FromAPI("Pod "+w.Namespace+"/"+w.Name, "spec.volumes", fmt.Sprintf("%s: persistentVolumeClaim %s", strings.Join(names, ", "), v.Claim.Name)))
		f.NotConfirmed = append(f.NotConfirmed, "whether this kubelet counts the two as one (its mounts on the node)")
		if text, ok := onlyOneWaits(p, v, names); ok {
			f.Certainty, f.NotConfirmed = report.Certain, nil
			f.Fact(text)
		}
		f.Sayf("Pod %s/%s names claim %s in %d of its volumes (%s). The kubelet mounts it once and waits for the other for ever; no step fails, so there is no event but its summary.",
			w.Namespace, w.Name, v.Claim.Name, len(names), strings.Join(names, ", "))
		f.Unless("a mount for each of the names, or another volume that the pod waits for")
		f.Advise(remedy.Words("Name the claim once in spec.volumes and use that volume in several volumeMounts, with subPath where the places differ."))
		p.Report(f)
	}
}

// onlyOneWaits finds the kubelet's fresh summary in which one of the names is unmounted
// and another one is not.
func onlyOneWaits(p *diagnosis.Pass, v *snapshot.Volume, names []string) (report.Evidence, bool) {
	for _, t := range p.Texts(v) {
		if !t.Fresh || len(t.Unmounted) == 0 {
			continue
		}
		waits := 0
		for _, n := range names {
			if slices.Contains(t.Unmounted, n) {
				waits++
			}
		}
		return t.Evidence(), waits > 0 && waits < len(names)
	}
	return report.Evidence{}, false
}
