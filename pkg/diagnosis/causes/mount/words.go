package mount

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// volumeName is how a person calls the volume.
func volumeName(v *snapshot.Volume) string {
	if n := v.PVName(); n != "" {
		return n
	}
	if ns, name := v.ClaimRef(); name != "" {
		return "of claim " + ns + "/" + name
	}
	return v.Spoken()
}

// podName is a pod as kubectl names it.
func podName(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }

// owned names the pod and the workload above it: "pod monitoring/agent-x of
// DaemonSet monitoring/agent".
func owned(p *diagnosis.Pass, pod *corev1.Pod) string {
	o := p.TopOwner(pod)
	if o.Pod || o.Name == "" || o.Name == pod.Name && o.Kind == "Pod" {
		return "pod " + podName(pod)
	}
	return "pod " + podName(pod) + " of " + o.String()
}

// nodesOf are the nodes that have, use or had the volume, those nearest to its
// device first.
func nodesOf(p *diagnosis.Pass, v *snapshot.Volume) []string {
	out := slices.Clone(p.DeviceNodes(v))
	add := func(n string) {
		if n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	for _, c := range v.Consumers {
		add(c.Pod.Spec.NodeName)
	}
	for _, n := range p.OtherNodes(v) {
		add(n)
	}
	for _, n := range nodeNames(p) {
		if d, ok := p.DeviceOn(v, n); ok && d.Proven || len(p.VolumeMounts(v, n)) > 0 {
			add(n) // the API has no trace of it, the node has
		}
	}
	return out
}

// asked tells whether a node's own faults belong to the question: one about a node
// is about that node only.
func asked(p *diagnosis.Pass, node string) bool {
	return p.Question.Kind != "node" || node == p.Question.Name
}

// nodeNames are the probed nodes, sorted.
func nodeNames(p *diagnosis.Pass) []string {
	var out []string
	for n := range p.NodeViews {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// tableLine quotes a line of a mount table with its place.
func tableLine(node string, ns *probes.MountNamespace, m probes.Mount) report.Evidence {
	pid := 1
	if ns != nil && ns.TablePID != 0 {
		pid = ns.TablePID
	}
	return diagnosis.FromNode(node, fmt.Sprintf("proc/%d/mountinfo:%d", pid, m.Line), m.Raw)
}

// tag is the propagation of a mount as mountinfo writes it.
func tag(m probes.Mount) string {
	switch {
	case m.Shared != 0:
		return fmt.Sprintf("shared:%d", m.Shared)
	case m.Master != 0:
		return fmt.Sprintf("master:%d", m.Master)
	}
	return "no propagation tag, so it is a private copy"
}

// diskName is the kernel's name of a device with its number, "sdc (8:32)".
func diskName(view *snapshot.NodeView, dev probes.Dev) string {
	b := view.Device(dev)
	if b == nil {
		return dev.String()
	}
	if b.DM != nil && b.DM.Name != "" {
		return fmt.Sprintf("%s (%s, %s)", b.Name, b.DM.Name, dev)
	}
	return fmt.Sprintf("%s (%s)", b.Name, dev)
}

// joined lists words with commas.
func joined(list []string) string { return strings.Join(list, ", ") }

func compareNames(a, b string) int { return strings.Compare(a, b) }
