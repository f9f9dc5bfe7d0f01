package attach

import (
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/ceph"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/cloud"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// VolumeMappedOutsideCluster finds volumes that a machine which is no node of this
// cluster, or no longer one, still maps.
var VolumeMappedOutsideCluster = &diagnosis.Rule{
	Name: "volume-mapped-outside-cluster", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Attaching, diagnosis.Staging, diagnosis.Detaching, diagnosis.Using},
	LeadsTo: []string{"rbd-lock-or-watcher-stale", "attachment-stale-in-backend", "filesystem-needs-fsck", "filesystem-readonly-after-error"},
	Asks:    diagnosis.EachVolume,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Volume.PVName() == "" {
			return nil
		}
		var out []*diagnosis.Proof
		var away []evidence.Answer // the machines of attachments whose node is gone: the client may be one of them
		told, mapped := false, !pl.Volume.IsLonghorn() && volume.KindOf(pl.X, pl.Volume)&volume.Disk != 0
		for _, va := range pl.Volume.Attachments {
			left, gone := volume.LeftOn(pl.X, va), va.Spec.NodeName
			if !left.No() {
				away = append(away, volume.Probed(pl.X, gone))
			}
			switch said := csi.ClientLives(pl.X, va); {
			case said.Yes():
				told = true
				out = append(out, outside(pl, va, "named", gone, said, volume.Probed(pl.X), volume.Probed(pl.X, gone)))
			case !left.No():
				where, mounted := volume.MountedOnLost(pl.X, pl.Volume, gone)
				other, renamed := cloud.Renamed(pl.X, va)
				lives := outside(pl, va, "lives", gone, evidence.All(left, mounted))
				lives.With["where"], lives.AtMost = where, report.Likely
				again := outside(pl, va, "renamed", gone, evidence.All(left, renamed))
				again.With["where"], again.AtMost = other, report.Possible
				out = append(out, lives, again)
			}
		}
		if c, ok := cloud.ForeignClient(pl); ok && !told && mapped {
			return []*diagnosis.Proof{outside(pl, nil, "named", c.Name, evidence.Yes(c.Text.Evidence()), append(away, volume.Probed(pl.X),
				evidence.Resource(pl.X, "/pods").And(evidence.Resource(pl.X, "storage.k8s.io/volumeattachments")).Nothing())...)}
		}
		if name, said := cloud.Elsewhere(pl); mapped && !said.No() {
			p := outside(pl, nil, "attached", name, said)
			p.AtMost = report.Possible
			out = append(out, p)
		}
		if use, ok := ceph.SaidInUse(pl); ok {
			looked := volume.Probed(pl.X, pl.X.DriverNodes(pl.Volume.CSIName())...)
			p := outside(pl, nil, "unnamed", use.Image(), evidence.All(use.LivesOn(pl), looked))
			p.AtMost, p.LookAlikes = report.Possible, []diagnosis.LookAlike{{Cause: "a daemon that mirrors the image", Is: evidence.Not(ceph.NotMirrored(pl.X))}}
			p.Steps = remedy.AskWatchers(use.Image())
			out = append(out, p, &diagnosis.Proof{State: []evidence.Answer{evidence.Not(looked)}}) // however young the word is, a node that was not looked at may have the image
		}
		return out
	},
}

// outside is the proof for one client: what shows that it uses the volume, and what is
// wanted to be sure.
func outside(pl *evidence.Place, va *storagev1.VolumeAttachment, says, who string, uses evidence.Answer, last ...evidence.Answer) *diagnosis.Proof {
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("PersistentVolume", "", pl.Volume.PVName()), Says: says,
		With:  words.Fields{"volume": pl.Volume.PVName(), "who": who, "where": ""},
		State: []evidence.Answer{uses, evidence.Any(csi.Wanted(pl), csi.Going(pl))},
		Last:  last,
		Steps: remedy.EndOutside(who),
	}
	if va != nil {
		p.Subject = diagnosis.ObjectSubject("VolumeAttachment", "", va.Name)
		p.Object("va", va.Name)
	} else {
		p.State = append(p.State, evidence.Not(volume.OnProbed(pl.X, pl.Volume)))
	}
	p.Keys.Users(pl.Volume.Waiting()...)
	return p
}
