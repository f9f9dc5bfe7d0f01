package diagnosis

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/around"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/detach"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nodeplugin"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// puzzle is what is known of a symptom that no cause explains: the step at which a
// volume stops, what was seen there, what it is not, and where to look next. It states
// facts; nothing in it makes a cause likelier.
type puzzle struct {
	p      *Pass
	s      *Symptom
	volume *snapshot.Volume
	node   string
	step   Step
	text   *Text // the newest complaint of the step
	logged bool  // the driver's log has a complaint
}

// stepOfSymptom is where a volume stops that shows a symptom. A pod that waits tells
// by its volume (see waitsAt).
var stepOfSymptom = map[string]Step{
	"claim-pending": Provisioning, "attach-failed": Attaching, "multi-attach-error": Attaching, "volume-attach-loop": Attaching,
	"share-manager-failing": Serving, "mount-failed": Staging, "mount-busy": Staging, "format-failed": Staging, "fsck-failed": Staging,
	"volume-io-error": Using, "volume-readonly": Using, "volume-hung": Using, "unmount-blocked": Unmounting, "pod-stuck-terminating": Unmounting,
	"detach-stuck": Detaching, "expansion-pending": Resizing, "modification-pending": Modifying, "volume-degraded": Replicating,
}

// puzzleOf finds the place of a symptom: of several volumes the one that was refused,
// else the first that is not in its pod yet, or not out of it.
func (p *Pass) puzzleOf(s *Symptom) puzzle {
	z := puzzle{p: p, s: s, step: stepOfSymptom[s.Name], node: s.Subject.Node}
	if z.node == "" && len(s.at.list) > 0 {
		z.node = s.at.list[0]
	}
	for _, v := range p.volumesOf(&s.Keys) {
		t := p.refusal(v, z.node, z.stepOf(v))
		if s.Subject.Kind == "Pod" && t == nil && z.step != Unmounting && p.published(v, s.Subject) {
			continue
		}
		if t != nil && z.text == nil || z.volume == nil {
			z.volume, z.text = v, t
		}
	}
	if z.volume == nil {
		if z.step == "" && s.Subject.Kind == "Pod" {
			z.step = Publishing // a Secret, a ConfigMap, a directory of the node: nothing is attached
		}
		return z
	}
	for _, c := range z.volume.Waiting() {
		if z.node == "" {
			z.node = c.Node()
		}
	}
	if z.step = z.stepOf(z.volume); z.step == "" {
		z.step = z.waitsAt()
	}
	switch {
	case z.step == Staging && z.text != nil && strings.HasSuffix(z.text.Op, ".SetUp"):
		z.step = Publishing
	case z.step == Provisioning && !snapshot.BindsLate(z.volume.Class):
		z.node = "" // whose pod waits does not matter to who makes it
	}
	return z
}

// telling orders symptoms: one with words of who acted comes before one without, and any before the mere
// waiting of a pod, or where nobody knows where to look. A volume that does not leave one node cannot come to
// another, and one that is not unmounted is not detached: of those that tell equally much, that comes first.
func telling(name string, step Step, words, looks bool) int {
	n := 0
	if !words {
		n += 8
	}
	if name == "pod-waiting-for-volume" || !looks {
		n += 4
	}
	switch step {
	case Unmounting:
	case Detaching:
		n++
	default:
		n += 2
	}
	return n
}

func (z puzzle) telling() int { return telling(z.s.Name, z.step, z.text != nil, true) }

// stepOf is the step of the symptom for a volume: what is left to do with one whose claim is
// gone, or goes and was bound, is to delete it.
func (z puzzle) stepOf(v *snapshot.Volume) Step {
	lh := v.LH()
	going := v.PV != nil && (v.Claim == nil || v.Claim.DeletionTimestamp != nil && len(v.Waiting()) == 0) || lh != nil && lh.DeletionTimestamp != nil
	if z.step == Provisioning && going {
		return Deleting
	}
	return z.step
}

// alone is the step that a text is about when texts of other steps say nothing of it.
func alone(t Text) Step {
	switch {
	case claims.OfModification(t):
		return Modifying
	case t.Deletes():
		return Deleting
	}
	return ""
}

// refusal is the newest text in which who acts on a volume refuses a step. The
// kubelet's summary that a pod waits is none.
func (p *Pass) refusal(v *snapshot.Volume, node string, of Step) *Text {
	unmounts := of == Unmounting
	if of != Modifying && of != Deleting {
		of = ""
	}
	for _, t := range p.Texts(v) {
		if unmounts && strings.HasPrefix(t.Locator, "VolumeAttachment ") {
			continue // words of who attaches
		}
		if alone(t) == of && t.Fresh && !t.Ordinary && (t.Op != "" || t.Code != "" || t.Deletes() || t.Reason == "VolumeModifyFailed" || strings.HasSuffix(t.Locator, "Error")) && (t.Node == "" || node == "" || t.Node == node) {
			return &t
		}
	}
	return nil
}

