package iscsi

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// InitiatorFile holds the name of a node's initiator.
const InitiatorFile = "etc/iscsi/initiatorname.iscsi"

var (
	anyName     = pattern.MustCompile(`\b(?:iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+(?::[A-Za-z0-9._:-]+)?|eui\.[0-9A-Fa-f]{16}|naa\.[0-9A-Fa-f]{16,32})`)
	ownName     = pattern.MustCompile(`(?i)initiator|\biqn\b["']?\s*[=:]`)
	placeholder = pattern.MustCompile(`(?im)^\s*GenerateName\s*=\s*yes`)
)

// Valid tells whether a node's initiator has a name of a known form.
func Valid(c *probes.ISCSI) bool {
	return slices.ContainsFunc([]string{"iqn.", "eui.", "naa."}, func(form string) bool { return strings.HasPrefix(c.InitiatorName, form) })
}

// nameDefect says what is wrong with the file of the initiator's name, or nothing. The
// place-holder of a package is replaced at the daemon's first start.
func nameDefect(view *snapshot.NodeView) string {
	c := &view.Facts.ISCSI
	file, ok := view.Facts.Files[InitiatorFile]
	switch {
	case Valid(c) || ok && (file.Err != "" || c.InitiatorFile == ""): // seen, and the probe that takes the name out of it did not come so far
		return ""
	case !ok && c.InitiatorFile == "":
		if !view.Facts.ToolsRead() || view.Facts.Tool("iscsiadm") == "" {
			return "" // iscsi-tools-missing, or nobody looked
		}
		return "is not there"
	case placeholder.MatchString(file.Content) && len(c.DaemonPIDs) == 0:
		return ""
	case c.InitiatorName != "":
		return fmt.Sprintf("holds %q, which begins with none of iqn., eui. and naa.", c.InitiatorName)
	case strings.Contains(file.Content, "InitiatorName="):
		return "has an empty InitiatorName"
	}
	return "holds no InitiatorName"
}

// Nameless asks whether the initiator of the place's node has no valid name.
func Nameless(pl *evidence.Place) evidence.Answer {
	if pl.View == nil {
		return evidence.No() // whether it has one is asked where somebody says so
	}
	if defect, bad := BadName(pl); defect != "" {
		return bad
	}
	if Valid(&pl.View.Facts.ISCSI) {
		return evidence.No()
	}
	return evidence.Not(Read(pl))
}

// Registered finds another name of the node's initiator than it has: in its Node object
// or in the driver's entry of CSINode (present state), else in the log of a pod there.
func Registered(pl *evidence.Place, mine string) (name string, from report.Evidence, current bool) {
	if n := pl.X.Node(pl.Node); n != nil {
		for _, key := range slices.Sorted(maps.Keys(n.Annotations)) {
			if v := anyName.FindString(n.Annotations[key]); v != "" && v != mine && ownName.MatchString(key) {
				return v, evidence.FromAPI("Node "+pl.Node, "metadata.annotations["+key+"]", n.Annotations[key]), true
			}
		}
	}
	if pl.Volume.IsLonghorn() {
		return "", report.Evidence{}, false // its targets accept any valid name
	}
	if c := pl.X.CSINode(pl.Node); c != nil {
		for _, d := range c.Spec.Drivers {
			if name := anyName.FindString(d.NodeID); name != "" && d.Name == pl.Volume.CSIName() {
				if name == mine {
					return "", report.Evidence{}, false
				}
				return name, evidence.FromAPI("CSINode "+pl.Node, "spec.drivers["+d.Name+"].nodeID", d.NodeID), true
			}
		}
	}
	return inLogs(pl, mine)
}

// inLogs takes the name from what a plugin of nodes said there: a controller, which runs
// somewhere, names the initiators of any node.
func inLogs(pl *evidence.Place, mine string) (string, report.Evidence, bool) {
	for l := range evidence.Lines(evidence.VouchedOn(pl.X, pl.Node)) {
		if c := metav1.GetControllerOf(pl.X.Pod(l.Namespace, l.Pod)); c == nil || c.Kind != "DaemonSet" || !ownName.MatchString(l.Text) {
			continue
		}
		switch found, _ := named(l.Text); {
		case len(found) == 0 || strings.Contains(pl.Volume.Handle, found[0]):
		case found[0] == mine:
			return "", report.Evidence{}, false
		default:
			said := l.Evidence()
			said.Node = pl.Node
			return found[0], said, false
		}
	}
	return "", report.Evidence{}, false
}

// named parts the names in a text into those of targets, which follow that word, and others.
func named(text string) (others, targets []string) {
	rest := strings.ToLower(text)
	target := false
	for _, name := range anyName.FindAllString(text, -1) {
		head, tail, _ := strings.Cut(rest, strings.ToLower(name))
		if t, i := strings.LastIndex(head, "target"), strings.LastIndex(head, "initiator"); max(t, i) >= 0 {
			target = t > i
		}
		if target {
			targets = append(targets, name)
		} else {
			others = append(others, name)
		}
		rest = tail
	}
	return others, targets
}

// Renamed asks whether the storage knows the node by another name than its initiator has.
func Renamed(pl *evidence.Place) evidence.Answer {
	if pl.View == nil {
		return evidence.No()
	}
	name, from, current := Registered(pl, pl.View.Facts.ISCSI.InitiatorName)
	return evidence.When(name != "" && current, from)
}
