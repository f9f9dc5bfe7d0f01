package transport

import (
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/iscsi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed iscsi_initiator_name_invalid.md
var iscsiInitiatorNameInvalidDoc string

// ISCSIInitiatorNameInvalid finds nodes whose initiator has no name, none that is
// valid, or one that the target does not let in.
var ISCSIInitiatorNameInvalid = &diagnosis.Rule{
	Name: "iscsi-initiator-name-invalid", Layer: diagnosis.Transport, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("iscsi"), diagnosis.Probe("hostfiles")},
	Explains: []string{"attach-failed", "volume-attach-loop", "mount-failed", "pod-waiting-for-volume"},
	LeadsTo:  []string{"iscsid-not-running"},
	YieldsTo: []string{"csi-plugin-not-on-node", "driver-never-serves-node", "longhorn-share-manager-misplaced"},
	Doc:      iscsiInitiatorNameInvalidDoc,
	Run: func(p *diagnosis.Pass) {
		for _, n := range iscsiNeeds(p) {
			view := p.View(n.node)
			if view == nil {
				nameRefusedByText(p, n)
				continue
			}
			if defect := nameDefect(view); defect != "" {
				nameInvalid(p, n, view, defect)
			} else if n.attach() {
				nameNotAllowed(p, n, view)
			}
		}
	},
}

const initiatorFile = iscsi.InitiatorFile

var (
	nameWords    = regexp.MustCompile(`(?i)Invalid Initiatorname|Initiatorname required|InitiatorName file \S+ does not exist`)
	wrongName    = regexp.MustCompile(`Invalid Initiatorname`)
	nothingShown = regexp.MustCompile(`No portals found`)
	noPortals    = regexp.MustCompile(`No portals found|(?i)authorization failure|exit status 24\b`)
)

func nameDefect(view *snapshot.NodeView) string { return iscsi.NameDefect(view) }

// nameLine quotes the line of the file that should hold the name.
func nameLine(view *snapshot.NodeView) report.Evidence {
	file, ok := view.Facts.Files[initiatorFile]
	if !ok {
		return diagnosis.FromNode(view.Name, initiatorFile, "not there")
	}
	for i, l := range strings.Split(file.Content, "\n") {
		if strings.Contains(l, "InitiatorName=") {
			return diagnosis.FromNode(view.Name, fmt.Sprintf("%s:%d", initiatorFile, i+1), l)
		}
	}
	return diagnosis.FromNode(view.Name, initiatorFile, "no line InitiatorName=")
}

func nameInvalid(p *diagnosis.Pass, n need, view *snapshot.NodeView, defect string) {
	said, failing := nameText(p, n, nameWords)
	for _, v := range n.volumes {
		failing = failing || p.Suffers(v, "attach-failed", "volume-attach-loop", "mount-failed")
	}
	certainty := report.Likely
	if failing && n.attach() {
		certainty = report.Certain
	}
	f := p.Find(certainty, diagnosis.NodeSubject(n.node))
	n.tie(f)
	f.Sayf("The iSCSI initiator of node %s has no valid name: /%s %s. Without one every discovery and login of the node fails, whatever runs. %s.", n.node, initiatorFile, defect, sentence(n.why))
	f.Fact(nameLine(view)).Fact(said...)
	if certainty != report.Certain {
		f.NotConfirmed = append(f.NotConfirmed, "an attach over iSCSI that fails on node "+n.node+" now")
	}
	f.Unless("an InitiatorName in the file that begins with iqn., eui. or naa.")
	f.Advise(nameAdvice(n.node, view, "InitiatorName=$(iscsi-iname)"))
	p.Report(f)
}

func nameAdvice(node string, view *snapshot.NodeView, line string) remedy.Step {
	before := ""
	if view != nil && len(view.Facts.ISCSI.Sessions) > 0 {
		before = " The node has iSCSI sessions, which the restart drops: move its pods away first."
	}
	return remedy.Words("On node " + node + " write the line " + line + " to /" + initiatorFile + " and restart iscsid." + before + " Targets that allow initiators by name must know the new one.")
}

