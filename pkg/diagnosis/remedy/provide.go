package remedy

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/machine"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Install brings a program onto a node in the way of its system. Where nothing is
// installed on a running node, the step is words and lines of configuration.
func Install(x *snapshot.Index, node string, p Package, program string) Step {
	f, known := familyOf(x, node)
	if f.column == none {
		return image(f, p)
	}
	pkg := packages[p][f.column]
	s := Step{
		Name: "install-package", Title: titled("Install package %s.", pkg), Risk: Reversible,
		Commands: []Command{OnNode(node, append(slices.Clone(f.install), pkg)...)},
		Verify:   []Command{OnNode(node, "sh", "-c", "command -v "+program)}, // nothing takes it back: soon other volumes rest on it
		Guards: []Guard{
			systemKnown(node, f, known),
			{
				Question: "program-missing", Fact: titled("node %s has no %s", node, program),
				Ask:  func(x *snapshot.Index) evidence.Answer { return evidence.Not(machine.Program(x, node, program)) },
				Look: []Command{OnNode(node, "sh", "-c", "command -v "+program)}, On: Target{Node: node},
			},
		},
	}
	if p == ISCSITools {
		s = s.If(noDaemon(node)) // the package starts its own beside that of a pod
	}
	if f.reboot {
		s.Risk = Disruptive
		s = s.Note("It is there after a reboot: drain the node first.")
	}
	return s
}

// systemKnown is the precondition of steps that differ by system.
func systemKnown(node string, f family, known evidence.Answer) Guard {
	return Guard{
		Question: "system-known", Fact: titled("node %s is %s", node, f.name),
		Ask:  func(*snapshot.Index) evidence.Answer { return known },
		Look: []Command{OnNode(node, "cat", "/etc/os-release")}, On: Target{Node: node},
	}
}

// Load brings a module into the kernel of a node that has it on disk, now and at each boot.
func Load(x *snapshot.Index, node, module string) Step {
	f, known := familyOf(x, node)
	if s, ok := configured(f, module); ok {
		return s
	}
	s := Step{
		Name: "load-module", Title: titled("Load module %s, now and at each boot.", module), Risk: Reversible,
		Commands: []Command{OnNode(node, "modprobe", operand(module))},
		Undo:     []Command{OnNode(node, "modprobe", "-r", operand(module))},
		Verify:   []Command{OnNode(node, "grep", "-w", module, "/proc/modules")},
		Guards: []Guard{
			{
				Question: "module-on-disk", Fact: titled("the kernel of node %s has module %s on disk", node, module),
				Ask:  func(x *snapshot.Index) evidence.Answer { return machine.Module(x, node, module) },
				Look: []Command{OnNode(node, "cat", "/proc/modules")}, On: Target{Node: node},
			},
			systemKnown(node, f, known),
		},
	}
	if Contained(x, node) {
		return Words(titled("Load module %s on the machine around the node, which is a container: modprobe %s there.", module, module))
	}
	return s.In("/etc/modules-load.d/storage.conf", module)
}

// StartISCSI starts the iSCSI daemon of a node whose programs are there.
func StartISCSI(x *snapshot.Index, node string) Step {
	f, known := familyOf(x, node)
	switch f.name {
	case "Talos":
		return Check("The extension iscsi-tools runs the daemon: see why it does not.", Quote("talosctl", "-n", addressOf(x, node), "service", "ext-iscsid"))
	case "Red Hat CoreOS", "NixOS", "Bottlerocket":
		return image(f, ISCSITools)
	}
	if Contained(x, node) {
		return Words("The node is a container: run iscsid inside it. A daemon of the machine around it does not serve it.")
	}
	start := strings.Fields("systemctl enable --now iscsid")
	if f.column == alpine {
		start = strings.Fields("rc-service iscsid start")
	}
	return Step{
		Name: "start-iscsid", Title: "Start the iSCSI daemon and keep it.", Risk: Reversible,
		Commands: []Command{OnNode(node, start...)},
		Verify:   []Command{OnNode(node, "grep", "-F", "ISCSIADM_ABSTRACT_NAMESPACE", "/proc/1/net/unix")},
		Guards: []Guard{
			{
				Question: "program-there", Fact: titled("node %s has iscsiadm", node),
				Ask:  func(x *snapshot.Index) evidence.Answer { return machine.Program(x, node, "iscsiadm") },
				Look: []Command{OnNode(node, "sh", "-c", "command -v iscsiadm")}, On: Target{Node: node},
			},
			noDaemon(node),
			systemKnown(node, f, known),
		},
	}
}

// StartStatd starts the daemon of NFSv3's locks. Its unit has no section Install, so that enabling it keeps
// nothing (systemd/rpc-statd.service of nfs-utils); start-statd itself adds it to remote-fs.target until the reboot.
func StartStatd(x *snapshot.Index, node string) Step {
	if systemOf(x, node) == talos { // storage/nfs-utils of siderolabs/extensions
		return extended("siderolabs/nfs-utils")
	}
	return Words("Start the service and keep it on node " + node + ": systemctl start rpc-statd, and systemctl add-wants remote-fs.target rpc-statd.service (enable keeps nothing, as the unit has no section Install); rpcbind has to run, too. The kubelet mounts at its next attempt.")
}

// noDaemon wants no iSCSI daemon on a node, of the host or of a pod: two of them share the kernel's sessions.
func noDaemon(node string) Guard {
	return Guard{
		Question: "daemon-missing", Fact: titled("no iSCSI daemon runs on node %s", node),
		Ask:  func(x *snapshot.Index) evidence.Answer { return evidence.Not(machine.ISCSIDaemon(x, node)) },
		Look: []Command{OnNode(node, "grep", "-F", "ISCSIADM_ABSTRACT_NAMESPACE", "/proc/1/net/unix")}, On: Target{Node: node},
	}
}
