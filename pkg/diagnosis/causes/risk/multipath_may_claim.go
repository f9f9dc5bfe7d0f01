// Package risk holds the rules of hazards that have not bitten yet.
package risk

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/multipath"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed multipath_may_claim.md
var multipathMayClaimDoc string

// MultipathMayClaim finds nodes whose multipathd is free to take Longhorn's disks.
var MultipathMayClaim = &diagnosis.Rule{
	Name: "multipath-may-claim", Layer: diagnosis.RiskLayer, Severity: report.Risk,
	Needs:   []diagnosis.Need{diagnosis.Probe("multipath")},
	LeadsTo: []string{"multipath-claims-device"},
	Offers:  []string{"disable-multipathd"},
	Doc:     multipathMayClaimDoc,
	Run: func(p *diagnosis.Pass) {
		for _, node := range p.Nodes() {
			if view := p.View(node); view != nil {
				mayClaim(p, view)
			}
		}
	},
}

// mayClaim needs a running daemon, a configuration that was read, and a disk (or
// Longhorn volumes to come) that no blacklist covers.
func mayClaim(p *diagnosis.Pass, view *snapshot.NodeView) {
	m := view.Facts.Multipath
	if !m.Active() || !m.ConfigRead || !longhornDisks(p, view) {
		return
	}
	open := multipath.Open(view)
	if len(open) == 0 {
		return
	}
	f := p.Find(report.Certain, diagnosis.NodeSubject(view.Name))
	f.Node(view.Name)
	f.Sayf("multipathd is active on node %s, and its configuration excludes neither vendor IET with product VIRTUAL-DISK nor the disks %s of Longhorn. At any attach it may build a map over the disk, which then is busy for mount and mkfs.%s",
		view.Name, strings.Join(open, ", "), multipath.Remembered(m))
	f.Fact(diagnosis.FromNode(view.Name, multipath.Daemon(m), "multipathd is active"))
	f.Fact(diagnosis.FromNode(view.Name, "etc/multipath.conf", fmt.Sprintf("%d sections, no blacklist that matches; find_multipaths does not keep the daemon off", len(m.Config))))
	f.Unless("a blacklist entry that matches these disks")
	f.Advise(remedy.Words("Exclude the disks on node "+view.Name+": add them to the blacklist of /etc/multipath.conf, remove their WWIDs from /etc/multipath/wwids, and run multipathd reconfigure.").
		In("/etc/multipath.conf", remedy.Blacklist("IET", "VIRTUAL-DISK", "")...))
	f.Advise(remedy.DisableMultipathd(view.Name))
	p.Report(f)
}

// longhornDisks tells whether disks of Longhorn's v1 engine are on the node, or may
// come: a volume of that engine is attached there.
func longhornDisks(p *diagnosis.Pass, view *snapshot.NodeView) bool {
	for i := range view.Facts.Block {
		if multipath.OfLonghorn(&view.Facts.Block[i]) {
			return true
		}
	}
	for _, v := range p.VolumesOn(view.Name) {
		if lh := v.LH(); lh != nil && lh.DataEngine != "v2" && (lh.Status.CurrentNodeID == view.Name || lh.NodeID == view.Name) {
			return true
		}
	}
	return false
}
