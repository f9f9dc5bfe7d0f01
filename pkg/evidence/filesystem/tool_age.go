package filesystem

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

var (
	oldTool     = pattern.MustCompile(`has unsupported feature\(s\): ([^\n"\\]+)|Get a newer version of e2fsck|more recent xfs_repair is recommended|Found unsupported filesystem features`)
	toolVersion = pattern.MustCompile(`\b(?:e2fsck|fsck\.ext4) (\d+\.\d+[.\d]*)`)
)

// OldTool is a check that its own program refused.
type OldTool struct {
	Feature string // empty: not named
	Program string // its version and where it ran, as far as that is known
	Fresh   bool
	Said    evidence.Answer
}

// ToolOf finds the newest refusal of a check here. What names no node is heard on the
// first node of the device only.
func ToolOf(pl *evidence.Place) OldTool {
	for _, t := range pl.Texts {
		if !strings.Contains(t.Raw, "nsupported f") && !strings.Contains(t.Raw, "newer version") && !strings.Contains(t.Raw, "more recent") {
			continue
		}
		if m := oldTool.FindStringSubmatch(t.Raw); m != nil && here(pl, t) && !t.OfContainer() {
			return OldTool{Feature: strings.TrimSpace(m[1]), Program: program(pl, t), Fresh: t.Fresh, Said: evidence.Yes(t.Evidence())}
		}
	}
	return OldTool{Said: evidence.No()}
}

// here tells whether a text speaks of this node, or of none and this is the first node
// that has the volume's device.
func here(pl *evidence.Place, t evidence.Text) bool {
	if t.Node != "" {
		return t.Node == pl.Node
	}
	nodes := pl.X.DeviceNodes(pl.Volume)
	return len(nodes) == 0 || nodes[0] == pl.Node
}

// Today asks whether what the tool said is true today: it said so just now, or the device
// shows the feature. A log without times may be old.
func (o OldTool) Today(pl *evidence.Place) evidence.Answer {
	if o.Fresh {
		return evidence.Yes()
	}
	if c, seen := CarrierOf(pl); seen && o.Feature != "" {
		if x, _ := c.Content(); slices.Contains(strings.Fields(x.Extra["FEATURES"]), strings.Fields(o.Feature)[0]) {
			return evidence.Yes(c.features())
		}
	}
	return evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node + "/" + string(probes.Contents), Node: pl.Node, Why: "when the check ran, or the features of the filesystem on the device"})
}

// Since asks whether the filesystem was mounted after all: what was refused once, and is
// mounted now, is past.
func (o OldTool) Since(pl *evidence.Place) evidence.Answer {
	c, seen := CarrierOf(pl)
	if !seen {
		return evidence.No()
	}
	return c.Mounted()
}

// program finds the version of the tool beside its words, and the system that it ran on.
func program(pl *evidence.Place, t evidence.Text) string {
	out := "e2fsck"
	if m := toolVersion.FindStringSubmatch(t.Raw); m != nil {
		out += " " + m[1]
	}
	for _, l := range pl.X.Logs {
		if out != "e2fsck" || !slices.Contains(l.Lines, t.Raw) {
			continue
		}
		for _, line := range l.Lines {
			if m := toolVersion.FindStringSubmatch(line); m != nil && out == "e2fsck" {
				out += " " + m[1]
			}
		}
	}
	if pl.View != nil && pl.View.Facts.Identity.OSRelease["PRETTY_NAME"] != "" {
		return out + " on node " + pl.Node + ", " + pl.View.Facts.Identity.OSRelease["PRETTY_NAME"]
	}
	if out == "e2fsck" {
		return "" // an xfs_repair, perhaps
	}
	return out
}
