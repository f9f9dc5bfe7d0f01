package device

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// DeviceIsNotTheVolume finds a device node of a volume that leads to another disk.
var DeviceIsNotTheVolume = &diagnosis.Rule{
	Name: "device-is-not-the-volume", Layer: diagnosis.Device, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Staging, diagnosis.Using},
	LeadsTo:  []string{"filesystem-type-mismatch", "filesystem-needs-fsck"},
	YieldsTo: []string{"device-renumbered", "device-lun-reused"},
	Asks:     diagnosis.EachPlace,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if !volume.Belongs(pl) {
			return nil
		}
		whole := pl.Tables(probes.Block, probes.DeviceNodes, probes.Sessions)
		out := []*diagnosis.Proof{diagnosis.Rest(whole)}
		if pl.View == nil {
			return out
		}
		compare := disk.WrongMounted
		if pl.Volume.Longhorn != nil {
			compare = disk.WrongNumber
		}
		w, ok := compare(pl)
		at := ""
		if !ok {
			w, at, ok = disk.Crossed(pl)
		}
		if !ok {
			return out
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.DeviceSubject(pl.Node, w.Dev), Says: "number", AtMost: w.AtMost, State: []evidence.Answer{w.Is}, Last: []evidence.Answer{whole.Nothing()},
			With: words.Fields{"node": pl.Node, "volume": volume.Name(pl.Volume), "path": w.Node, "number": w.Dev.String(), "foreign": w.Foreign, "own": "was not found on the node", "other": w.Foreign, "at": "", "target": "iqn…:" + disk.LonghornName(pl.Volume)},
		}
		if w.Own != nil {
			p.With["own"] = "is " + disk.Title(w.Own) + ": " + w.How
			p.Device(pl.Node, w.Own.Dev)
		}
		if w.Block != nil {
			p.With["disk"] = w.Block.Name
			p.With["kind"] = strings.TrimSpace(strings.TrimSpace(w.Block.Vendor) + " " + strings.TrimSpace(w.Block.Model))
		}
		p.Device(pl.Node, w.Dev)
		whoseDisk(pl, p, w, at)
		return append(out, p)
	},
}

// whoseDisk says which of the forms it is, and what to do.
func whoseDisk(pl *evidence.Place, p *diagnosis.Proof, w disk.Wrong, at string) {
	switch {
	case at != "":
		p.Says, p.With["other"], p.With["at"] = "crossed", volume.Name(w.Other), at
	case w.Twice:
		p.Says, p.With["other"] = "twice", volume.Name(w.Other)
	case w.Node == "" && w.Other != nil:
		p.Says, p.With["other"] = "mounted", volume.Name(w.Other)
	case w.Node == "":
		p.Says = "stranger"
	case w.Block == nil:
		p.Says = "dead"
	}
	p.Steps = remedy.AnotherDisk(p.Says, pl.Node, w.Node)
}
