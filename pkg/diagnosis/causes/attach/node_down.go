package attach

import (
	_ "embed"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed node_down.md
var nodeDownDoc string

// NodeDown finds a volume that is attached to a node which does not report.
var NodeDown = &diagnosis.Rule{
	Name: "node-down", Layer: diagnosis.Attach, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/nodes"), diagnosis.API("/pods")},
	Explains: []string{"multi-attach-error", "pod-waiting-for-volume", "pod-stuck-terminating", "detach-stuck", "attach-failed", "volume-degraded"},
	LeadsTo: []string{"mount-of-dead-device", "device-mapped-on-other-node", "rbd-lock-or-watcher-stale", "filesystem-needs-fsck",
		"attachment-stale-in-backend", "longhorn-volume-faulted", "longhorn-share-manager-down", "longhorn-instance-manager-restarted"},
	YieldsTo: []string{"node-kubelet-down-workload-alive"},
	Doc:      nodeDownDoc,
	Run:      nodeDown,
}

func nodeDown(p *diagnosis.Pass) {
	nodesSeen := p.Collected("/nodes")
	for _, v := range p.Volumes() {
		if !nodesSeen {
			nodeDownUnseen(p, v)
			continue
		}
		for _, l := range lostNodes(p, v) {
			if view, ok := p.Probed(l.Name); ok && lifeOn(p, l, view).Any() {
				continue // node-kubelet-down-workload-alive
			}
			reportNodeDown(p, l)
		}
	}
}

func reportNodeDown(p *diagnosis.Pass, l lostNode) {
	f := l.keyed(p.Find(report.Certain, diagnosis.NodeSubject(l.Name)))
	f.Node(l.Name)
	f.Fact(l.facts(p)...)
	switch {
	case l.Silent:
		f.Missing("the Ready condition of node " + l.Name + " (it still says True)")
	case p.Age(l.Ready.Since) < time.Minute && l.Ready.LeaseAge < time.Minute:
		f.Certainty, f.Waiting = report.Possible, true
	}
	if !l.Holds() {
		f.Missing("an attachment of the volume to node " + l.Name + " (only its pods show that it is used there)")
	}
	power := "Whether the machine is off was not checked: a silent node may still run and write."
	if l.Shutdown {
		power = "It is shown off by the cloud provider (taint " + taintShutdown + ")."
	}
	f.Sayf("%s. %s, nobody can unmount it there, and Kubernetes waits for that%s. %s %s",
		l.silence(p), l.attachedWords(), l.whoWaits(p), power, l.clock(p))
	f.Unless("node " + l.Name + " being Ready again, or a recording of it that shows the volume mounted or its pods alive")
	f.Advise(remedy.Words(fmt.Sprintf("Bring node %s back (power, network, kubelet): the old pod then ends normally and the volume moves by itself.", l.Name)))
	f.Advise(remedy.Words(fencedSteps(p, l)))
	p.Report(f)
}

// whoWaits names the pods that are stuck because of the node.
func (l lostNode) whoWaits(p *diagnosis.Pass) string {
	var parts []string
	for _, pod := range l.Pods {
		if pod.DeletionTimestamp != nil {
			parts = append(parts, fmt.Sprintf("pod %s has been Terminating on it for %s", podName(pod), ago(p, pod.DeletionTimestamp.Time)))
		} else {
			parts = append(parts, fmt.Sprintf("pod %s is still bound to it", podName(pod)))
		}
	}
	if len(l.Pods) == 0 {
		parts = append(parts, "no pod of the volume is left on it in the API")
	}
	for _, w := range l.Waiters {
		parts = append(parts, fmt.Sprintf("pod %s waits for the volume on node %s", podName(w), w.Spec.NodeName))
	}
	return ": " + strings.Join(parts, "; ")
}

// clock says which timer of Kubernetes runs now.
func (l lostNode) clock(p *diagnosis.Pass) string {
	const force = "6 minutes after the last pod object of the volume has left the node the controller detaches by force, unless that is switched off or the controller restarts"
	switch {
	case len(l.Pods) == 0:
		return "The clock: " + force + "."
	case len(deleted(l.Pods)) > 0:
		return "The clock: a pod on a node that does not report stays Terminating until it is deleted by force or the node comes back; " + force + "."
	case l.Ready.Since.IsZero():
		return "The clock: pods are evicted when their toleration of the unreachable taint ends (300s by default); " + force + "."
	}
	return fmt.Sprintf("The clock: pods are evicted when their toleration of the unreachable taint ends (300s by default, counted from %s); %s.",
		l.Ready.Since.UTC().Format("15:04:05"), force)
}

// fencedSteps says in words what may be done once the machine is known to be off.
// Each of these lets a second node write, so none is printed as a command.
func fencedSteps(p *diagnosis.Pass, l lostNode) string {
	s := fmt.Sprintf("If node %s cannot come back: first make sure that the machine is off or fenced (console, hypervisor, power switch, storage). ", l.Name)
	if l.Shutdown {
		s = fmt.Sprintf("If node %s cannot come back: the cloud provider shows it off; make sure that nobody starts it meanwhile. ", l.Name)
	}
	s += "Two nodes that write one filesystem destroy it. Only then "
	if versionAtLeast(p.Server, 1, 26) {
		s += "mark the node as out of service with the taint of that name (its pods are then removed and its volumes detached at once; take the taint off after recovery), or "
	}
	return s + "remove the old pod object by force and wait 6 minutes for the forced detach; removing the attachment by hand is the last step, not the first. " +
		"Verify: the attachment to the old node is gone and the waiting pod's node has the volume."
}

// nodeDownUnseen judges by pods alone when nodes could not be read: the node
// lifecycle controller leaves its marks on the pods of a node that it lost.
func nodeDownUnseen(p *diagnosis.Pass, v *snapshot.Volume) {
	for _, c := range v.Terminating() {
		pod := c.Pod
		mark, ok := lostMark(p, pod)
		if !ok || pod.Spec.NodeName == "" {
			continue
		}
		l := lostNode{Name: pod.Spec.NodeName, Volume: v, Pods: unfinishedOn(v, pod.Spec.NodeName), Waiters: waitersAwayFrom(v, pod.Spec.NodeName)}
		f := l.keyed(p.Find(report.Likely, diagnosis.NodeSubject(l.Name)))
		f.Node(l.Name)
		f.Fact(mark, diagnosis.FromAPI(podFact(pod)))
		for _, w := range l.Waiters {
			f.Fact(diagnosis.FromAPI(podFact(w)))
		}
		gap, _ := p.GapFor("/nodes")
		p.Has("/nodes")
		p.Has("storage.k8s.io/volumeattachments")
		f.Missing(fmt.Sprintf("the Ready condition of node %s: nodes could not be read (%s)", l.Name, gap.Reason))
		f.Sayf("Node %s is probably down: the node controller marked its pod %s as not ready while its containers were running, and it is still Terminating after %s%s. "+
			"Nodes could not be read (%s), so whether the node reports again, is off or only cut off, and what is attached to it, is not known.",
			l.Name, podName(pod), ago(p, pod.DeletionTimestamp.Time), l.whoWaits(p), gap.Reason)
		f.Unless("node " + l.Name + " being Ready")
		f.Advise(remedy.Words(fmt.Sprintf("Ask somebody who may read nodes whether node %s reports, and have it brought back. Nothing that lets a second node write may be done before it is known to be off.", l.Name)))
		p.Report(f)
	}
}

// lostMark finds the mark of a lost node on a pod: Ready False although every
// container is ready (MarkPodsNotReady in pkg/controller/util/node), the reason
// NodeLost of older versions, or the controller's event.
func lostMark(p *diagnosis.Pass, pod *corev1.Pod) (report.Evidence, bool) {
	name := "Pod " + podName(pod)
	if pod.Status.Reason == "NodeLost" || pod.Status.Phase == corev1.PodUnknown {
		return diagnosis.FromAPI(name, "status", fmt.Sprintf("phase %s reason %s", pod.Status.Phase, pod.Status.Reason)), true
	}
	for _, e := range p.Events("Pod", pod.Namespace, pod.Name) {
		if e.Reason == "NodeNotReady" {
			return report.Evidence{Source: "event", Locator: "Event " + name + " NodeNotReady", Text: e.Message}, true
		}
	}
	for _, c := range pod.Status.Conditions {
		before := pod.DeletionTimestamp == nil || c.LastTransitionTime.Time.Before(pod.DeletionTimestamp.Time.Add(-time.Minute))
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse && c.Reason == "" && allReady(pod) && before {
			return diagnosis.FromAPI(name, "status.conditions[Ready]", "False since "+c.LastTransitionTime.UTC().Format(time.RFC3339)+" while every container is ready"), true
		}
	}
	return report.Evidence{}, false
}

func allReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.ContainerStatuses {
		if !c.Ready {
			return false
		}
	}
	return len(pod.Status.ContainerStatuses) > 0
}
