package nodeplugin

import (
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// NewNode is the age under which a DaemonSet may still be creating its pod on a node.
const NewNode = 5 * time.Minute

// Absence is why no plugin pod of a driver runs on a node.
type Absence struct {
	Set    *appsv1.DaemonSet
	Turned bool   // its pods are not let into the cluster
	Says   string // "excluded", "set" (why is not known), "nobody" (no DaemonSet), "nowhere"
	Why    string
	None   evidence.Answer // no plugin pod is on the node
	Known  evidence.Answer // what keeps it away is known
}

// AbsenceOf asks whether no plugin pod of the use's driver is on its node, and why. A driver
// that is installed nowhere and that nobody misses is not absent.
func AbsenceOf(pl *evidence.Place, u Use) (Absence, bool) {
	x := pl.X
	if pod := x.DriverPodOn(u.Driver, u.Node); pod != nil && !pods.Finished(pod).Yes() {
		return Absence{}, false
	}
	clear := csi.Undisputed(x, u.Driver) // of a driver that several workloads claim, no pod is known
	a := Absence{Set: x.DriverDaemonSet(u.Driver), Says: "excluded", None: clear.And(evidence.Resource(x, "/pods")).Nothing()}
	if a.Set == nil {
		a.Says = "nobody"
		if len(x.DriverPods(u.Driver)) == 0 && !knownElsewhere(x, u.Driver) {
			if a.Says = "nowhere"; !u.workedHere() && len(Said(pl, u)) == 0 {
				return a, false
			}
		} else if len(x.DriverPods(u.Driver)) > 0 {
			a.None = clear.Nothing()
		}
		why := "it was not found"
		if g, missing := x.GapFor("apps/daemonsets"); missing {
			why = g.Reason
		}
		a.Known = evidence.Unseen(evidence.Lack{Need: "the DaemonSet of driver " + u.Driver, Node: u.Node, Why: why})
		return a, true
	}
	object := "DaemonSet " + a.Set.Namespace + "/" + a.Set.Name
	a.None = evidence.ResourceIn(x, "/pods", a.Set.Namespace).Nothing() // whether it is the driver's limits what it proves
	if said, refused := csi.Unmade(x, snapshot.Owner{Kind: "DaemonSet", Namespace: a.Set.Namespace, Name: a.Set.Name}); refused {
		a.Says, a.Known = "refused", evidence.Yes(said)
		return a, true
	}
	if a.Why = whyAbsent(x, a.Set, u); a.Why == "" {
		a.Says, a.Known = "set", evidence.Unseen(evidence.Lack{Need: "what keeps " + object + " from node " + u.Node, Node: u.Node, Why: "nothing that was read excludes it"})
		return a, true
	}
	a.Known = evidence.Yes(evidence.FromAPI(object, "compared with node "+u.Node, a.Why))
	return a, true
}

// There tells whether a node is one of the cluster. Where the list of nodes was not read whole, its CSINode, which goes with
// it (ownerReferences), or a pod there tells: those of a node that was removed are collected (pkg/controller/podgc).
func There(x *snapshot.Index, node string) bool {
	lives := func(p *corev1.Pod) bool { return p.DeletionTimestamp == nil && pods.Finished(p).No() }
	return x.Node(node) != nil || !x.Collected("/nodes") && (x.CSINode(node) != nil || slices.ContainsFunc(x.PodsOn(node), lives))
}

// Unregistered asks whether the kubelet of the node does not know the driver. Where no plugin
// runs, a socket that one left behind says nothing against CSINode.
func (u Use) Unregistered(pl *evidence.Place) evidence.Answer {
	if copied := csi.Listed(pl.X, u.Node, u.Driver); copied.No() {
		return evidence.Not(copied)
	}
	return csi.NotRegistered(pl, u.Node, u.Driver)
}

// whyAbsent names what keeps a DaemonSet's pod off a node: a taint, a selector, or a pod of
// its own that was evicted, refused, or found no room.
func whyAbsent(x *snapshot.Index, ds *appsv1.DaemonSet, u Use) string {
	if why, ok := x.WhyNotScheduled(ds, u.Node); ok {
		return why
	}
	for _, pod := range x.PodsOn(u.Node) {
		if o := x.TopOwner(pod); o.Kind == "DaemonSet" && o.Name == ds.Name && o.Namespace == ds.Namespace && pods.Finished(pod).Yes() {
			return strings.TrimSpace("its pod " + pods.Name(pod) + " ended there: " + pod.Status.Reason + " " + pod.Status.Message)
		}
	}
	for _, pod := range x.DriverPods(u.Driver) {
		if pod.Spec.NodeName == "" && meantFor(pod, u.Node) {
			return strings.TrimSpace("its pod " + pods.Name(pod) + " for the node is not scheduled: " + unscheduled(pod))
		}
	}
	return ""
}

// meantFor tells whether a pod of a DaemonSet was made for a node: the controller pins it
// by the node's name (ReplaceDaemonSetPodNodeNameNodeAffinity).
func meantFor(pod *corev1.Pod, node string) bool {
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	return slices.ContainsFunc(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms, func(t corev1.NodeSelectorTerm) bool {
		return slices.ContainsFunc(t.MatchFields, func(f corev1.NodeSelectorRequirement) bool {
			return f.Key == "metadata.name" && slices.Contains(f.Values, node)
		})
	})
}

func unscheduled(pod *corev1.Pod) string {
	if why, ok := pods.Unscheduled(pod); ok {
		return why
	}
	return "no reason is given"
}

// knownElsewhere tells whether any node has the driver: then it is installed.
func knownElsewhere(x *snapshot.Index, driver string) bool {
	return x.Memo("nodeplugin.knownElsewhere "+driver, func() any {
		return len(x.DriverNodes(driver)) > 0 || slices.ContainsFunc(x.Cluster.Nodes, func(n *corev1.Node) bool { return csi.Listed(x, n.Name, driver).Yes() })
	}).(bool)
}

// missed are the words in which components miss a driver on a node.
var missed = []string{"does not contain driver", "not found in the list of registered CSI drivers", "has no NodeID annotation",
	"volume node affinity conflict", "match PersistentVolume's node affinity"}

func misses(s string) bool {
	return evidence.ContainsAny(s, missed...) || strings.Contains(s, "csinode") && strings.Contains(s, " not found")
}

// Said quotes what components said about the missing driver.
func Said(pl *evidence.Place, u Use) []report.Evidence {
	for _, t := range pl.Texts {
		if misses(t.Raw) && (t.Node == "" || t.Node == u.Node) {
			return []report.Evidence{t.Evidence()}
		}
	}
	for _, pod := range u.Pods {
		for _, e := range slices.Backward(pl.X.Events("Pod", pod.Namespace, pod.Name)) {
			if misses(e.Message) {
				return []report.Evidence{evidence.FromEvent(pods.Object(pod), e)}
			}
		}
	}
	return nil
}
