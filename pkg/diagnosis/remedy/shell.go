package remedy

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// What `kubectl debug node` starts where no probe was there before: the image only
// needs nsenter. Other namespaces may be kept from privileged pods by their Pod
// Security level; kube-system is not.
const (
	debugImage     = "busybox:1.36"
	debugNamespace = "kube-system"
)

// These stand for what each system does in another way.
const (
	kubeletLog = "@kubelet"
	kernelLog  = "@kernel"
	dialPort   = "@dial" // host, port
)

// KubeletLog shows what the kubelet of a node wrote last.
func KubeletLog(node string) Command { return OnNode(node, kubeletLog) }

// KernelLog shows the kernel's messages of a node.
func KernelLog(node string) Command { return OnNode(node, kernelLog) }

// shell is the one place that knows how to run something on one node.
type shell struct {
	x                            *snapshot.Index
	node                         string
	system                       system
	image, namespace, talosctlTo string
	silent                       bool // its kubelet does not report, or did not start the probe: no pod starts there, not even one that looks
}

// shellOf takes the image and the namespace with which the probe just worked.
func shellOf(x *snapshot.Index, node string) shell {
	s := shell{x: x, node: node, system: systemOf(x, node), image: debugImage, namespace: debugNamespace}
	if r := x.Nodes[node]; r != nil && r.Image != "" && r.Namespace != "" {
		s.image, s.namespace = r.Image, r.Namespace
	}
	if s.system == talos {
		s.talosctlTo = addressOf(x, node)
	}
	byPod := x.Nodes[node] != nil && x.Nodes[node].Image != "" // a recording alone may be of any time, and made by hand
	s.silent = x.StartsNoPod(node) || !byPod && x.NodeReady(node).Unknown
	return s
}

// line writes a command for the person's own shell. Not ok: the node has no such
// program, or nothing that could run it.
func (s shell) line(argv []string) (string, bool) {
	line, ok := s.way(argv)
	if s.silent && strings.HasPrefix(line, "kubectl debug ") {
		return "", false
	}
	return line, ok
}

func (s shell) way(argv []string) (string, bool) {
	if s.system == closed {
		return "", false
	}
	if s.system == talos {
		if line, ok := s.talosctl(argv); ok {
			return line, true
		}
	}
	switch argv[0] {
	case kubeletLog:
		argv = []string{"journalctl", "-u", kubeletUnits(s.x, s.node), "--since", "-30min", "--no-pager"}
	case kernelLog:
		argv = []string{"dmesg", "-T"}
	case dialPort:
		if (s.system == talos || s.system == bottlerocket) && !s.silent {
			return s.debug([]string{"nc", "-vz", "-w", "5", argv[1], argv[2]}), true
		}
		argv = []string{"timeout", "5", "bash", "-c", "echo > " + quote("/dev/tcp/"+argv[1]+"/"+argv[2]) + " && echo open"}
	}
	switch s.system {
	case talos:
		return s.fromTools(argv)
	case bottlerocket:
		if isScript(argv) && !s.silent {
			return s.fromTools(argv)
		}
	case nixos:
		argv = append([]string{"/usr/bin/env", "PATH=/run/wrappers/bin:/run/current-system/sw/bin"}, argv...)
	case openshift:
		if s.silent {
			break
		}
		return Quote(append([]string{"oc", "debug", "node/" + s.node, "--", "nsenter", "-t", "1", "-m", "--"}, argv...)...), true
	case common, closed:
	}
	if s.silent {
		return Quote(argv...), true
	}
	return s.debug(append([]string{"nsenter", "-t", "1", "-m", "--"}, argv...)), true
}

// byHand says where commands have to be run that no pod can run.
func byHand(x *snapshot.Index, list []Command) string {
	for _, c := range list {
		if node, argv, ok := ofNode(c); ok {
			s := shellOf(x, node)
			if line, ok := s.line(argv); ok && s.silent && !strings.HasPrefix(line, "talosctl ") {
				if !x.NodeReady(node).Unknown {
					return " No probe pod was started on node " + node + " in time, so this needs a shell of the node."
				}
				return " No pod starts on node " + node + " while its kubelet is silent: run this in a shell of the node."
			} else if ok && strings.HasPrefix(line, "kubectl debug ") && x.Refused(node) {
				return " You were refused a pod on node " + node + ": somebody who may debug nodes has to run this."
			}
		}
	}
	return ""
}

