package transport

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/kmod"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nodeplugin"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// KernelModuleMissing finds a node whose running kernel lacks the module that a volume needs.
var KernelModuleMissing = &diagnosis.Rule{
	Name: "kernel-module-missing", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing, diagnosis.Attaching},
	LeadsTo:  []string{"csi-plugin-not-registered", "local-pool-inactive", "longhorn-v2-engine-stuck"},
	YieldsTo: []string{"iscsi-module-missing", "encryption-tools-missing", "nfs-version-unsupported", "csi-plugin-not-on-node", "driver-never-serves-node", "longhorn-share-manager-misplaced"},
	Asks:     diagnosis.EachPlace | diagnosis.EachSweep,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Volume == nil { // whether or not anybody waits
			return evidence.Each(append(nodeplugin.FailingOn(pl.X, pl.Node), nodeplugin.BesideOn(pl.X, pl.Node)...), unloaded)
		}
		said, spoken := kmod.SaidOf(pl)
		needs := kmod.Needs(pl)
		if spoken && !slices.Contains(needs, said.Module) {
			needs = said.Needs(needs)
		}
		ofLonghorn, word, listed := kmod.OfLonghorn(pl)
		for _, m := range ofLonghorn {
			needs = evidence.Once(needs, m)
		}
		var out []*diagnosis.Proof
		for _, m := range needs {
			by, hint := said, evidence.Answer{}
			if slices.Contains(ofLonghorn, m) {
				hint = listed
				if pl.View != nil && !spoken {
					by = word // beside the node's own lists, what Longhorn found counts
				}
			}
			lack := kmod.LackOf(pl, m, by)
			wanted := evidence.Any(kmod.Fails(pl), evidence.When(spoken, said.Fact), csi.WantedOn(pl, pl.Node))
			if !spoken {
				wanted = evidence.Any(kmod.Fails(pl), lack.Waits(pl, m))
			}
			release, _ := node.Kernel(pl.X, pl.Node)
			p := &diagnosis.Proof{
				Subject: diagnosis.NodeSubject(pl.Node), Says: lack.Says, AtMost: lack.AtMost(by),
				With:  words.Fields{"node": pl.Node, "module": m, "release": release, "why": lack.Why, "pv": pl.Volume.PVName(), "driver": ""},
				State: []evidence.Answer{wanted, lack.Is}, Hint: hint,
				Steps: moduleSteps(pl.Node, m, lack.Says),
			}
			if lack.Own != "" {
				p.Also = []string{"A container without " + lack.Own + " says the same: look first whether the node has it, and whether the driver's pod is privileged or mounts it."}
			}
			out = append(out, p)
		}
		return out
	},
}

// unloaded is a driver that does not serve a node, as it says because of a module.
func unloaded(f nodeplugin.Failing) *diagnosis.Proof {
	said, spoken := kmod.SaidBy(f.At.X, f.Driver, f.At.Node)
	if !spoken {
		return nil
	}
	lack := kmod.LackOf(f.At, said.Module, said)
	release, _ := node.Kernel(f.At.X, f.At.Node)
	p := &diagnosis.Proof{
		Subject: diagnosis.NodeSubject(f.At.Node), Says: lack.Says, AtMost: lack.AtMost(said), Severity: report.Degraded,
		With:  words.Fields{"node": f.At.Node, "module": said.Module, "release": release, "why": lack.Why, "pv": "", "driver": f.Driver},
		State: append([]evidence.Answer{lack.Is}, f.State...), Steps: moduleSteps(f.At.Node, said.Module, lack.Says),
	}
	p.Pod(f.Plugin)
	return p
}

func moduleSteps(node, module, says string) []remedy.Step {
	help := map[string]string{
		"absent":     "Install the distribution's extra package for exactly this kernel release (linux-modules-extra on Ubuntu, kernel-modules-extra on Red Hat and its kin, kernel-default in place of kernel-default-base on SUSE; DRBD, ZFS and Lustre have packages of their own; nvme_tcp came with Linux 5.0).",
		"replaced":   "Reboot the node into the kernel whose modules are installed, when its pods can be moved.",
		"unloadable": "Sign the module or enrol its key, or build it for exactly this kernel release.",
		"unloaded":   "Load it with modprobe " + module + " on the node (that can be undone), and list it in /etc/modules-load.d.",
		"said":       "Look whether the running kernel has the module at all: a package for exactly this release, or modprobe " + module + " and a line in /etc/modules-load.d.",
	}[says]
	return []remedy.Step{
		remedy.Check("See whether the running kernel has the module, and what loading it would do.", remedy.OnNode(node, "modinfo", "-n", module), remedy.OnNode(node, "modprobe", "-n", "-v", module), remedy.OnNode(node, "uname", "-r")),
		remedy.Words(help + " On Talos: machine.kernel.modules, and a system extension for what is not in its kernel; on OpenShift: a MachineConfig with modules-load.d; on Flatcar: Butane, or a system extension. The plugin's pod starts again by itself."),
	}
}
