package process

import (
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// Group is the kind of control group a process is in. The kernel lets nobody leave
// the one that the runtime put him in without write access to the host's hierarchy.
type Group int

// The kinds of control groups.
const (
	NoGroup        Group = iota // not read, or a kernel without control groups
	ServiceGroup                // a unit, a session, the root
	SystemGroup                 // a service of an init that gives its services PID namespaces of their own (Talos)
	ContainerGroup              // a container that no kubelet made
	PodGroup                    // a pod's
)

// criMarks are how the runtimes that only a kubelet commands name their groups:
// containerd's CRI plugin by "cri-containerd-ID.scope", "SLICE:cri-containerd:ID" and
// the namespace "k8s.io", CRI-O by "crio-ID.scope" and "SLICE:crio:ID". A pod
// stands there without a pod's group above it when the kubelet runs with
// --cgroups-per-qos=false or a pod was made by crictl.
var criMarks = []string{"cri-containerd-", ":cri-containerd:", "crio-", ":crio:", "cri-o-"}

// containerMarks are the groups of other containers: Docker, Podman, systemd-nspawn,
// LXC and others that register as machines.
var containerMarks = []string{"docker-", "libpod-", "libpod_", "machine-", "lxc.payload", "podman-", "buildkit"}

// containerParents are whole elements above containers.
var containerParents = map[string]bool{
	"docker": true, "lxc": true, "machine.slice": true, "libpod_parent": true, "podman": true, "garden": true, "actions_job": true,
}

// groupOf judges a control group's path, the node's own part cut off. With the
// reader in a cgroup namespace of its own the path begins with "/..".
func groupOf(path string) Group {
	if uid, _ := podUID(path); uid != "" {
		return PodGroup
	}
	kind := ServiceGroup
	for i, element := range elements(path) {
		switch {
		case strings.Contains(element, "kubepods"), element == "k8s.io", hasMark(element, criMarks):
			return PodGroup
		case containerParents[element], hasMark(element, containerMarks):
			kind = ContainerGroup
		case i == 0 && (element == "podruntime" || element == "system") && kind == ServiceGroup:
			kind = SystemGroup
		}
	}
	if lastID(path) != "" {
		return ContainerGroup
	}
	return kind
}

func elements(path string) []string {
	var out []string
	for _, e := range strings.Split(path, "/") {
		if e != "" && e != ".." && e != "." {
			out = append(out, e)
		}
	}
	return out
}

func hasMark(element string, marks []string) bool {
	for _, m := range marks {
		if strings.HasPrefix(element, m) || m[0] == ':' && strings.Contains(element, m) {
			return true
		}
	}
	return false
}

// Credentials are what proc/PID/status tells of a process's rights.
type Credentials struct {
	Read  bool // status was there; a recording made by hand may do without
	Depth int  // PID namespaces that the process is in, the host's included; 0: the kernel does not say (before 4.1)
	Root  bool // its effective user is root, as the host counts users
}

// Judge tells what a process is. Whoever is in a pod's group is the pod's, whatever
// else he shares with the host.
func Judge(p *probes.Process, g Group, c Credentials) probes.Standing {
	switch {
	case p.Kthread:
		return probes.OfKernel
	case g == PodGroup:
		return probes.OfPod
	case c.Read && !c.Root:
		return probes.OfOther
	case c.Depth > 1 && g != SystemGroup:
		return probes.OfOther
	case g == ContainerGroup:
		return probes.OfContainer
	}
	return probes.OfHost
}

// Of judges one process of a running machine by its number. A node that is itself a
// container makes its daemons look like those of a container, which is as good.
func Of(h host.Host, pid int) probes.Standing {
	dir := "proc/" + strconv.Itoa(pid) + "/"
	group, err := h.ReadFile(dir+"cgroup", 0)
	if err != nil && !host.Vanished(err) {
		return probes.OfOther
	}
	status, err := h.ReadFile(dir+"status", 0)
	if err != nil {
		return probes.OfOther
	}
	return Judge(&probes.Process{}, ParseCgroup(string(group), "").Group, ParseCredentials(status))
}

// ParseCredentials reads NSpid and Uid of proc/PID/status (proc_pid_status(5)). The
// kernel escapes line feeds in the name, so that no process can write lines here.
func ParseCredentials(b []byte) Credentials {
	c := Credentials{Read: len(b) > 0}
	for _, line := range strings.Split(string(b), "\n") {
		key, value, _ := strings.Cut(line, ":")
		fields := strings.Fields(value)
		switch key {
		case "NSpid":
			c.Depth = len(fields)
		case "Uid": // real, effective, saved, of the file system
			c.Root = len(fields) > 1 && fields[1] == "0"
		}
	}
	return c
}
