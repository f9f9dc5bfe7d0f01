package snapshot

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"

// Process returns a process, or nil.
func (n *NodeView) Process(pid int) *probes.Process { return nil }

// ProcessesOfPod returns the processes of a pod by the UID in their cgroups.
func (n *NodeView) ProcessesOfPod(uid string) []*probes.Process { return nil }

// ProcessesIn returns the processes of a mount namespace.
func (n *NodeView) ProcessesIn(ns uint64) []*probes.Process { return nil }

// Openers returns the processes with a descriptor on a device or on its files.
func (n *NodeView) Openers(dev probes.Dev) []Opener { return nil }
