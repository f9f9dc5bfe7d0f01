package transport

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed iscsi_tools_missing.md
var iscsiToolsMissingDoc string

// ISCSIToolsMissing finds nodes without open-iscsi, or with it where nobody looks.
var ISCSIToolsMissing = &diagnosis.Rule{
	Name: "iscsi-tools-missing", Layer: diagnosis.Transport, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("hostfiles")},
	Explains: []string{"attach-failed", "volume-attach-loop", "pod-waiting-for-volume", "mount-failed"},
	LeadsTo:  []string{"longhorn-control-plane-down", "iscsid-not-running"},
	YieldsTo: []string{"csi-plugin-not-on-node", "driver-never-serves-node", "longhorn-share-manager-misplaced"},
	Doc:      iscsiToolsMissingDoc,
	Run: func(p *diagnosis.Pass) {
		for _, n := range iscsiNeeds(p) {
			toolsMissing(p, n)
		}
	},
}

func toolsMissing(p *diagnosis.Pass, n need) {
	view := p.View(n.node)
	if view == nil || !view.Facts.ToolsRead() {
		toolsMissedByText(p, n)
		return
	}
	f := &view.Facts.ISCSI
	if view.Facts.Tool("iscsiadm") != "" || f.AdmPath != "" || !n.hostTools(view) || !n.attach() && packagesFound(p, n.node) {
		return
	}
	x := p.Find(report.Certain, diagnosis.NodeSubject(n.node))
	n.tie(x)
	searched := strings.Join(probes.ToolDirs(), ", ")
	x.Fact(diagnosis.FromNode(n.node, "{"+searched+"}/iscsiadm", "not there"))
	if at := view.Facts.ToolElsewhere("iscsiadm"); at != "" {
		x.Sayf("iscsiadm of node %s is at %s, outside the directories that are searched (/%s). Nothing that attaches over iSCSI finds it there, and it must: %s.", n.node, at, strings.ReplaceAll(searched, ", ", ", /"), n.why)
		x.Fact(diagnosis.FromNode(n.node, at, "there"))
		x.Advise(remedy.Words(fmt.Sprintf("Make %s reachable in a searched directory of node %s (a link in /usr/local/sbin), or set PATH for longhorn-manager, the instance-managers and the CSI pods.", at, n.node)))
	} else {
		x.Sayf("Node %s has no iscsiadm: open-iscsi is not installed on the host. It must be, for %s. What containers bring in their own images does not count.", n.node, n.why)
		x.Advise(install(n.node, view))
	}
	for _, t := range iscsiTexts(p, n.node) {
		if withoutTool.MatchString(t.Raw) {
			x.Fact(t.Evidence())
			break
		}
	}
	if k := view.Facts.Kubelet; n.inTree() && k.MntNS != 0 && view.Facts.Identity.InitMntNS != 0 && k.MntNS != view.Facts.Identity.InitMntNS {
		x.Missing("an iscsiadm in the container that the kubelet of node " + n.node + " runs in: it looks there and not on the host")
	}
	x.Unless("an iscsiadm in one of the searched directories of the host")
	p.Report(x)
}

// packagesFound tells whether Longhorn's own check of the node found open-iscsi; where
// nobody attaches, that speaks against a list of programs.
func packagesFound(p *diagnosis.Pass, node string) bool {
	lh := p.LHNode(node)
	if lh == nil {
		return false
	}
	c, ok := lh.Conditions.Get("RequiredPackages")
	return ok && c.Status == "True"
}

// inTree tells whether the kubelet itself attaches what waits.
func (n need) inTree() bool {
	return n.attach() && !slices.ContainsFunc(n.volumes, func(v *snapshot.Volume) bool { return v.CSIName() != "" })
}

// hostTools tells whether it is the host's program that is missed. Longhorn always
// enters the host's namespace; another driver may bring its own, and then its
// sessions show that it has one.
func (n need) hostTools(view *snapshot.NodeView) bool {
	for _, v := range n.volumes {
		if v.IsLonghorn() {
			return true
		}
	}
	return len(n.volumes) == 0 && strings.Contains(n.why, "Longhorn") || len(view.Facts.ISCSI.Sessions) == 0
}

func install(node string, view *snapshot.NodeView) remedy.Step {
	pkg := "open-iscsi (Debian, Ubuntu, SUSE) or iscsi-initiator-utils (Red Hat and its kin)"
	if view != nil {
		os := view.Facts.Identity.OSRelease
		switch like := os["ID"] + " " + os["ID_LIKE"]; {
		case strings.Contains(like, "debian"), strings.Contains(like, "suse"):
			pkg = "open-iscsi"
		case strings.Contains(like, "rhel"), strings.Contains(like, "fedora"):
			pkg = "iscsi-initiator-utils"
		}
	}
	return remedy.Words(fmt.Sprintf("Install %s on node %s and enable iscsid there (systemctl enable --now iscsid). The pods that crash or wait go on by themselves.", pkg, node))
}

// withoutTool is what Longhorn's environment check and nsenter(1) say.
var (
	withoutTool = regexp.MustCompile(`make sure you have iscsiadm/open-iscsi installed|(?i)iscsiadm\\?['"]?: (executable file )?(not found|no such file)|execute \S*iscsiadm\S*: No such file|iscsiadm: command not found|(?s)iscsiadm.*exit status 127\b`)
	firstHand   = regexp.MustCompile(`make sure you have iscsiadm/open-iscsi installed`)
)

// toolsMissedByText judges without the node: the check of longhorn-manager is
// first-hand, a condition of the Longhorn node and nsenter's words are hints.
func toolsMissedByText(p *diagnosis.Pass, n need) {
	certainty, said := report.Certainty(""), []report.Evidence(nil)
	for _, t := range iscsiTexts(p, n.node) {
		if !withoutTool.MatchString(t.Raw) {
			continue
		}
		said = append(said, t.Evidence())
		if certainty = report.Likely; firstHand.MatchString(t.Raw) {
			certainty = report.Certain
		}
		break
	}
	if lh := p.LHNode(n.node); lh != nil {
		c, ok := lh.Conditions.Get("RequiredPackages")
		if ok && c.Status == "False" && strings.Contains(c.Message, "iscsi") {
			said = append(said, diagnosis.FromAPI("nodes.longhorn.io "+n.node, "status.conditions[RequiredPackages]", c.Reason+": "+c.Message))
			if certainty == "" {
				certainty = report.Likely
			}
		}
	}
	if certainty == "" {
		if n.attach() {
			p.Probed(n.node)
		}
		return
	}
	f := p.Find(certainty, diagnosis.NodeSubject(n.node))
	n.tie(f)
	f.Sayf("iscsiadm is not found on the host of node %s: open-iscsi is not installed there, or not in the searched path. It must be, for %s.", n.node, n.why)
	f.Fact(said...)
	if certainty != report.Certain {
		f.Missing("the programs of node " + n.node)
	}
	f.Unless("an iscsiadm in one of the searched directories of the host")
	f.Advise(install(n.node, p.View(n.node)))
	p.Report(f)
}