// published tells whether a volume was seen mounted in the directory of a pod: it is
// not the one for which the pod waits.
func (p *Pass) published(v *snapshot.Volume, pod report.Subject) bool {
	for _, c := range v.Consumers {
		if c.Pod.Namespace != pod.Namespace || c.Pod.Name != pod.Name {
			continue
		}
		for _, m := range p.VolumeMounts(v, c.Node()) {
			if m.Path.PodUID == string(c.Pod.UID) {
				return true
			}
		}
	}
	return false
}

// waitsAt is the first step of the volume of a waiting pod that did not happen.
func (z puzzle) waitsAt() Step {
	switch v := z.volume; {
	case v.PV == nil && v.Claim != nil && v.Claim.Spec.VolumeName == "":
		return Provisioning
	case v.AttachRequired(z.p.Index) && z.node != "":
		if va := v.AttachmentOn(z.node); va == nil || !va.Status.Attached {
			return Attaching
		}
	}
	return Staging
}

// silence is what says that the node does not report.
func (z puzzle) silence() []report.Evidence {
	if !z.dark() {
		return nil
	}
	return detach.Silent(z.p.Index, z.node).Facts()
}

// away are Longhorn's processes that would have to run for the step, and the replicas that it goes without.
func (z puzzle) away() []report.Evidence {
	if slices.Contains([]Step{Staging, Using}, z.step) {
		return longhorn.Modes(z.p.Index, z.volume)
	}
	if slices.Contains([]Step{Attaching, Detaching, Serving}, z.step) {
		return longhorn.Away(z.p.Index, z.volume, z.node)
	}
	return nil
}

// seen is what was seen around a volume where its step failed. What a driver's log tells is kept: then
// it is not so that nobody says why.
func (z *puzzle) seen(awaited []*corev1.Pod) []report.Evidence {
	x, v, node, texts := z.p.Index, z.volume, z.node, z.p.Texts(z.volume)
	said := around.Said(x, v, node, string(z.step), texts)
	if z.step == Attaching {
		said = append(longhorn.EngineSaid(x, v), said...)
	}
	z.logged = slices.ContainsFunc(said, func(e report.Evidence) bool { return around.Complains(e.Text) })
	var out []report.Evidence
	for _, pod := range awaited {
		out = append(out, around.WhyNot(x, pod)...)
	}
	return slices.Concat(z.silence(), z.away(), out, around.Hung(x, v, node), around.Taken(x, v, node, texts), around.Unstaged(x, v, node, string(z.step), texts), around.Withheld(x, v, node), around.ReadOnly(x, node, texts), around.Inside(x, v, node), around.Unready(x, v, node, string(z.step)),
		around.Sessions(x, v, node), around.Portals(x, v, node, texts), around.Kernel(x, v, node, texts), said, around.Changed(x, v, node))
}

// quoted is the text of which the answer speaks, where the symptom does not show it.
func (z puzzle) quoted() []report.Evidence {
	if z.text == nil || slices.Contains(z.s.Evidence, z.text.Evidence()) {
		return nil
	}
	return []report.Evidence{z.text.Evidence()}
}

// unexplained completes a symptom to what a person can go on with.
func (c *Catalog) unexplained(p *Pass, s *Symptom, out report.Symptom) report.Unexplained {
	z := p.puzzleOf(s)
	u := report.Unexplained{Symptom: out, Step: string(z.step)}
	if z.text != nil && !z.text.At.IsZero() {
		u.Last = z.text.At.UTC().Format(time.RFC3339)
	}
	if p.Question.Outline {
		return u
	}
	u.CouldBe = c.couldBe(p, s)
	if z.volume == nil {
		u.Answer, u.Next = z.says(), z.looksAtPod()
		return u
	}
	u.Times = around.Times(p.Index, z.volume, z.text)
	awaited := around.Awaited(p.Index, z.volume, p.Texts(z.volume))
	u.Seen, u.Answer = slices.Concat(z.quoted(), z.seen(awaited)), z.says()
	u.RuledOut, u.Works = c.ruledOut(p, z), around.Works(p.Index, z.volume, z.node)
	next := evidence.Each(awaited[:min(len(awaited), 1)], func(p *corev1.Pod) remedy.Step {
		if nodeplugin.Backs(p) {
			return remedy.PodLooks(p, "A pod of the driver's namespace on the node that does not run.")
		}
		return remedy.PodLooks(p, "The pod that the driver waits for.")
	})
	next = append(append(next, z.onItsOtherNodes()...), remedy.Next(p.Index, z.volume, z.node, string(z.step), z.text != nil && z.text.Code != "", z.ofKubelet())...)
	if pod, left := z.unplaced(); pod != nil {
		next = remedy.Placing(pod, left)
	}
	if z.dark() { // neither a log nor a program of it can be had
		next = []remedy.Step{remedy.Check("What is known of the node.", remedy.Kubectl("describe", "node", z.node))}
	}
	u.Next = slices.Grow(u.Next, len(next))
	for _, step := range next {
		if r, ok := step.Decide(p.Index); ok {
			u.Next = append(u.Next, r)
		}
	}
	return u
}
