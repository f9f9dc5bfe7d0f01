package diagnosis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/around"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/filesystem"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// says is the answer of the doctor who does not know: where it hurts, and who says so. It is
// empty where the symptom itself says that.
func (z puzzle) says() string {
	on := ""
	if z.node != "" {
		on = " on node " + z.node
	}
	if words := cmp.Or(z.nested(), z.unmade(on)); words != "" {
		return words
	}
	if own, source, ok := z.ofPod(); ok {
		return "The kubelet" + on + " cannot set up volume " + own + " of pod " + z.s.Subject.Namespace + "/" + z.s.Subject.Name + " (" + source + ")."
	}
	if z.volume == nil || z.step == Provisioning && z.volume.PV != nil { // it was made
		return ""
	}
	if pod, left := z.unplaced(); pod != nil {
		return z.noNode(pod, left)
	}
	if z.dark() {
		return "Node " + z.node + " has not reported for " + evidence.Duration(z.p.Age(z.p.NodeReady(z.node).Since)) + ", so nobody acts there for the volume."
	}
	does, _ := actsOf(z.step)
	if does == "" {
		return ""
	}
	if kept := cmp.Or(z.keptObject(), z.runsOn(), z.stillWith(), z.watched(), z.nowhere(), z.sealed()); kept != "" {
		return kept
	}
	if z.shrunk() {
		return "The device of the volume" + on + " is smaller than its filesystem: it must get its size back first, as a check would cut off what lies beyond its end."
	}
	return z.acts(on)
}

// acts is the answer from what was said of the step itself: nothing, or who refuses it, or is late with it.
func (z puzzle) acts(on string) string {
	who := z.actor()
	does, silent := actsOf(z.step)
	towards := on
	if to := map[Step]string{Attaching: " to", Detaching: " from"}[z.step]; to != "" {
		towards = strings.Replace(on, " on", to, 1)
	}
	if z.text == nil || z.ofKubelet() && slices.Contains(byController, z.step) { // who only waits has refused nothing
		return "The volume is " + silent + towards + z.complaint() + "."
	}
	if z.text.Reason == "FailedKillPod" {
		return "The container runtime" + on + " does not end the pod, so nobody was asked to " + does + " the volume yet."
	}
	if z.text.Is(message.WaitingExternalAttach) { // the word of who waited, not of who refused
		return "The volume is " + silent + towards + ": the attach-detach controller got no answer to its VolumeAttachment in time."
	}
	act := does + " the volume"
	if towards != on {
		act, on = act+towards, ""
	}
	if z.text.Is(message.Deadline) || z.text.Code == "Aborted" && z.text.Is(message.AbortedPending) {
		return z.late(who+on, act)
	}
	if z.ofAPI() {
		return "The API server does not take what would " + act + on + ": nobody was asked to."
	}
	return who + on + " refuses to " + act + "."
}

// complaint ends a sentence about a step of which no text speaks: who might say more.
func (z puzzle) complaint() string {
	switch {
	case z.logged:
		return ", and the log of its driver has a complaint"
	case slices.ContainsFunc(z.s.Evidence, func(e report.Evidence) bool { return e.Source == "log" }):
		return ", and a log has the complaint"
	case z.s.Name == "multi-attach-error": // its one event names who has it, as far as anybody knows
		return ": as the attach-detach controller says, another node still has it"
	}
	return cmp.Or(z.warner(), z.called(), z.populator(), ", and nobody says why")
}

// populator says who shall make the volume where the provisioner of the class leaves it alone.
func (z puzzle) populator() string {
	_, resource, name := claims.Populator(z.volume.Claim)
	if resource == "" || z.step != Provisioning {
		return ""
	}
	return ": a volume populator shall fill it from " + resource + " " + name + ", and nobody says why it does not"
}

// late says who did not answer in time: who hangs has refused nothing, and who answers that has waited itself.
func (z puzzle) late(who, act string) string {
	if !slices.Contains(silent, z.text.Code) {
		return who + " cannot " + act + ": what it waits for does not come in time."
	}
	return who + " is asked to " + act + ", and does not answer in time."
}

// byController are the steps that no kubelet takes.
var byController = []Step{Provisioning, Attaching, Detaching, Deleting}

