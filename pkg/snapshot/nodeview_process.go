package snapshot

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// Opener is a process with a descriptor on a device or on a file of its
// filesystem.
type Opener struct {
	Process    *probes.Process
	Descriptor probes.Descriptor
}

// Process returns a process, or nil.
func (n *NodeView) Process(pid int) *probes.Process {
	if n == nil {
		return nil
	}
	return n.processes[pid]
}

// ProcessesOfPod returns the processes of a pod by the UID in their cgroups, in
// the order of their numbers.
func (n *NodeView) ProcessesOfPod(uid string) []*probes.Process {
	want := plainUID(uid)
	if want == "" {
		return nil
	}
	return n.processesWhere(func(p *probes.Process) bool { return plainUID(p.PodUID) == want })
}

// NamespacesOfPod are the mount namespaces of a pod's processes.
func (n *NodeView) NamespacesOfPod(uid string) []*probes.MountNamespace {
	var out []*probes.MountNamespace
	for _, p := range n.ProcessesOfPod(uid) {
		for _, ns := range n.Namespaces() {
			if ns.ID == p.MntNS && ns.ID != 0 && !slices.Contains(out, ns) {
				out = append(out, ns)
			}
		}
	}
	return out
}

// ProcessesIn returns the processes of a mount namespace.
func (n *NodeView) ProcessesIn(ns uint64) []*probes.Process {
	if ns == 0 {
		return nil
	}
	listed := map[int]bool{}
	for _, o := range n.Namespaces() {
		for _, pid := range o.PIDs {
			listed[pid] = listed[pid] || o.ID == ns
		}
	}
	return n.processesWhere(func(p *probes.Process) bool { return p.MntNS == ns || listed[p.PID] })
}

// Openers returns the processes with a descriptor on a device or on its files.
func (n *NodeView) Openers(dev probes.Dev) []Opener {
	if n == nil || dev.IsZero() {
		return nil
	}
	var out []Opener
	for _, p := range n.Processes() {
		for _, d := range p.Open {
			if d.Dev == dev {
				out = append(out, Opener{Process: p, Descriptor: d})
			}
		}
	}
	return out
}

func (n *NodeView) processesWhere(keep func(*probes.Process) bool) []*probes.Process {
	var out []*probes.Process
	for _, p := range n.Processes() {
		if keep(p) {
			out = append(out, p)
		}
	}
	return out
}
