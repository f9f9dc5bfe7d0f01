package probes

import "slices"

// Standing says what a process is by facts that no container can forge. Its name is
// none of them: every process chooses its own.
type Standing string

// What a process can be. Processes that nobody asks about are not judged, save that
// those of the kernel and of pods are always known.
const (
	NotJudged Standing = ""
	OfKernel  Standing = "kernel" // a thread of the kernel
	OfHost    Standing = "host"   // root's, in the host's PID namespace, in no container's control group
	// OfContainer is root's and in the host's PID namespace, but in a container that
	// is no pod's: the kubelet of RKE and of other nodes that run it by Docker or
	// Podman, the daemons of RancherOS.
	OfContainer Standing = "container"
	OfPod       Standing = "pod"   // in a pod's control group, or in one that a CRI runtime made
	OfOther     Standing = "other" // a user's, or in a PID namespace of its own, or nothing of it could be read
)

// Believed tells whether the process is what its name says: a daemon of the machine,
// not somebody who calls himself so. That a pod carries a daemon is for the API to
// tell: see InPods.
func (p *Process) Believed() bool { return p.Standing == OfHost || p.Standing == OfContainer }

// Running tells whether there is more left of the process than its exit status.
func (p *Process) Running() bool {
	return p.State != "Z" && p.State != "X" && !p.Kthread || p.Living != 0
}

// Daemons returns the machine's own running processes of these names: of the host
// first, then of its containers, each ascending by process id.
func (f *Facts) Daemons(names ...string) []*Process {
	var host, container []*Process
	for i := range f.Processes {
		p := &f.Processes[i]
		switch {
		case !p.Running() || !slices.Contains(names, p.Comm):
		case p.Standing == OfHost:
			host = append(host, p)
		case p.Standing == OfContainer:
			container = append(container, p)
		}
	}
	return append(host, container...)
}

// InPods returns the running processes of these names that pods carry. Each is what
// it says only if the API proves the pod of its PodUID: a DaemonSet of a driver, of
// Longhorn or of the distribution. Anybody can start a process of that name.
func (f *Facts) InPods(names ...string) []*Process {
	var out []*Process
	for i := range f.Processes {
		if p := &f.Processes[i]; p.Running() && p.Standing == OfPod && slices.Contains(names, p.Comm) {
			out = append(out, p)
		}
	}
	return out
}

// PIDs are the numbers of some processes, in their order.
func PIDs(list []*Process) []int {
	var out []int
	for _, p := range list {
		out = append(out, p.PID)
	}
	return out
}
