package attach

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// driverUse is a node on which a CSI driver is needed now, and for whom.
type driverUse struct {
	Driver, Node string
	Volumes      []*snapshot.Volume // empty for inline volumes
	Pods         []*corev1.Pod
	Unscheduled  bool // a pod could only run there, but is not bound to the node
}

// driverUses lists the nodes of the question that need a driver to go on: those of
// waiting pods, of pods that are being deleted, and those that must detach for a
// pod elsewhere. Sorted as found: the nearest to the asked volume first.
func driverUses(p *diagnosis.Pass) []*driverUse {
	out := useList{byNode: map[driverOn]*driverUse{}}
	for _, v := range p.Volumes() {
		if v.PV != nil && v.CSIName() != "" {
			out.addVolume(p, v)
		}
	}
	if p.Question.Kind == "node" {
		out.addKeptOut(p, p.Question.Name)
	}
	for _, pod := range askedPods(p) {
		if pod.Status.Phase == corev1.PodPending && pod.Spec.NodeName != "" {
			for _, vol := range pod.Spec.Volumes {
				if vol.CSI != nil {
					out.add(driverOn{vol.CSI.Driver, pod.Spec.NodeName}, nil, pod)
				}
			}
		}
	}
	return out.uses
}

// useList collects driver uses, one for each driver on each node.
type useList struct {
	uses   []*driverUse
	byNode map[driverOn]*driverUse
}

type driverOn struct{ driver, node string }

func isCSI(v *snapshot.Volume) bool {
	return v.PV != nil && v.PV.Spec.CSI != nil && v.Driver != ""
}

func (l *useList) addVolume(p *diagnosis.Pass, v *snapshot.Volume) {
	driver := v.CSIName()
	for _, c := range v.Consumers {
		switch {
		case finished(c.Pod):
		case c.Pod.Spec.NodeName == "":
			for _, n := range onlyNodesFor(p, v, c.Pod) {
				l.add(driverOn{driver, n}, v, c.Pod).Unscheduled = true
			}
		case c.Waiting() || c.Pod.DeletionTimestamp != nil:
			l.add(driverOn{driver, c.Pod.Spec.NodeName}, v, c.Pod)
		}
	}
	for _, a := range attachments(p, v) {
		waiters := waitersAwayFrom(v, a.Node)
		if a.VA != nil && (v.Exclusive() && len(waiters) > 0 || a.VA.DeletionTimestamp != nil) {
			l.add(driverOn{driver, a.Node}, v, waiters...)
		}
	}
}

// addKeptOut adds the volumes whose pods are not scheduled because a node lacks their
// driver: they are no volumes of that node yet.
func (l *useList) addKeptOut(p *diagnosis.Pass, node string) {
	for _, v := range p.Index.Volumes {
		if !isCSI(v) || p.InScope(v) {
			continue
		}
		for _, c := range v.Waiting() {
			if c.Node() == "" && slices.Contains(onlyNodesFor(p, v, c.Pod), node) {
				l.add(driverOn{v.Driver, node}, v, c.Pod).Unscheduled = true
			}
		}
	}
}

// askedPods are the pods whose inline volumes belong to the question.
func askedPods(p *diagnosis.Pass) []*corev1.Pod {
	switch p.Question.Kind {
	case "pod":
		if pod := p.Pod(p.Question.Namespace, p.Question.Name); pod != nil {
			return []*corev1.Pod{pod}
		}
	case "node":
		return p.PodsOn(p.Question.Name)
	case "cluster":
		return p.Cluster.Pods
	}
	return nil
}

func (l *useList) add(on driverOn, v *snapshot.Volume, pods ...*corev1.Pod) *driverUse {
	u := l.byNode[on]
	if u == nil {
		u = &driverUse{Driver: on.driver, Node: on.node}
		l.byNode[on] = u
		l.uses = append(l.uses, u)
	}
	if v != nil && !slices.Contains(u.Volumes, v) {
		u.Volumes = append(u.Volumes, v)
	}
	for _, pod := range pods {
		if !slices.Contains(u.Pods, pod) {
			u.Pods = append(u.Pods, pod)
		}
	}
	return u
}

// keyed ties a finding to the volumes and pods that need the driver.
func (u *driverUse) keyed(f *diagnosis.Finding) *diagnosis.Finding {
	f.Located(u.Node)
	for _, v := range u.Volumes {
		f.On(v)
		if va := v.AttachmentOn(u.Node); va != nil {
			f.Object("va", va.Name)
		}
	}
	for _, pod := range u.Pods {
		f.Pod(pod)
		f.Fact(diagnosis.FromAPI(podFact(pod)))
	}
	return f
}

