package pods

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Placing is what is known of the scheduler's work on a pod without a node.
type Placing struct {
	Words string   // the scheduler's last sentence
	Gates []string // of spec.schedulingGates
	Said  []evidence.Text

	driver    string   // of the volume that waits
	Unoffered []string // resources which the scheduler misses and no node has
}

// Unscheduled is why the scheduler finds no node for a pod, in its words.
func Unscheduled(pod *corev1.Pod) (why string, ok bool) {
	c := snapshot.PodCondition(pod, corev1.PodScheduled)
	return c.Message, c.Status == corev1.ConditionFalse && c.Message != ""
}

// Unplaced quotes what the scheduler says of a pod that has no node: its condition, which outlives the events, else the last of them.
func Unplaced(x *snapshot.Index, pod *corev1.Pod) report.Evidence {
	if pod.Spec.NodeName != "" {
		return report.Evidence{}
	}
	if why, ok := Unscheduled(pod); ok {
		return evidence.FromPod(pod, "status.conditions[PodScheduled]", why)
	}
	for _, e := range slices.Backward(x.Events("Pod", pod.Namespace, pod.Name)) {
		if e.Reason == "FailedScheduling" {
			return evidence.FromEvent(Object(pod), e)
		}
	}
	return report.Evidence{}
}

// PlacingOf reads the condition PodScheduled, which outlives the events, and the events. The scheduler
// writes both at each attempt, and others may write events: those that say something else are not heard.
func PlacingOf(pl *evidence.Place, pod *corev1.Pod) Placing {
	var out Placing
	if pl.Volume != nil && pl.Volume.Class != nil {
		out.driver = pl.Volume.Class.Provisioner
	}
	for _, g := range pod.Spec.SchedulingGates {
		out.Gates = append(out.Gates, g.Name)
	}
	name := pod.Namespace + "/" + pod.Name
	for _, t := range pl.Texts {
		condition := strings.HasSuffix(t.Locator, "["+string(corev1.PodScheduled)+"]")
		if t.Pod == name && (condition || t.Reason == "FailedScheduling" && t.Fresh) {
			out.Said = append(out.Said, t)
			if condition || out.Words == "" {
				out.Words = t.Raw
			}
		}
	}
	out.Words, _, _ = strings.Cut(out.Words, " preemption:")
	out.Unoffered = unoffered(pl.X, out.Words)
	if _, ok := Unscheduled(pod); ok {
		out.Said = slices.DeleteFunc(out.Said, func(t evidence.Text) bool { return !strings.HasPrefix(t.Raw, out.Words) })
	}
	return out
}

// Unplaced asks whether the scheduler looked for a node for a pod and says that none fits.
func (p Placing) Unplaced(pod *corev1.Pod) evidence.Answer {
	if pod.Spec.NodeName != "" {
		return evidence.No()
	}
	if len(p.Gates) > 0 {
		return evidence.Yes(evidence.FromPod(pod, "spec.schedulingGates", strings.Join(p.Gates, " ")))
	}
	return evidence.Reading{}.Found(p.facts()...)
}

// Silent asks whether nobody tries to place a pod that is over a minute old.
func (p Placing) Silent(pl *evidence.Place, pod *corev1.Pod) evidence.Answer {
	silent := pod.Spec.NodeName == "" && len(p.Said) == 0 && len(p.Gates) == 0 && !Young(pl.X, pod, time.Minute)
	return evidence.All(evidence.When(silent, evidence.FromPod(pod, "spec.schedulerName", SchedulerOf(pod))),
		evidence.Resource(pl.X, "/events").Nothing())
}

// ByVolume asks whether the scheduler's words name a predicate about volumes.
func (p Placing) ByVolume() evidence.Answer {
	return evidence.Texts(p.Said).Say(func(t evidence.Text) bool {
		return slices.ContainsFunc(message.VolumePredicates, t.Is) || strings.Contains(t.Raw, "persistentvolumeclaim") || p.short(t.Raw)
	})
}

// ByNodes asks whether each reason of the scheduler's last sentence is one that has nothing to
// do with volumes. An extender or a scheduler of a storage speaks in words of its own.
func (p Placing) ByNodes() evidence.Answer {
	_, list, known := strings.Cut(p.Words, " available: ")
	for _, reason := range reasons(list) {
		known = known && p.ofNode(reason)
	}
	known = known || strings.HasPrefix(p.Words, "no nodes available")
	if known || len(p.Gates) > 0 {
		return evidence.Yes()
	}
	return evidence.Unseen(evidence.Lack{Need: "that the scheduler's words have nothing to do with the volume", Why: "it is not known who says them"})
}

// Mixed tells whether the scheduler's sentence names a reason that has nothing to do with volumes,
// beside others; one that is no list of reasons may.
func (p Placing) Mixed() bool {
	return !strings.Contains(p.Words, " available: ") || len(p.Beside()) > 0
}

