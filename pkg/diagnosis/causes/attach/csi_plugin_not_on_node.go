package attach

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

//go:embed csi_plugin_not_on_node.md
var csiPluginNotOnNodeDoc string

// CSIPluginNotOnNode finds a node that needs a driver and has no plugin pod of it.
var CSIPluginNotOnNode = &diagnosis.Rule{
	Name: "csi-plugin-not-on-node", Layer: diagnosis.Attach, Severity: report.Blocking,
	Needs: []diagnosis.Need{diagnosis.API("/pods"), diagnosis.API("/nodes"), diagnosis.API("apps/daemonsets")},
	Explains: []string{"attach-failed", "mount-failed", "pod-waiting-for-volume", "pod-stuck-terminating", "unmount-blocked",
		"multi-attach-error", "detach-stuck"},
	LeadsTo:  []string{"topology-conflict"},
	YieldsTo: []string{"driver-not-installed", "driver-never-serves-node"},
	Doc:      csiPluginNotOnNodeDoc,
	Run:      pluginNotOnNode,
}

// young is the age under which a DaemonSet may still be creating its pod on a node.
const young = 5 * time.Minute

func pluginNotOnNode(p *diagnosis.Pass) {
	for _, u := range driverUses(p) {
		n := p.Node(u.Node)
		if pod := p.DriverPodOn(u.Driver, u.Node); n == nil || !p.NodeReady(u.Node).Ready || pod != nil && !finished(pod) {
			continue
		}
		switch r := registered(p, u.Node, u.Driver); {
		case !r.Known:
			p.Has("storage.k8s.io/csinodes")
		case !r.Registered && podsUnread(p, u.Driver):
			p.Has("/pods")
		case !r.Registered:
			reportNotOnNode(p, u, n, r)
		}
	}
}

// podsUnread tells whether a plugin pod of a driver may be where nobody looked: in the
// namespace of its DaemonSet, or, when that is not known, in any.
func podsUnread(p *diagnosis.Pass, driver string) bool {
	if ds := p.DriverDaemonSet(driver); ds != nil {
		_, unread := p.GapIn("/pods", ds.Namespace)
		return unread
	}
	return len(p.DriverPods(driver)) == 0 && !p.Collected("/pods")
}

func reportNotOnNode(p *diagnosis.Pass, u *driverUse, n *corev1.Node, r registration) {
	ds := p.DriverDaemonSet(u.Driver)
	nowhere := ds == nil && len(p.DriverPods(u.Driver)) == 0 && !knownElsewhere(p, u.Driver)
	if nowhere && !u.workedHere() && len(driverTexts(p, u)) == 0 {
		return // the driver is installed nowhere and never was, and nobody misses it
	}
	f := u.keyed(p.Find(report.Certain, diagnosis.NodeSubject(u.Node)))
	f.Fact(r.Evidence)
	reason := "why is not known"
	switch ds {
	case nil:
		if nowhere {
			reason = "no node has the driver: it is not installed, or the volume names one that was replaced"
		}
		f.Missing("the DaemonSet of driver " + u.Driver)
	default:
		why, ok := whyAbsent(p, ds, u.Driver, u.Node)
		if ok {
			reason = why
			f.Fact(diagnosis.FromAPI("DaemonSet "+ds.Namespace+"/"+ds.Name, "compared with node "+u.Node, why))
		} else {
			f.Missing("what keeps DaemonSet " + ds.Namespace + "/" + ds.Name + " from node " + u.Node)
		}
		reason = fmt.Sprintf("DaemonSet %s/%s: %s", ds.Namespace, ds.Name, reason)
	}
	if age := p.Age(n.CreationTimestamp.Time); age < young {
		f.Certainty, f.Waiting = report.Possible, true
		reason += fmt.Sprintf(" (the node is only %s old: the DaemonSet may still be creating its pod)", ago(p, n.CreationTimestamp.Time))
	}
	f.Sayf("No node-plugin pod of driver %s runs on node %s (%s), and %s. Without it nothing of this driver can be attached, mounted or unmounted there%s.",
		u.Driver, u.Node, reason, r.Words, u.consequence(p))
	f.Unless("a plugin pod of the driver on node " + u.Node + ", or the driver in its CSINode")
	f.Fact(driverTexts(p, u)...)
	adviseNotOnNode(f, u, ds, n)
	p.Report(f)
}

// workedHere tells whether the driver once served the node: a volume of it is
// attached there, or a pod that used one is being deleted there.
func (u *driverUse) workedHere() bool {
	for _, v := range u.Volumes {
		if va := v.AttachmentOn(u.Node); va != nil && va.Status.Attached {
			return true
		}
	}
	for _, pod := range deleted(u.Pods) {
		if pod.Spec.NodeName == u.Node {
			return true
		}
	}
	return false
}

