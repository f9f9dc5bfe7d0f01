package mounts

import (
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// PluginTable is what the driver's own pod has mounted where a pod misses its volume.
type PluginTable struct {
	Pod   *corev1.Pod
	Path  string           // of the host, that its container has without Bidirectional; empty: with it, or none was found
	Mount *report.Evidence // its line; nil: nothing is mounted there either
}

// Plugin reads the tables of the plugin's containers; ok is false where none was read whole. What
// is mounted in a container reaches the node with mountPropagation Bidirectional alone.
func (m Missing) Plugin() (t PluginTable, ok bool) {
	plugin := m.pl.X.DriverPodOn(m.pl.Volume.CSIName(), m.pl.Node)
	if plugin == nil || m.mount != nil {
		return PluginTable{}, false
	}
	t.Pod = plugin
	view, seen := m.pl.View, false
	for _, ns := range view.NamespacesOfPod(string(plugin.UID)) {
		if ns == view.Init {
			continue
		}
		seen = true
		for _, o := range ns.Mounts {
			if m.isAt(o.Point) {
				line := evidence.FromMount(m.pl.Node, ns, o)
				t.Mount, t.Path = &line, privately(plugin, o.Point)
				return t, true
			}
		}
	}
	return t, seen && node.Whole(m.pl.X, m.pl.Node, probes.Mounts).Complete()
}

// privately is the path of the host above a mount point that a pod has without Bidirectional.
func privately(pod *corev1.Pod, point string) string {
	best, mode := "", corev1.MountPropagationNone
	for _, v := range pod.Spec.Volumes {
		if v.HostPath == nil || !probes.Within(point, path.Clean(v.HostPath.Path)) || len(v.HostPath.Path) < len(best) {
			continue
		}
		best, mode = path.Clean(v.HostPath.Path), propagation(pod, v.Name)
	}
	if mode == corev1.MountPropagationBidirectional {
		return ""
	}
	return best
}

// Words say it.
func (t PluginTable) Words() string {
	name := "the driver's pod " + pods.Name(t.Pod)
	switch {
	case t.Mount == nil:
		return "In the table of " + name + " nothing is mounted there either."
	case t.Path != "":
		return "Only " + name + " has it mounted, at this very path: its container has " + t.Path + " of the node without mountPropagation: Bidirectional, so what it mounts does not reach the node."
	}
	return "Only " + name + " has it mounted, at this very path: what it mounts does not reach the node."
}

// Is quotes the line.
func (t PluginTable) Is() evidence.Answer {
	if t.Mount == nil {
		return evidence.Yes()
	}
	return evidence.Yes(*t.Mount)
}

// beneath finds in the own table of a container the directory of the node's own disk that lies under the volume's
// mount: where the container was made, that mount was not there, or not yet.
func (m *Missing) beneath() (*probes.MountNamespace, *probes.Mount) {
	if m.under != nil || m.mount != nil && onRoot(m.pl.View, m.mount.Dev) {
		return nil, nil
	}
	for _, ns := range m.pl.View.NamespacesOfPod(string(m.Pod.UID)) {
		for i := range ns.Mounts {
			if o := &ns.Mounts[i]; ns != m.pl.View.Init && onRoot(m.pl.View, o.Dev) && (m.isAt(o.Root) || strings.Contains(o.Root, "/pods/"+string(m.Pod.UID)+"/volume-subpaths/"+m.specName()+"/")) {
				return ns, o
			}
		}
	}
	return nil, nil
}

// Beneath tells whether the node has the volume mounted and a container has not.
func (m Missing) Beneath() bool { return m.own != nil && m.mount != nil }

// beside tells whether a mount says nothing of what a container has instead of the volume: it lies at another path, or in
// another container.
func (m Missing) beside(ns *probes.MountNamespace, o probes.Mount) bool {
	return m.Beneath() && (ns != m.ownNS || o.Point != m.own.Point)
}

// In is where a container has the directory instead of the volume.
func (m Missing) In() string {
	if m.own == nil {
		return ""
	}
	return m.own.Point
}

// Written is where what the pod wrote can be read: under a mount only the container sees it.
func (m Missing) Written() string {
	if m.Beneath() {
		return m.In() + " of its container (on the node the volume's mount hides it)"
	}
	return m.Directory() + " on its node"
}