func nameText(p *diagnosis.Pass, n need, words *regexp.Regexp) (said []report.Evidence, ok bool) {
	for _, t := range iscsiTexts(p, n.node) {
		if words.MatchString(t.Raw) {
			return []report.Evidence{t.Evidence()}, true
		}
	}
	return nil, false
}

// nameRefusedByText judges without the file. "Initiatorname required" alone also
// means that the daemon did not answer.
func nameRefusedByText(p *diagnosis.Pass, n need) {
	said, ok := nameText(p, n, wrongName)
	if !ok {
		if _, maybe := nameText(p, n, nameWords); maybe {
			p.Probed(n.node)
		}
		if said, ok = nameText(p, n, nothingShown); ok && !longhornOnly(n) {
			p.Probed(n.node)
			f := p.Find(report.Possible, diagnosis.NodeSubject(n.node))
			n.tie(f)
			f.Sayf("The iSCSI target shows nothing to node %s (No portals found). That is how storage answers an initiator whose name it does not know; the name stands in /%s of the node. %s.", n.node, initiatorFile, sentence(n.why))
			f.Fact(said...).Missing(initiatorFile + " of node " + n.node)
			f.Unless("the name in the file is the one that the storage has for this node")
			f.Advise(remedy.Words("Compare the name in /" + initiatorFile + " of node " + n.node + " with the one that the storage has registered for it."))
			p.Report(f)
		}
		return
	}
	p.Probed(n.node)
	f := p.Find(report.Likely, diagnosis.NodeSubject(n.node))
	n.tie(f)
	f.Sayf("iscsiadm of node %s calls the name of its initiator invalid; the name stands in /%s. %s.", n.node, initiatorFile, sentence(n.why))
	f.Fact(said...).Missing(initiatorFile + " of node " + n.node)
	f.Unless("an InitiatorName in the file that begins with iqn., eui. or naa.")
	f.Advise(nameAdvice(n.node, nil, "InitiatorName=$(iscsi-iname)"))
	p.Report(f)
}

// longhornOnly tells whether all that waits is Longhorn's, whose targets accept any valid name.
func longhornOnly(n need) bool {
	return !slices.ContainsFunc(n.volumes, func(v *snapshot.Volume) bool { return !v.IsLonghorn() })
}

// nameNotAllowed compares the node's name with the one that the storage has for it,
// when the target shows nothing to this initiator.
func nameNotAllowed(p *diagnosis.Pass, n need, view *snapshot.NodeView) {
	said, ok := nameText(p, n, noPortals)
	if !ok {
		return
	}
	mine := view.Facts.ISCSI.InitiatorName
	other, from, current := registeredName(p, n, mine)
	if other == "" {
		return
	}
	certainty := report.Likely
	if current {
		certainty = report.Certain
	}
	f := p.Find(certainty, diagnosis.NodeSubject(n.node))
	n.tie(f)
	f.Sayf("The iSCSI target shows nothing to node %s (No portals found, or not authorised): the node calls itself %s in /%s, and the storage knows it as %s. The names must be equal. %s.",
		n.node, mine, initiatorFile, other, sentence(n.why))
	f.Fact(nameLine(view), from).Fact(said...)
	if !current {
		f.Missing("the name that the storage has registered for node " + n.node + " now")
	}
	f.Unless("equal names on both sides")
	f.Advise(nameAdvice(n.node, view, "InitiatorName="+other))
	p.Report(f)
}

// registeredName finds another name of the node's initiator than it has, for one of the
// volumes that wait there.
func registeredName(p *diagnosis.Pass, n need, mine string) (name string, from report.Evidence, current bool) {
	for _, v := range n.volumes {
		if name, from, current = iscsi.Registered(&evidence.Place{X: p.Index, Volume: v, Node: n.node, View: p.View(n.node)}, mine); name != "" {
			return name, from, current
		}
	}
	return "", report.Evidence{}, false
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