// Beside are the reasons of the scheduler's sentence that have nothing to do with volumes.
func (p Placing) Beside() []string {
	_, list, _ := strings.Cut(strings.TrimSuffix(p.Words, "."), " available: ")
	return evidence.Keep(reasons(list), p.ofNode)
}

func (p Placing) ofNode(reason string) bool {
	ofVolume := strings.Contains(reason, "volume node affinity") || strings.Contains(reason, "PersistentVolume's node affinity")
	return evidence.ContainsAny(reason, ofNodes...) && !ofVolume && !p.short(reason)
}

// ofNodes are what the plugins of kube-scheduler beside those for volumes say (pkg/scheduler/framework/plugins/
// {noderesources,tainttoleration,nodeaffinity,nodeunschedulable,nodename,nodeports,interpodaffinity,podtopologyspread}).
var ofNodes = []string{"Insufficient ", "Too many pods", "taint", "node affinity", "node selector", "nodeaffinity", "unschedulable", "requested node name",
	"hostname", "free ports", "affinity rules", "anti-affinity", "topology spread constraints", "not ready"}

// reasons takes a list of the scheduler apart, in which each begins with how many nodes it is
// about; a reason may have a comma in it.
func reasons(list string) []string {
	var out []string
	for part := range strings.SplitSeq(list, ", ") {
		if n := len(out); n > 0 && strings.Trim(part[:min(1, len(part))], "0123456789") != "" {
			out[n-1] += ", " + part
		} else {
			out = append(out, part)
		}
	}
	return out
}

// Short tells whether the scheduler misses a resource that the volume's driver counts: one in a domain
// of its name ("Insufficient topolvm.io/capacity"). What no node has at all says nothing of room: a scheduler that leaves
// it to the driver's extender does not speak of it (ignoredByScheduler in KubeSchedulerConfiguration).
func (p Placing) Short() bool { return p.short(p.Words) }

func (p Placing) short(words string) bool {
	return slices.ContainsFunc(missed(words), func(resource string) bool {
		domain, _, ok := strings.Cut(resource, "/")
		return ok && strings.Contains(domain, ".") && strings.HasSuffix("."+p.driver, "."+domain) && !slices.Contains(p.Unoffered, resource)
	})
}

// missed are the resources of which the scheduler says "Insufficient" (plugins/noderesources).
func missed(words string) []string {
	return evidence.Each(strings.Split(words, "Insufficient ")[1:], func(after string) string {
		name, _, _ := strings.Cut(after, " ")
		return strings.TrimRight(name, ".,")
	})
}

// unoffered are those of them that no node has, as each kubelet says what its node offers. Where a node's word is not
// recorded, it may have any.
func unoffered(x *snapshot.Index, words string) []string {
	nodes := x.Cluster.Nodes
	silent := func(n *corev1.Node) bool { return n == nil || len(n.Status.Allocatable) == 0 }
	if len(nodes) == 0 || slices.ContainsFunc(nodes, silent) || !evidence.Resource(x, "/nodes").Complete() {
		return nil
	}
	return evidence.Keep(missed(words), func(name string) bool {
		return !slices.ContainsFunc(nodes, func(n *corev1.Node) bool { _, has := n.Status.Allocatable[corev1.ResourceName(name)]; return has })
	})
}

func (p Placing) facts() []report.Evidence {
	return evidence.Each(p.Said, func(t evidence.Text) report.Evidence { return t.Evidence() })
}

// SchedulerOf is the name of the scheduler that a pod asks for.
func SchedulerOf(pod *corev1.Pod) string {
	return cmp.Or(pod.Spec.SchedulerName, corev1.DefaultSchedulerName)
}

// ScalingUp tells whether who adds nodes says now that one is made for the pod: the cluster autoscaler, or
// Karpenter, which names the claim of the node (pkg/controllers/provisioning/scheduling/events.go). Both events are of type Normal.
func ScalingUp(x *snapshot.Index, pod *corev1.Pod) bool {
	return slices.ContainsFunc(x.Events("Pod", pod.Namespace, pod.Name), func(e *snapshot.Event) bool {
		return x.Fresh(e, pod.CreationTimestamp.Time) && (e.Reason == "TriggeredScaleUp" || e.Reason == "Nominated" && strings.Contains(e.Message, "nodeclaim/"))
	})
}

// KeptOff says for each node, as far as nodes were read, what keeps a pod from it:
// a cordon, a taint, the node selector or the node affinity. Requests are not counted.
func KeptOff(x *snapshot.Index, pod *corev1.Pod) []string {
	var out []string
	for _, n := range x.Cluster.Nodes {
		if n == nil {
			continue
		}
		if n.Spec.Unschedulable {
			out = append(out, "node "+n.Name+" is cordoned")
		} else if why, off := snapshot.WhyPodNotOn(&pod.Spec, n); off {
			out = append(out, why)
		}
	}
	slices.Sort(out)
	return out
}
