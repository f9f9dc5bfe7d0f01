package attach

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// DeviceRenumbered finds recorded kernel names that mean another disk now.
var DeviceRenumbered = &diagnosis.Rule{
	Name: "device-renumbered", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing, diagnosis.Using},
	LeadsTo: []string{"device-is-not-the-volume", "filesystem-type-mismatch"},
	Asks:    diagnosis.EachPlace,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if len(pl.Volume.LiveConsumersOn(pl.Node)) == 0 {
			return nil
		}
		for _, r := range disk.Recorded(pl) {
			if right, ok := disk.RightDisk(pl, r); ok {
				return []*diagnosis.Proof{renumbered(pl, r, right)}
			}
		}
		return diagnosis.Open(pl, probes.Block, probes.Mounts)
	},
}

func renumbered(pl *evidence.Place, r disk.Record, right disk.Right) *diagnosis.Proof {
	name := right.Disk.Name + " (" + right.Disk.Dev.String() + ")"
	p := &diagnosis.Proof{
		Subject: diagnosis.DeviceSubject(pl.Node, r.Now.Dev),
		With: words.Fields{"volume": pl.Volume.PVName(), "name": r.Name, "node": pl.Node, "now": r.Now.Name + " (" + r.Now.Dev.String() + ")",
			"holds": "", "owner": r.Owner(pl), "right": name, "how": right.How},
		State: []evidence.Answer{r.Is, right.Is, evidence.Any(disk.Complained(pl), csi.WantedOn(pl, pl.Node))},
		Last:  []evidence.Answer{right.Last},
		Steps: []remedy.Step{
			remedy.Words("Stop the workload, then have the driver or its records use the persistent link (/dev/disk/by-id/…) instead of " + r.Name + "; a newer driver may do so by itself. The volume's data is on " + name + "."),
			remedy.Words("Change nothing on the disk behind " + r.Name + ": do not format, repair, unmap or deactivate what is found there."),
		},
	}
	if c, ok := pl.View.Facts.Contents[r.Now.Dev]; ok && c.Type != "none" {
		p.With["holds"] = c.Type
	}
	p.Keys.Users(pl.Volume.LiveConsumersOn(pl.Node)...)
	p.Device(pl.Node, r.Now.Dev)
	p.Device(pl.Node, right.Disk.Dev)
	return p
}