// nodeIDAnnotation is where kubelets before CSINode (1.14) kept the drivers of a
// node, as a JSON object of driver → node id.
const nodeIDAnnotation = "csi.volume.kubernetes.io/nodeid"

// registration is whether the kubelet of a node has registered a driver.
type registration struct {
	Registered, Known bool
	Evidence          report.Evidence
	Words             string // "CSINode n does not list driver d"
}

// registered asks the nearest witness: kubelet's own fresh words, the sockets where it
// looks, CSINode (a copy, which kubelet corrects only when it sees a socket vanish), and
// on servers without it the node's annotation.
func registered(p *diagnosis.Pass, node, driver string) registration {
	r := listed(p, node, driver)
	if !r.Known || !r.Registered {
		return r
	}
	still := "although CSINode " + node + " still lists it"
	plugin := p.DriverPodOn(driver, node)
	gone := plugin == nil || finished(plugin)
	for _, t := range p.TextsOn(node) {
		// What kubelet said before the plugin started is over.
		later := gone || !csi.Started(plugin).IsZero() && t.At.After(csi.Started(plugin).Add(csi.Startup))
		if t.Fresh && later && t.Component == "kubelet" && t.Is(message.DriverNotRegistered) && strings.Contains(t.Raw, driver) {
			return registration{Known: true, Evidence: t.Evidence(), Words: "the kubelet of node " + node + " says that driver " + driver + " is not registered, " + still}
		}
	}
	view := p.View(node)
	if !gone || view == nil || len(view.Facts.Kubelet.Registry) == 0 {
		return r
	}
	if slices.ContainsFunc(view.Facts.Kubelet.Registry, func(s string) bool { return strings.Contains(s, driver) }) {
		return r
	}
	dir := view.KubeletRoot() + "/plugins_registry"
	return registration{Known: true, Evidence: diagnosis.FromNode(node, strings.TrimPrefix(dir, "/"), "no socket of "+driver),
		Words: "no socket of driver " + driver + " is in " + dir + " of node " + node + ", " + still}
}

// listed reads CSINode, or on servers without it the node's annotation.
func listed(p *diagnosis.Pass, node, driver string) registration {
	if ok, known := p.HasDriver(node, driver); known {
		r := registration{Registered: ok, Known: true}
		text, words := "no CSINode of this name", "CSINode "+node+" does not exist"
		if c := p.CSINode(node); c != nil {
			names := []string{}
			for _, d := range c.Spec.Drivers {
				names = append(names, d.Name)
			}
			text, words = list(names), "CSINode "+node+" does not list driver "+driver
		}
		r.Evidence, r.Words = diagnosis.FromAPI("CSINode "+node, "spec.drivers", text), words
		return r
	}
	n := p.Node(node)
	if n == nil || versionAtLeast(p.Server, 1, 17) {
		return registration{} // CSINode exists on this server and could not be read
	}
	raw := n.Annotations[nodeIDAnnotation]
	ids := map[string]string{}
	if raw != "" && json.Unmarshal([]byte(raw), &ids) != nil {
		return registration{}
	}
	if raw == "" && !anyNodeID(p) {
		return registration{} // nothing here says that the annotation is in use
	}
	_, ok := ids[driver]
	if raw == "" {
		raw = "absent"
	}
	return registration{Registered: ok, Known: true,
		Evidence: diagnosis.FromAPI("Node "+node, "metadata.annotations["+nodeIDAnnotation+"]", raw),
		Words:    "the node id annotation of node " + node + " does not list driver " + driver}
}

func anyNodeID(p *diagnosis.Pass) bool {
	return slices.ContainsFunc(p.Cluster.Nodes, func(n *corev1.Node) bool { return n.Annotations[nodeIDAnnotation] != "" })
}

func list(names []string) string {
	if len(names) == 0 {
		return "empty"
	}
	out := names[0]
	for _, n := range names[1:] {
		out += " " + n
	}
	return out
}

// knownElsewhere tells whether any node has the driver: then it is installed.
func knownElsewhere(p *diagnosis.Pass, driver string) bool {
	if p.Collected("storage.k8s.io/csinodes") {
		return len(p.DriverNodes(driver)) > 0
	}
	for _, n := range p.Cluster.Nodes {
		if listed(p, n.Name, driver).Registered {
			return true
		}
	}
	return false
}
