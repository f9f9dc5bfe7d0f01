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

// CheckedWhileMounted finds checks that stopped because the filesystem is mounted
// already, and filesystems that two nodes mount at once.
var CheckedWhileMounted = &diagnosis.Rule{
	Name: "filesystem-checked-while-mounted", Layer: diagnosis.Filesystem, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing, diagnosis.Using},
	LeadsTo: []string{"filesystem-needs-fsck"},
	Asks:    diagnosis.EachPlace,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Volume.Block() {
			return nil
		}
		var out []*diagnosis.Proof
		if m := filesystem.MetMountOf(pl); m.Said.Yes() {
			out = append(out, checkMetMount(pl, m))
		}
		if all, twice := filesystem.Writers(pl); twice.Yes() {
			out = append(out, mountedTwice(pl, all, &diagnosis.Proof{Says: "twice", State: []evidence.Answer{twice}, Last: []evidence.Answer{filesystem.SameBlocks(pl)}, AtMost: report.Likely}))
		}
		if s := filesystem.SharingOf(pl); s.Is.Yes() {
			p := mountedTwice(pl, s.All, &diagnosis.Proof{Says: "shared", State: []evidence.Answer{s.Is, s.Same}, Severity: report.Degraded})
			p.With["pods"] = words.List(s.Pods, 3)
			out = append(out, p)
		}
		return out
	},
}

func checkMetMount(pl *evidence.Place, m filesystem.MetMount) *diagnosis.Proof {
	cure := "Nothing needs repair. Let the other mount go: end what uses it, and unmount exactly that path if nobody does."
	if len(pl.Volume.Live()) > 1 {
		cure = "Nothing needs repair. Let one pod of the claim run on this node at a time, or place the second one so that the first is gone before it starts."
	}
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("PersistentVolume", "", pl.Volume.PVName()), Says: "unseen",
		With:  words.Fields{"volume": volume.Name(pl.Volume), "node": pl.Node, "path": m.Path, "point": m.Point, "pods": words.List(filesystem.Holders(pl), 0), "device": ""},
		State: []evidence.Answer{m.Said}, Last: []evidence.Answer{m.Here},
		Steps: []remedy.Step{remedy.Words(cure), remedy.Words("Update the driver, or switch its check off: it must not check a device that it has mounted itself. Never run a check or repair now, while the filesystem is mounted.")},
	}
	p.Users(pl.Volume.WaitingOn(pl.Node)...)
	if m.Seen {
		p.Says, p.Subject, p.With["device"] = "met", diagnosis.DeviceSubject(pl.Node, m.Carrier.Block.Dev), m.Carrier.Name()
		p.Carried(pl.Volume, pl.Node, m.Carrier.Numbers()...)
	}
	return p
}

// mountedTwice is about a filesystem that several nodes have mounted. Damage is likely at most: nobody saw who wrote what.
func mountedTwice(pl *evidence.Place, all []filesystem.Carrier, p *diagnosis.Proof) *diagnosis.Proof {
	p.Steps = []remedy.Step{remedy.Words("Stop all pods of the volume at once and keep it detached, take a snapshot or backup, then check the filesystem by hand (later, unmounted everywhere). Use access mode ReadWriteOnce for this driver, or a share.")}
	var nodes []string
	for _, c := range all {
		nodes = append(nodes, c.Place.Node)
		p.Carried(pl.Volume, c.Place.Node, c.Numbers()...)
		p.At(c.Place.Node)
		if c.Place.Node == pl.Node {
			p.Subject = diagnosis.DeviceSubject(pl.Node, c.Block.Dev)
			p.With = words.Fields{"volume": volume.Name(pl.Volume), "node": pl.Node, "type": c.FSType()}
		}
	}
	p.With["nodes"] = words.List(nodes, 0)
	return p
}