// actor names who acts on the volume: of a plugin in Kubernetes itself the kubelet is one part, and the
// controller manager the other; a provisioner of its own signs what it says.
func (z puzzle) actor() string {
	if name := z.volume.CSIName(); name != "" && !z.ofKubelet() {
		return "The driver " + name
	}
	if !slices.Contains(byController, z.step) {
		return "The kubelet"
	}
	if z.text != nil && z.text.Reason == "VolumeFailedDelete" && z.text.Component != "persistentvolume-controller" && z.text.Component != "" {
		name, _, _ := strings.Cut(z.text.Component, "_")
		return "Provisioner " + name
	}
	return "The controller manager"
}

// ofAPI tells whether a component of Kubernetes could not write down what the step needs: a driver's
// words have a code of gRPC, and who reads a Secret for a mount is refused a right of its own.
func (z puzzle) ofAPI() bool {
	return z.text.Code == "" && z.text.Component != "kubelet" && z.text.Is(message.NotAdmitted)
}

// shrunk tells whether a tool or the kernel says that the device ends before its filesystem does.
func (z puzzle) shrunk() bool {
	for _, pl := range z.p.placesOf(z.volume).nodes {
		if pl.Node == z.node && filesystem.Short(pl).Yes() {
			return true
		}
	}
	return false
}

// warner tells who warns about the claim where nobody refuses a step: the symptom shows the words.
func (z puzzle) warner() string {
	c := z.volume.Claim
	if c == nil {
		return ""
	}
	for _, e := range slices.Backward(z.p.Events("PersistentVolumeClaim", c.Namespace, c.Name)) {
		if who, _, _ := strings.Cut(e.Component, "_"); who != "" && e.Type == corev1.EventTypeWarning && slices.Contains(z.s.Evidence, evidence.FromEvent(claims.Object(c), e)) {
			return ", and " + who + " warns about its claim"
		}
	}
	return ""
}

// called names a process that was called for the volume and does not come back, where nobody says more.
func (z puzzle) called() string {
	if z.p.View(z.node) == nil {
		return ""
	}
	if q := around.Called(z.p.Index, z.volume, z.node); q != nil {
		return fmt.Sprintf(": process %d (%s) waits for that inside the kernel (%s)", q.PID, q.Comm, cmp.Or(q.WChan, "D"))
	}
	return ""
}

// unmade says who refuses to make a container, where nothing is said of the volume.
func (z puzzle) unmade(on string) string {
	if by := z.containerRefused(); z.text == nil && by != "" {
		return by + on + " refuses to make a container with the volumes of the pod."
	}
	return ""
}

// nested says that a mount of the pod would lie inside one that is read-only.
func (z puzzle) nested() string {
	pod := z.p.Pod(z.s.Subject.Namespace, z.s.Subject.Name)
	if z.s.Subject.Kind != "Pod" || pod == nil {
		return ""
	}
	for _, t := range z.p.PodTexts(pod) {
		if words := pods.Nested(pod, t); t.Fresh && words != "" {
			return words
		}
	}
	return ""
}

// ofKubelet tells whether it is the kubelet itself that fails: what a driver answers it has a
// code of gRPC, and so has what the container runtime answers.
func (z puzzle) ofKubelet() bool {
	return z.text == nil && z.containerRefused() != "" || z.text != nil && z.text.Component == "kubelet" && (z.text.Code == "" || z.text.OfContainer())
}

// dark tells whether the step is one of a node whose kubelet does not report.
func (z puzzle) dark() bool {
	r := z.p.NodeReady(z.node)
	return slices.Contains(onTheNode, z.step) && z.node != "" && r.Known && !r.Ready
}

// actsOf names a step as an act, and as what does not happen.
func actsOf(s Step) (does, silent string) {
	switch s {
	case Provisioning:
		return "make", "not made"
	case Attaching:
		return "attach", "not attached"
	case Staging:
		return "mount", "not mounted"
	case Publishing:
		return "publish", "not published to the pod"
	case Unmounting:
		return "unmount", "not unmounted"
	case Detaching:
		return "detach", "not detached"
	case Resizing:
		return "resize", "not resized"
	case Deleting:
		return "delete", "not deleted"
	}
	return "", ""
}