// whyAbsent names what keeps a DaemonSet's pod off a node: a taint, a selector, or a
// pod of its own that was evicted or refused.
func whyAbsent(p *diagnosis.Pass, ds *appsv1.DaemonSet, driver, node string) (string, bool) {
	if why, ok := p.WhyNotScheduled(ds, node); ok {
		return why, true
	}
	for _, pod := range p.PodsOn(node) {
		if o := p.TopOwner(pod); o.Kind == "DaemonSet" && o.Name == ds.Name && o.Namespace == ds.Namespace && finished(pod) {
			return strings.TrimSpace(fmt.Sprintf("its pod %s ended there: %s %s", podName(pod), pod.Status.Reason, pod.Status.Message)), true
		}
	}
	for _, pod := range p.DriverPods(driver) {
		if pod.Spec.NodeName == "" && meantFor(pod, node) {
			return strings.TrimSpace(fmt.Sprintf("its pod %s for the node is not scheduled: %s", podName(pod), unscheduledBecause(pod))), true
		}
	}
	return "", false
}

// meantFor tells whether a pod of a DaemonSet was made for a node: the controller pins it
// by the node's name (ReplaceDaemonSetPodNodeNameNodeAffinity).
func meantFor(pod *corev1.Pod, node string) bool {
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	for _, t := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, f := range t.MatchFields {
			if f.Key == "metadata.name" && slices.Contains(f.Values, node) {
				return true
			}
		}
	}
	return false
}

func unscheduledBecause(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return c.Message
		}
	}
	return "no reason is given"
}

// consequence says what the missing plugin holds up.
func (u *driverUse) consequence(p *diagnosis.Pass) string {
	var parts []string
	for _, pod := range u.Pods {
		switch {
		case pod.Spec.NodeName == "":
			parts = append(parts, fmt.Sprintf("pod %s cannot be scheduled, because the node lacks the label that the driver sets when it registers", podName(pod)))
		case pod.DeletionTimestamp != nil:
			parts = append(parts, fmt.Sprintf("pod %s has been Terminating there for %s, because its volume cannot be unmounted", podName(pod), ago(p, pod.DeletionTimestamp.Time)))
		case pod.Spec.NodeName == u.Node:
			parts = append(parts, fmt.Sprintf("pod %s waits there", podName(pod)))
		default:
			parts = append(parts, fmt.Sprintf("pod %s waits on node %s for the volume to be released", podName(pod), pod.Spec.NodeName))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, "; ")
}

var driverTextForm = regexp.MustCompile(`does not contain driver|not found in the list of registered CSI drivers|csinode.* not found|has no NodeID annotation|volume node affinity conflict|match PersistentVolume's node affinity`)

// driverTexts quotes what components said about the missing driver.
func driverTexts(p *diagnosis.Pass, u *driverUse) []report.Evidence {
	for _, v := range u.Volumes {
		if t, ok := textAbout(p, v, u.Node, driverTextForm); ok {
			return []report.Evidence{t.Evidence()}
		}
	}
	for _, pod := range u.Pods {
		events := p.Events("Pod", pod.Namespace, pod.Name)
		for i := len(events) - 1; i >= 0; i-- {
			if driverTextForm.MatchString(events[i].Message) {
				return []report.Evidence{{Source: "event", Locator: "Event Pod " + podName(pod) + " " + events[i].Reason, Text: events[i].Message}}
			}
		}
	}
	return nil
}

func adviseNotOnNode(f *diagnosis.Finding, u *driverUse, ds *appsv1.DaemonSet, n *corev1.Node) {
	name := "the driver's DaemonSet"
	if ds != nil {
		name = "DaemonSet " + ds.Namespace + "/" + ds.Name
	}
	stuck, evicts := len(deleted(u.Pods)) > 0, false
	for _, t := range n.Spec.Taints {
		evicts = evicts || t.Effect == corev1.TaintEffectNoExecute
	}
	if evicts && stuck {
		f.Advise(remedy.Words(fmt.Sprintf("Remove the NoExecute taint from node %s (or give %s a toleration for it): the plugin comes back, the kubelet unmounts, and the old pod ends by itself. "+
			"Next time drain the node before it is tainted. Do not remove the Terminating pod by force (its mounts would stay) and do not detach while the node is Ready and mounts the volume.", u.Node, name)))
	} else {
		f.Advise(remedy.Words(fmt.Sprintf("Let %s run on node %s: give it a toleration for the taint (or fix its selector), or remove the taint; or move the pod to a node that has the plugin.", name, u.Node)))
	}
	if strings.HasSuffix(u.Driver, "longhorn.io") {
		f.Advise(remedy.Words("For Longhorn set the toleration in the setting taint-toleration and in the chart's values; the setting is applied only while all volumes are detached."))
	}
	f.Advise(remedy.Words("Verify: CSINode " + u.Node + " lists driver " + u.Driver + "."))
}
