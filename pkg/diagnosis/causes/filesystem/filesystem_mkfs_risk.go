package filesystem

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/filesystem"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// MkfsRisk finds volumes with data that look unformatted, so that staging may format
// them.
var MkfsRisk = &diagnosis.Rule{
	Name: "filesystem-mkfs-risk", Layer: diagnosis.Filesystem, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing},
	YieldsTo: []string{"longhorn-engine-data-path-broken", "crypt-mapper-stale", "multipath-claims-device", "drbd-state-blocks", "encryption-parameters-refused", "local-pool-inactive"},
	Asks:     diagnosis.EachPlace,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Volume.Block() || len(pl.Volume.Waiting()) == 0 {
			return nil
		}
		f := filesystem.FormatOf(pl)
		if f.Says == "" || !f.Data.Yes() && (!f.Old || !f.Tried) {
			return nil // nothing to fear, a new volume, or one that nobody tries to format
		}
		seek := "Find out why reads fail on node " + pl.Node + " (the path to the data, the replicas, the storage network). Keep every replica and every backup: none may be removed, repaired or salvaged by hand now."
		if f.Says == "header" {
			seek = "Find out on node " + pl.Node + " why cryptsetup does not open it (something holds the device, a limit of memory, a path that fails), and save the header (cryptsetup luksHeaderBackup) while it is there."
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.FilesystemSubject(pl.Volume), Says: f.Says,
			With:       words.Fields{"volume": volume.Name(pl.Volume), "node": pl.Node, "error": f.Error, "tried": "", "device": "", "age": "", "data": ""},
			State:      []evidence.Answer{f.Is},
			Last:       []evidence.Answer{f.Data, f.Attempt, f.Reads(pl)},
			LookAlikes: []diagnosis.LookAlike{{Cause: "a device that somebody has", Is: f.Held}},
			Steps: []remedy.Step{
				remedy.Words("Scale the workload to 0 now, so that nothing retries; leave the volume alone until its disk reads well again. Then look that its filesystem is there before anything mounts it."),
				remedy.Words(seek),
			},
		}
		if f.Tried {
			p.With["tried"] = "just now"
		}
		p.With["data"] = "data"
		if !f.Data.Yes() {
			p.With["data"], p.With["age"] = "", evidence.Duration(pl.X.Age(pl.Volume.PV.CreationTimestamp.Time))
		}
		switch {
		case f.Says == "header": // what is written over was a header
			p.Last = []evidence.Answer{f.Data}
		case !f.Data.Yes() && f.Says != "unreadable": // it may never have been formatted
			if pl.Volume.LH() != nil {
				return nil
			}
			p.State, p.Last, p.Hint = []evidence.Answer{f.Is, f.Data}, p.Last[1:], f.Attempt
		}
		if f.Seen {
			d := f.Carrier.Device.Block
			p.Subject, p.With["device"] = diagnosis.DeviceSubject(pl.Node, d.Dev), d.Name+" ("+d.Dev.String()+")"
			p.Carried(pl.Volume, pl.Node, f.Carrier.Numbers()...)
		}
		p.Users(pl.Volume.WaitingOn(pl.Node)...)
		return []*diagnosis.Proof{p}
	},
}