// debug starts a pod that has the host's PID, network, IPC and UTS namespaces already
// (profile sysadmin); for the mounts it enters the namespace of process 1 instead of
// using chroot /host: that would unmount only a copy. The debug pod mounts the host's
// root privately and pins mounts while it lives.
func (s shell) debug(argv []string) string {
	words := []string{"kubectl", "debug", "node/" + s.node, "-n", s.namespace, "-it", "--profile=sysadmin", "--image=" + s.image, "--"}
	return Quote(append(words, argv...)...)
}

// fromTools runs a look with the programs of the debug image, outside of the node's
// mount namespace: proc and sys are the node's all the same, its files are not. So only
// what reads there can be asked.
func (s shell) fromTools(argv []string) (string, bool) {
	text := strings.Join(argv, " ")
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" '\"<>|;&(){}", r) })
	for i, w := range words {
		inTools := slices.Contains([]string{"sh", "-c", "cat", "grep", "ls", "head", "tail", "dmesg", "ps", "nc", "uname"}, w)
		if i == 0 && !inTools {
			return "", false
		}
		if strings.HasPrefix(w, "/") && !strings.HasPrefix(w, "/proc/") && !strings.HasPrefix(w, "/sys/") && w != "/dev/null" && !strings.HasPrefix(w, "/dev/") {
			return "", false
		}
	}
	if isScript(argv) && changes(argv[2]) {
		return "", false
	}
	return s.debug(argv), true
}

// changes tells whether a script does anything but look.
func changes(script string) bool {
	parts := strings.FieldsFunc(script, func(r rune) bool { return strings.ContainsRune("|;&{}", r) })
	return slices.ContainsFunc(parts, func(part string) bool {
		f := strings.Fields(part)
		return len(f) > 0 && !slices.Contains([]string{"grep", "ls", "cat", "head", "tail"}, f[0])
	})
}

// talosctl writes a look as the API of Talos has it.
func (s shell) talosctl(argv []string) (string, bool) {
	to := []string{"talosctl", "-n", s.talosctlTo}
	last := argv[len(argv)-1]
	switch argv[0] {
	case kubeletLog:
		return Quote(append(to, "logs", "kubelet", "--tail", "200")...), true
	case kernelLog, "dmesg":
		return Quote(append(to, "dmesg")...), true
	case "lsblk", "blkid":
		return Quote(append(to, "get", "discoveredvolumes")...), true
	case "findmnt":
		return Quote(append(to, "mounts")...), true
	case "cat", "tail":
		if len(argv) == 2 || argv[0] == "tail" {
			return Quote(append(to, "read", last)...), true
		}
	case "ls":
		return Quote(append(to, "ls", "-l", last)...), true
	case "iscsiadm":
		// The extension iscsi-tools runs iscsid in a container; its tools are only there.
		if !slices.ContainsFunc(argv, func(w string) bool { return strings.HasPrefix(w, "--log") }) {
			script := "nsenter -t $(pidof iscsid) -m -n " + Quote(argv...)
			return s.debug([]string{"sh", "-c", script}), true
		}
	}
	return "", false
}

// afterwards removes the debug pods of kubectl that have ended (kubectl labels them;
// they stay until somebody deletes them). That one has ended is known some seconds after
// its command has. oc deletes its own.
func (s shell) afterwards() Command {
	return Kubectl("-n", s.namespace, "delete", "pod", "-l", "app.kubernetes.io/managed-by=kubectl-debug", "--field-selector", "status.phase!=Running,status.phase!=Pending")
}

func isScript(argv []string) bool { return len(argv) == 3 && argv[0] == "sh" && argv[1] == "-c" }

// Dial tries a port from a node. Not every system has nc; bash connects by itself.
func Dial(node, host, port string) Command {
	return OnNode(node, dialPort, host, port)
}
