package filesystem

import (
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/crypt"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/filesystem"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// TypeMismatch finds devices that hold something else than the filesystem that their
// PersistentVolume names.
var TypeMismatch = &diagnosis.Rule{
	Name: "filesystem-type-mismatch", Layer: diagnosis.Filesystem, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing},
	YieldsTo: []string{"device-renumbered", "device-is-not-the-volume", "device-lun-reused", "multipath-claims-device", "crypt-mapper-stale"},
	Asks:     diagnosis.EachPlace,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Volume.Block() || pl.Volume.PV == nil || len(pl.Volume.Waiting()) == 0 {
			return nil
		}
		m := filesystem.MismatchOf(pl)
		if m.Is.No() {
			return nil
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.ObjectSubject("PersistentVolume", "", pl.Volume.PVName()), Says: "unseen",
			With:  words.Fields{"volume": volume.Name(pl.Volume), "node": pl.Node, "want": m.Want, "holds": m.Holds, "how": m.How, "device": "", "known": ""},
			State: []evidence.Answer{m.Is, m.Known}, Hint: m.Is,
			LookAlikes: []diagnosis.LookAlike{{Cause: "a device that is mounted, away, or in other hands", Is: m.Taken},
				{Cause: "encryption-key-wrong", Is: crypt.Sealed(pl, m.Holds)}},
			Steps: otherType(m),
		}
		p.Users(pl.Volume.WaitingOn(pl.Node)...)
		if m.Known.Yes() {
			p.With["known"] = "known"
			p.Says = "named"
		}
		if m.Seen {
			p.Says, p.With["device"] = "read", m.Carrier.Name()
			p.LookAlikes = append(p.LookAlikes, diagnosis.LookAlike{Cause: "device-is-not-the-volume", Is: evidence.Not(pl.Tables(probes.DeviceNodes).Nothing())})
			p.Carried(pl.Volume, pl.Node, m.Carrier.Numbers()...)
		}
		return []*diagnosis.Proof{p}
	},
}

// otherType keeps the data first.
func otherType(m filesystem.Mismatch) []remedy.Step {
	first := remedy.Words("Find out who put " + m.Holds + " there and whether it is wanted: a volume of a virtual machine belongs in a claim with volumeMode Block, a LUKS device in an encrypted one.")
	if m.Mountable() {
		first = remedy.Words(fmt.Sprintf("When the data is wanted: a PersistentVolume with fsType %s for the same volume handle. The field cannot be changed in place: set reclaim policy Retain, scale the workload to 0, and make PersistentVolume and claim anew.", m.Holds))
	}
	switch {
	case m.Want == "":
		return []remedy.Step{first}
	case !m.Mountable():
		return []remedy.Step{first, remedy.Words("Nothing may be formatted over it, whatever it turns out to be.")}
	}
	return []remedy.Step{first, remedy.Words("Or copy the data into a new volume with " + m.Want + " (mounted by hand on a node, read-only, as " + m.Holds + "). Nothing may be formatted over it.")}
}
