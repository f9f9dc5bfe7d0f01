package transport

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed iscsi_module_missing.md
var iscsiModuleMissingDoc string

// ISCSIModuleMissing finds nodes whose kernel has no iSCSI initiator over TCP.
var ISCSIModuleMissing = &diagnosis.Rule{
	Name: "iscsi-module-missing", Layer: diagnosis.Transport, Severity: report.Blocking,
	Explains: []string{"attach-failed", "volume-attach-loop", "pod-waiting-for-volume"},
	LeadsTo:  []string{"iscsid-not-running"},
	YieldsTo: []string{"csi-plugin-not-on-node", "driver-never-serves-node", "longhorn-share-manager-misplaced"},
	Doc:      iscsiModuleMissingDoc,
	Run: func(p *diagnosis.Pass) {
		for _, n := range iscsiNeeds(p) {
			moduleMissing(p, n)
		}
	},
}

// The words of open-iscsi (usr/transport.c), kmod and modprobe(8). Only those of
// the first line say that the kernel has no such module.
var (
	moduleGone  = regexp.MustCompile(`Module iscsi_tcp not found|Could not insert module tcp\. Kmod error -2|could not find module by name='iscsi_tcp'`)
	moduleWords = regexp.MustCompile(moduleGone.String() + `|iSCSI driver (tcp is not loaded|not found)|NETLINK_ISCSI socket \[Protocol not supported\]`)
)

// moduleState is what is known of iscsi_tcp on a node.
type moduleState struct {
	absent  bool // in none of the kernel's lists
	present bool
	rebuilt bool // the running kernel's modules are gone from the disk: it was updated
	facts   []report.Evidence
}

//nolint:funlen // one decision, read from top to bottom
func moduleMissing(p *diagnosis.Pass, n need) {
	var s moduleState
	view := p.View(n.node)
	if view != nil {
		s = tcpModule(view)
	}
	said, explicit := nameText(p, n, moduleGone)
	if !explicit {
		said, _ = nameText(p, n, moduleWords)
	}
	if lh := p.LHNode(n.node); lh != nil && view == nil {
		c, ok := lh.Conditions.Get("KernelModulesLoaded")
		if ok && c.Status == "False" && strings.Contains(c.Message, "iscsi_tcp") {
			said = append(said, diagnosis.FromAPI("nodes.longhorn.io "+n.node, "status.conditions[KernelModulesLoaded]", c.Reason+": "+c.Message))
		}
	}
	certainty := report.Certainty("")
	switch {
	case s.present:
		return
	case s.absent, explicit:
		certainty = report.Certain
	case len(said) > 0:
		certainty = report.Likely
	default:
		if n.attach() {
			p.Probed(n.node) // absence of a word proves nothing
		}
		return
	}
	release, where := kernelOf(p, n.node)
	f := p.Find(certainty, diagnosis.NodeSubject(n.node))
	n.tie(f)
	text := fmt.Sprintf("The kernel %s of node %s has no module iscsi_tcp, so no iSCSI login is possible there", release, n.node)
	switch {
	case s.rebuilt:
		text += ": the directory of its modules is gone, as after an update without a reboot. "
	case s.absent:
		text += ": it is neither loaded nor built in nor on disk. "
	default:
		text += ". "
	}
	f.Sayf("%s%s. iscsid cannot help: starting it again changes nothing.", text, sentence(n.why))
	f.Fact(s.facts...).Fact(said...)
	if len(s.facts) == 0 {
		f.Fact(diagnosis.FromNode(n.node, where, release))
	}
	if certainty != report.Certain {
		f.Missing("the module lists (modules.dep, modules.builtin) of node " + n.node)
		p.Probed(n.node)
	}
	f.Unless("iscsi_tcp in proc/modules, or in modules.dep or modules.builtin of the running kernel")
	if s.rebuilt {
		f.Advise(remedy.Words("Reboot node " + n.node + " into the kernel whose modules are installed, after draining it."))
	} else {
		f.Advise(remedy.Words("Install the kernel flavour or the package of extra modules that has iscsi_tcp on node " + n.node + " (kernel-default instead of kernel-default-base, linux-modules-extra, a generic kernel instead of a vendor's) and reboot into it. Until then keep pods with such volumes on other nodes."))
	}
	p.Report(f)
}

// tcpModule looks for iscsi_tcp everywhere that the kernel tells of it.
func tcpModule(view *snapshot.NodeView) moduleState {
	var s moduleState
	release := view.Facts.Identity.Kernel
	m := view.Facts.Module("iscsi_tcp")
	for _, t := range view.Facts.ISCSI.Transports {
		s.present = s.present || t == "tcp"
	}
	dep := "lib/modules/" + release + "/modules.dep"
	file, read := view.Facts.HostFile(dep)
	read = read && file.Err == ""
	config := "boot/config-" + release
	setting := ""
	for _, l := range strings.Split(view.Facts.Files[config].Content, "\n") {
		if strings.HasPrefix(l, "CONFIG_ISCSI_TCP=") || l == "# CONFIG_ISCSI_TCP is not set" {
			setting = l
		}
	}
	s.present = s.present || m.Available() || setting == "CONFIG_ISCSI_TCP=y"
	s.absent = !s.present && read
	s.rebuilt = !s.present && !read && otherModules(view, release)
	if s.absent {
		s.facts = append(s.facts, diagnosis.FromNode(view.Name, dep, "no iscsi_tcp"), diagnosis.FromNode(view.Name, "proc/modules", "no iscsi_tcp"))
	}
	if setting != "" && !s.present {
		s.facts = append(s.facts, diagnosis.FromNode(view.Name, config, setting))
	}
	return s
}

// otherModules tells whether the lists of another kernel are on the disk.
func otherModules(view *snapshot.NodeView, release string) bool {
	for path := range view.Facts.Files {
		if i := strings.Index(path, "lib/modules/"); i >= 0 && strings.HasSuffix(path, "/modules.dep") && !strings.Contains(path, "/"+release+"/") {
			return true
		}
	}
	return false
}
