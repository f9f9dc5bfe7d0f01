package attach

import (
	"fmt"

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
		told := false
		for _, va := range pl.Volume.Attachments {
			left, gone := volume.LeftOn(pl.X, va), va.Spec.NodeName
			if _, said := csi.ClientLives(pl.X, va); said.Yes() {
				told = true
				out = append(out, outside(pl, va, "named", gone, said, volume.Probed(pl.X), volume.Probed(pl.X, gone)))
				continue
			}
			if left.No() {
				continue
			}
			where, mounted := volume.MountedOnLost(pl.X, pl.Volume, gone)
			other, renamed := cloud.Renamed(pl.X, va)
			lives := outside(pl, va, "lives", gone, evidence.All(left, mounted))
			lives.With["where"], lives.AtMost = where, report.Likely
			again := outside(pl, va, "renamed", gone, evidence.All(left, renamed))
			again.With["where"], again.AtMost = other, report.Possible
			out = append(out, lives, again)
		}
		if c, ok := cloud.ForeignClient(pl); ok && !told {
			return []*diagnosis.Proof{outside(pl, nil, "named", c.Name, evidence.Yes(c.Text.Evidence()), volume.Probed(pl.X),
				evidence.Resource(pl.X, "/pods").And(evidence.Resource(pl.X, "storage.k8s.io/volumeattachments")).Nothing())}
		}
		if name, said := cloud.Elsewhere(pl); !pl.Volume.IsLonghorn() && !said.No() {
			p := outside(pl, nil, "attached", name, said)
			p.AtMost = report.Possible
			out = append(out, p)
		}
		if use, ok := ceph.SaidInUse(pl); ok {
			p := outside(pl, nil, "unnamed", use.Image(), evidence.All(use.LivesOn(pl), volume.Probed(pl.X, pl.X.DriverNodes(pl.Volume.CSIName())...)))
			p.AtMost, p.LookAlikes = report.Possible, []diagnosis.LookAlike{{Cause: "a daemon that mirrors the image", Is: evidence.Not(ceph.NotMirrored(pl.X))}}
			p.Steps = []remedy.Step{remedy.Words("Ask Ceph who watches the image (" + remedy.Inline("rbd", "status", use.Image()) + ") and compare the addresses with the nodes. Fence nobody who is not known and known to be off: the client lives.")}
			out = append(out, p)
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
		Steps: []remedy.Step{
			remedy.Words(fmt.Sprintf("Find the machine %s and end the use of the volume there first: stop what runs with it, unmount and unmap it. A Node object that is missing does not mean that the machine is off. The next attempt here then succeeds by itself.", who)),
			remedy.Words("Only once you have made sure that this machine is off for good, its client may be fenced in the storage; a client that lives loses what it has not written, and two writers destroy the filesystem."),
		},
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
