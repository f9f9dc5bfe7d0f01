package device

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/multipath"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// MultipathMapOrphaned finds a map without usable paths: left over from an old
// attachment, of nobody, or still mounted while its disks came back beside it.
var MultipathMapOrphaned = &diagnosis.Rule{
	Name: "multipath-map-orphaned", Layer: diagnosis.Device, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Attaching, diagnosis.Using, diagnosis.Unmounting, diagnosis.Detaching},
	LeadsTo:  []string{"device-lun-reused", "filesystem-readonly-after-error"},
	YieldsTo: []string{"multipath-claims-device"},
	Offers:   []string{"multipath-flush", "unmap-device"},
	Asks:     diagnosis.EachPlace | diagnosis.EachSweptNode,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		whole := pl.Tables(probes.Block, probes.Mounts)
		out := []*diagnosis.Proof{diagnosis.Rest(whole)}
		add := func(o multipath.Orphan, says string) *diagnosis.Proof {
			p := &diagnosis.Proof{
				Subject: diagnosis.DeviceSubject(pl.Node, o.Dev), Says: says,
				With: words.Fields{"map": o.DM.Name, "device": o.Name + ", " + o.Dev.String(), "number": o.Dev.String(), "node": pl.Node, "above": o.Above()},
				Last: []evidence.Answer{whole.Nothing()}, Steps: []remedy.Step{remedy.MultipathFlush(pl.View, o.BlockDevice)},
			}
			p.Device(pl.Node, o.Dev)
			out = append(out, p)
			return p
		}
		if pl.Volume == nil {
			for _, o := range multipath.Unowned(pl) {
				p := add(o, "unowned")
				p.State, p.AtMost, p.Severity, p.Breaks = []evidence.Answer{o.IsDead(), evidence.Resource(pl.X, "/persistentvolumes").Nothing()}, report.Likely, report.Degraded, []diagnosis.Step{}
				p.Last, p.Steps = []evidence.Answer{o.Unused()}, remedy.AfterPaths(pl.Node, p.Steps...)
			}
			return out
		}
		for _, o := range multipath.OrphansOf(pl) {
			if disks := o.Beside(); o.Mounted().Yes() && o.Mine && len(disks) > 0 {
				p := add(o, "lost")
				p.State, p.With["volume"], p.With["disks"] = []evidence.Answer{o.IsDead()}, volume.Name(pl.Volume), strings.Join(disks, ", ")
				p.Steps = []remedy.Step{remedy.Words("Give the map its paths back on node " + pl.Node + ": multipathd add path " + strings.Join(disks, " ") + " (each disk), then multipathd reconfigure. Restart the pod afterwards. Do not flush or remove a mounted map.")}
				if len(pl.Volume.LiveConsumersOn(pl.Node)) > 0 {
					p.Breaks = []diagnosis.Step{diagnosis.Using, diagnosis.Unmounting}
				}
				continue
			}
			left(pl, o, add(o, "left"))
		}
		return out
	},
}

// left tells what a map that is not mounted keeps from whom.
func left(pl *evidence.Place, o multipath.Orphan, p *diagnosis.Proof) {
	why, sure, pins := o.Pins()
	p.With["so"], p.With["volume"] = "stays attached to the node although "+why, volume.Name(pl.Volume)
	if misleads := o.Misleads(); !pins.Yes() && misleads.Yes() {
		pins, sure, p.Breaks = misleads, true, []diagnosis.Step{diagnosis.Staging}
		p.With["so"] = "cannot be mounted there: whoever looks for its map finds this dead one"
	} else if stranded := o.Stranded(); !pins.Yes() && !stranded.No() {
		pins, sure, p.Says, p.Severity, p.Breaks = stranded, false, "stranded", report.Degraded, []diagnosis.Step{}
		p.Steps = remedy.AfterPaths(pl.Node, append(p.Steps, remedy.DeletePaths(pl.View, pl.Volume, o.Paths(), o.Name)...)...)
	}
	p.State, p.LookAlikes = []evidence.Answer{o.IsDead(), pins}, []diagnosis.LookAlike{{Cause: "a map that is mounted", Is: o.Mounted()}}
	p.Attachment(pl.Volume.AttachmentOn(pl.Node))
	if !sure { // tied to the volume by its stuck attachment only, not even by that, or in nobody's way
		p.AtMost = report.Likely
	}
}
