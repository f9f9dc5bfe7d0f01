package device

import (
	"cmp"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/multipath"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// MultipathOffForSAN finds a driver that needs a multipath map and a node that makes none.
var MultipathOffForSAN = &diagnosis.Rule{
	Name: "multipath-off-for-san", Layer: diagnosis.Device, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Staging},
	Asks:   diagnosis.EachPlace,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		failing := evidence.All(csi.WantedOn(pl, pl.Node), multipath.Failing(pl))
		if multipath.SinglePath(pl) || pl.Node == "" || failing.No() {
			return nil // by design, or at work
		}
		disks, plain := multipath.Plain(pl)
		why, refused := multipath.Refusal(pl, disks)
		builtIn, single := multipath.Single(pl, disks)
		if single.Yes() {
			why, refused = builtIn, single
		}
		asked := multipath.AskedFor(pl)
		with := words.Fields{"driver": pl.Volume.CSIName(), "volume": pl.Volume.Spoken(), "node": pl.Node, "why": why}
		with["driver"] = cmp.Or(with["driver"], pl.Volume.Driver)
		p := &diagnosis.Proof{
			Subject: diagnosis.NodeSubject(pl.Node), With: with, Last: []evidence.Answer{plain, refused},
			State: []evidence.Answer{failing, evidence.Any(asked, multipath.StagesMaps(pl.X, pl.Volume), multipath.Sought(pl))},
			Steps: []remedy.Step{
				remedy.Check("See what multipath makes of the disks.", remedy.OnNode(pl.Node, "multipath", "-ll")),
				remedy.Words(remedy.InImage(pl.X, pl.Node, "multipathd with its configuration") + "On node " + pl.Node + ": " + cure(why)),
			},
		}
		switch {
		case !asked.Yes(): // what the driver did not say must be seen
			p.State, p.Last = append(p.State, plain, refused), nil
		case len(disks) == 0 && pl.Refused().Say(multipath.AsksDaemon).Yes(): // it looks for no disk before
			p.Last = []evidence.Answer{refused}
		}
		if single.Yes() {
			p.AtMost = report.Likely
		}
		for _, b := range disks {
			p.Device(pl.Node, b.Dev)
		}
		return []*diagnosis.Proof{p}
	},
}

// cure is what helps against a reason of multipath.Refusal and multipath.Single.
func cure(why string) string {
	switch {
	case strings.Contains(why, "find_multipaths"):
		return onePath
	case strings.Contains(why, "does not run"):
		return "start and enable multipathd with a configuration that takes this array's disks, and none of the system's, of Longhorn's or of other drivers'."
	}
	return "let multipath take this array's disks (a blacklist_exceptions section or a narrower blacklist for its vendor and product), see that multipathd runs and is enabled, then run multipathd reconfigure."
}

// onePath is what makes multipathd take a disk of one path.
const onePath = "give the volume its second path where the storage has one. Where it has not, set find_multipaths to no (or greedy) in the section defaults of /etc/multipath.conf, but blacklist all other disks first (those of the system, of Longhorn, of other drivers): multipathd then takes every disk that nothing excludes. Then run multipathd reconfigure; the waiting pod is tried again by itself. Do not switch multipathd off."
