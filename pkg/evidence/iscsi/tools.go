package iscsi

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// What Longhorn's environment check and nsenter(1) say without the program; the first is
// the word of who looked for it.
var (
	toolChecked = pattern.MustCompile(`make sure you have iscsiadm/open-iscsi installed`)
	toolWords   = pattern.MustCompile(toolChecked.String() + `|(?i)iscsiadm\\?['"]?: (executable file )?(not found|no such file)|execute \S*iscsiadm\S*: No such file|iscsiadm: command not found|(?s)iscsi(?:adm|:).*exit status 127\b`)
	toolSpoke   = pattern.MustCompile(`iscsiadm: (?:initiator reported error|Could not (?:log ?in|log into|perform))`) // usr/iscsiadm.c, usr/iscsi_err.c
)

// NoTool asks whether the host of the place's node has no iscsiadm where it is looked
// for, and says where it lies instead.
func NoTool(pl *evidence.Place) (elsewhere string, a evidence.Answer) {
	if pl.View == nil {
		return "", pl.Probed().Nothing()
	}
	f := pl.View.Facts
	switch {
	case !f.ToolsRead():
		return "", evidence.Unseen(append(pl.Tables(probes.Files).Lacks(), evidence.Lack{Need: "node/" + pl.Node + "/" + string(probes.Files), Node: pl.Node, Why: "its programs were not read"})...)
	case f.Tool("iscsiadm") != "" || f.ISCSI.AdmPath != "":
		return "", evidence.No()
	}
	a = evidence.Yes(evidence.FromNode(pl.Node, "{"+strings.Join(probes.ToolDirs(), ", ")+"}/iscsiadm", "not there"))
	if elsewhere = f.ToolElsewhere("iscsiadm"); elsewhere != "" {
		a = a.With(evidence.FromNode(pl.Node, elsewhere, "there"))
	}
	return elsewhere, a
}

// ToolSaid asks whether somebody misses the program in fresh words, or Longhorn says so of
// the node; looked tells that it is the word of who looked for it.
func ToolSaid(pl *evidence.Place) (looked bool, a evidence.Answer) {
	for _, t := range Said(pl) {
		if toolWords.MatchString(t.Raw) {
			return toolChecked.MatchString(t.Raw), evidence.Yes(t.Evidence())
		}
	}
	if status, text := packages(pl.X, pl.Node); status == "False" && strings.Contains(text, "iscsi") {
		return false, evidence.Yes(evidence.FromAPI("nodes.longhorn.io "+pl.Node, "status.conditions[RequiredPackages]", text))
	}
	return false, evidence.No()
}

// ToolFound asks whether the program itself spoke to the driver, which may bring its own, or, where nobody
// attaches, whether Longhorn's own check of the node found it.
func ToolFound(pl *evidence.Place) evidence.Answer {
	if pl.Volume != nil {
		return evidence.Texts(pl.Texts).At(pl.Node).Say(func(t evidence.Text) bool {
			return t.Fresh && !t.OwnWord && toolSpoke.MatchString(t.Raw) && !toolWords.MatchString(t.Raw)
		})
	}
	if status, text := packages(pl.X, pl.Node); status == "True" {
		return evidence.Yes(evidence.FromAPI("nodes.longhorn.io "+pl.Node, "status.conditions[RequiredPackages]", text))
	}
	return evidence.Resource(pl.X, "longhorn.io/nodes").Found()
}

func packages(x *snapshot.Index, node string) (status, text string) {
	lh := x.LHNode(node)
	if lh == nil {
		return "", ""
	}
	c, ok := lh.Conditions.Get("RequiredPackages")
	if !ok {
		return "", ""
	}
	return c.Status, strings.Trim(c.Reason+": "+c.Message, ": ")
}

// OfHost asks whether it is the host's program that is missed. Longhorn always enters the
// host's namespace; another driver may bring its own, and then its sessions show that.
func OfHost(pl *evidence.Place) evidence.Answer {
	longhorn := pl.Volume != nil && pl.Volume.IsLonghorn() || pl.Volume == nil && strings.Contains(nodeNeeds(pl), "Longhorn")
	return evidence.When(longhorn || pl.View == nil || len(pl.View.Facts.ISCSI.Sessions) == 0)
}

// HostsKubelet asks whether the kubelet looks for the program on the host: one that runs in
// a container and attaches in-tree volumes itself looks there.
func HostsKubelet(pl *evidence.Place) evidence.Answer {
	if pl.View == nil || pl.Volume == nil || pl.Volume.CSIName() != "" {
		return evidence.Yes()
	}
	k, host := pl.View.Facts.Kubelet.MntNS, pl.View.Facts.Identity.InitMntNS
	if k == 0 || host == 0 || k == host {
		return evidence.Yes()
	}
	return evidence.Unseen(evidence.Lack{Need: "an iscsiadm in the container that the kubelet of node " + pl.Node + " runs in", Node: pl.Node, Why: "it looks there and not on the host"})
}
