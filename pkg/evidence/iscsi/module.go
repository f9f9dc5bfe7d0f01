package iscsi

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/kmod"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// The words of open-iscsi (usr/transport.c), kmod and modprobe(8); 12 is
// ISCSI_ERR_TRANS_NOT_FOUND of include/iscsi_err.h. Only those of the first
// line say that the kernel has no such module.
var (
	moduleGone  = pattern.MustCompile(`Module iscsi_tcp not found|Could not insert module tcp\. Kmod error -2|could not find module by name='iscsi_tcp'`)
	moduleWords = pattern.MustCompile(moduleGone.String() + `|iSCSI driver (tcp is not loaded|not found)|NETLINK_ISCSI socket \[Protocol not supported\]|iscsi(?:adm|:)(?s:.*)exit status 12\b`)
)

// ModuleSaid asks whether iscsiadm, iscsid or modprobe miss the initiator over TCP in their
// fresh words, or Longhorn says so of a node that was not looked at; gone tells that they
// say that the kernel has no such module.
func ModuleSaid(pl *evidence.Place) (gone bool, a evidence.Answer) {
	said := Said(pl)
	for _, form := range []*pattern.Pattern{moduleGone, moduleWords} {
		for _, t := range said {
			if form.MatchString(t.Raw) {
				return form == moduleGone, evidence.Yes(t.Evidence())
			}
		}
	}
	if n := pl.X.LHNode(pl.Node); n != nil && pl.View == nil {
		if c, ok := n.Conditions.Get("KernelModulesLoaded"); ok && c.Status == "False" && strings.Contains(c.Message, "iscsi_tcp") {
			return false, evidence.Yes(evidence.FromAPI("nodes.longhorn.io "+pl.Node, "status.conditions[KernelModulesLoaded]", c.Reason+": "+c.Message))
		}
	}
	return false, evidence.No()
}

// NoModule asks whether the running kernel of the place's node has iscsi_tcp neither
// loaded, nor built in, nor on the disk. Not on the disk is only known from the list of
// the running release; rebuilt tells that the disk has another release's instead.
func NoModule(pl *evidence.Place) (rebuilt bool, a evidence.Answer) {
	if pl.View == nil {
		return false, pl.Probed().Nothing()
	}
	f := pl.View.Facts
	release := f.Identity.Kernel
	dep, config := "lib/modules/"+release+"/modules.dep", "boot/config-"+release
	setting := ""
	for _, l := range strings.Split(f.Files[config].Content, "\n") {
		if strings.HasPrefix(l, "CONFIG_ISCSI_TCP=") || l == "# CONFIG_ISCSI_TCP is not set" {
			setting = l
		}
	}
	if f.Module("iscsi_tcp").Available() || slices.Contains(f.ISCSI.Transports, "tcp") || setting == "CONFIG_ISCSI_TCP=y" {
		return false, evidence.No()
	}
	var fact report.Evidence
	if setting != "" {
		fact = evidence.FromNode(pl.Node, config, setting)
	}
	if file, read := f.HostFile(dep); read && file.Err == "" && f.LoadedRead() {
		return false, evidence.Yes(evidence.FromNode(pl.Node, dep, "no iscsi_tcp"), evidence.FromNode(pl.Node, "proc/modules", "no iscsi_tcp"), fact)
	}
	if other, replaced := kmod.Replaced(pl.View); other != "" && f.LoadedRead() {
		return true, evidence.Yes(replaced, evidence.FromNode(pl.Node, "proc/modules", "no iscsi_tcp"), fact)
	}
	return false, evidence.Unseen(evidence.Lack{Need: "the module lists (modules.dep, modules.builtin, proc/modules) of node " + pl.Node, Node: pl.Node, Why: "they were not read"}).With(fact)
}
