package snapshot

import (
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

// ProcessesIn returns the processes of a mount namespace.
func (n *NodeView) ProcessesIn(ns uint64) []*probes.Process {
	if ns == 0 {
		return nil
	}
	listed := map[int]bool{}
	if n != nil {
		for i := range n.Facts.Namespaces {
			if n.Facts.Namespaces[i].ID == ns {
				for _, pid := range n.Facts.Namespaces[i].PIDs {
					listed[pid] = true
				}
			}
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
	for i := range n.Facts.Processes {
		p := &n.Facts.Processes[i]
		for _, d := range p.Open {
			if d.Dev == dev {
				out = append(out, Opener{Process: p, Descriptor: d})
			}
		}
	}
	return out
}

func (n *NodeView) processesWhere(keep func(*probes.Process) bool) []*probes.Process {
	if n == nil {
		return nil
	}
	var out []*probes.Process
	for i := range n.Facts.Processes {
		if p := &n.Facts.Processes[i]; keep(p) {
			out = append(out, p)
		}
	}
	return out
}
