package mount

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/security"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// SecurityModuleDenies finds a volume whose mount, or whose own path, SELinux or AppArmor
// denies to somebody who needs it.
var SecurityModuleDenies = &diagnosis.Rule{
	Name: "security-module-denies", Layer: diagnosis.Mount, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Provisioning, diagnosis.Attaching, diagnosis.Staging, diagnosis.Publishing, diagnosis.Using},
	LeadsTo:  []string{"helper-pod-failed", "provisioning-failed", "attacher-not-working", "csi-plugin-not-registered"},
	YieldsTo: []string{"selinux-denies-iscsi", "selinux-label-conflict", "selinux-relabel-slow", "csi-plugin-not-on-node", "driver-never-serves-node", "longhorn-share-manager-misplaced"},
	Asks:     diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		seen, all := security.Places(pl)
		out := []*diagnosis.Proof{diagnosis.Unread(all)}
		for _, at := range seen {
			if d, ok := security.DenialOf(at); ok {
				p := &diagnosis.Proof{
					Subject: diagnosis.NodeSubject(at.Node), Says: d.Says,
					With:  words.Fields{"module": d.Module, "node": at.Node, "what": d.Line.What(), "comm": d.Line.Comm(), "volume": d.Volume, "pod": "", "object": d.Line.Object(), "label": d.Line.Label()},
					State: []evidence.Answer{d.Is, d.Stops}, Last: []evidence.Answer{d.Sure},
					Steps: append(booleanSteps(at.Node, d.Off...), securitySteps(at.Node, d.Module)...),
				}
				if d.Says == string(security.InUse) { // what a container is denied in a volume fails no mount of it
					p.Breaks = []diagnosis.Step{diagnosis.Using}
				}
				if d.Pod != nil {
					p.Subject, p.With["pod"] = diagnosis.PodSubject(d.Pod), d.Pod.Namespace+"/"+d.Pod.Name
					p.Pod(d.Pod)
				}
				p.At(at.Node)
				out = append(out, p)
			} else if b, off := security.Forbids(at); off.Yes() {
				p := &diagnosis.Proof{
					Subject: diagnosis.NodeSubject(at.Node), Says: "boolean", AtMost: report.Likely,
					With:  words.Fields{"node": at.Node, "volume": d.Volume, "boolean": b.Name, "mounts": b.Mounts},
					State: []evidence.Answer{b.WorksElsewhere(at)}, Hint: off,
					Steps: booleanSteps(at.Node, b),
				}
				p.At(at.Node)
				out = append(out, p)
			}
		}
		return out
	},
}

func securitySteps(node, module string) []remedy.Step {
	show := remedy.OnNode(node, "journalctl", "-k", "-g", `apparmor="DENIED"`, "--since", "-1h")
	help := "Correct the AppArmor profile that the line names. In a container of LXC it is the profile on the host."
	if module == "SELinux" {
		show = remedy.OnNode(node, "journalctl", "-k", "-g", "avc:.*denied", "--since", "-1h")
		help = "Take the narrowest of these: the distribution's policy package (container-selinux, k3s-selinux, rke2-selinux); the label container_file_t for the host's directory (semanage fcontext, restorecon -R; a share has none); one seLinuxOptions.level for all pods of a shared directory; an SCC or MachineConfig on OpenShift; on Talos an upgrade, or no enforcing=1. Do not switch SELinux off, and do not make the application's pods privileged."
	}
	return []remedy.Step{remedy.Check("See what is denied.", show), remedy.Words(help)}
}

func booleanSteps(node string, off ...security.Boolean) []remedy.Step {
	var out []remedy.Step
	for _, b := range off {
		out = append(out, remedy.Check("See the boolean.", remedy.OnNode(node, "getsebool", b.Name)),
			remedy.Words("Switch it on with setsebool -P "+b.Name+" on, on every node that may run the pod (OpenShift: a MachineConfig). Do not switch SELinux off."))
	}
	return out
}
