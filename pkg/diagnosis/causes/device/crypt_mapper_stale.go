package device

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/crypt"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// CryptMapperStale finds a dm-crypt mapping of an earlier attachment.
var CryptMapperStale = &diagnosis.Rule{
	Name: "crypt-mapper-stale", Layer: diagnosis.Device, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Staging, diagnosis.Using, diagnosis.Detaching},
	LeadsTo:  []string{"mount-of-dead-device"},
	YieldsTo: []string{"mount-pinned-in-namespace", "mount-lazily-detached", "lvm-claims-device"},
	Offers:   []string{"crypt-close"},
	Asks:     diagnosis.EachPlace,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		m, ok := crypt.LeftoverOf(pl)
		if !ok && pl.View == nil && !pl.Volume.Encrypted() {
			return nil
		}
		whole := pl.Tables(probes.Block, probes.Mounts)
		out := []*diagnosis.Proof{diagnosis.Rest(whole)}
		if !ok {
			return out
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.DeviceSubject(pl.Node, m.Dev), Says: "free",
			With: words.Fields{"mapping": m.DM.Name, "device": m.Name + ", " + m.Dev.String(), "node": pl.Node, "volume": volume.Name(pl.Volume),
				"below": m.Below(), "now": m.Now()},
			State:      []evidence.Answer{m.Old()},
			Last:       []evidence.Answer{m.Compared(), whole.Nothing()},
			LookAlikes: []diagnosis.LookAlike{{Cause: "a mapping that is mounted for the volume", Is: m.InUse()}},
			Steps:      []remedy.Step{remedy.CryptClose(pl.View, m.BlockDevice)},
		}
		if m.Kept().Yes() {
			p.Says, p.AtMost = "kept", report.Likely
		}
		p.Device(pl.Node, m.Dev)
		p.Device(pl.Node, m.Disk.Dev)
		return append(out, p)
	},
}
