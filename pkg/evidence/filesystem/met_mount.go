package filesystem

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// metMount is e2fsck(8) that finds its device in the mount table (exit status 8), and
// xfs_repair(8) in the same situation. "is in use" is another refusal: an exclusive open
// that failed.
var metMount = pattern.MustCompile(`(?s)(\S+) is mounted\.?\s.*?Cannot continue, aborting|(?:xfs_repair|fsck)[^\n]*?(\S+) contains a mounted`)

// MetMount is a check that stopped because its device is mounted.
type MetMount struct {
	Path    string // that the check names
	Carrier Carrier
	Seen    bool
	Said    evidence.Answer
	Here    evidence.Answer // where the check can see the mount
	Point   string
}

// MetMountOf finds it in the fresh texts of a place; what names no node is heard where the
// device is.
func MetMountOf(pl *evidence.Place) MetMount {
	out := MetMount{Said: evidence.No(), Here: evidence.No()}
	out.Carrier, out.Seen = CarrierOf(pl)
	if !pl.Lacking() {
		return out // who uses it has it
	}
	for _, t := range pl.Refused() {
		if !strings.Contains(t.Raw, "mounted") || t.Is(message.FsckUncorrected) || t.Is(message.WillNotMakeFSMounted) || t.Is(message.FormatFailed) {
			continue
		}
		m := metMount.FindStringSubmatch(t.Raw)
		if m == nil || t.Node != "" && t.Node != pl.Node {
			continue
		}
		out.Path = strings.Trim(strings.TrimSuffix(m[1]+m[2], ":"), `"'\`)
		if out.Seen && out.Carrier.means(out.Path) || !out.Seen && here(pl, t) && (t.Node != "" || !seenAnywhere(pl)) {
			out.Said = evidence.Yes(t.Evidence())
		}
		break // the name of another disk means that one
	}
	if out.Said.Yes() {
		out.look(pl)
	}
	return out
}

// look finds the mount. One that only foreign namespaces have holds the device, and no
// check can find it.
func (m *MetMount) look(pl *evidence.Place) {
	why := "the mounts of " + m.Path
	if m.Seen {
		why = "a mount of " + m.Carrier.Block.Name
		var facts []report.Evidence
		for _, u := range m.Carrier.onHost() {
			if len(facts) < 4 {
				facts = append(facts, m.Carrier.MountLine(u))
			}
			m.Point = cmp.Or(m.Point, u.Mount.Point)
		}
		if len(facts) > 0 {
			m.Here = evidence.Yes(facts...)
			return
		}
		if len(m.Carrier.Uses) > 0 {
			m.Said = evidence.No()
			return
		}
	}
	m.Here = evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node + "/" + string(probes.Mounts), Node: pl.Node, Why: why})
	if !m.Seen {
		m.Here = evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node, Node: pl.Node, Why: why})
	}
}

// onHost are the mounts that a driver's check can see: in the host's namespace, which the
// plugin's own shares below the kubelet's directory.
func (c Carrier) onHost() []snapshot.Use {
	return slices.DeleteFunc(slices.Clone(c.Uses), func(u snapshot.Use) bool { return !u.Init })
}

// Holders are the pods whose mounts of the volume are on the place's node.
func Holders(pl *evidence.Place) []string {
	return evidence.Each(evidence.PodsOf(pl.X, pl.X.VolumeMounts(pl.Volume, pl.Node)), pods.Name)
}
