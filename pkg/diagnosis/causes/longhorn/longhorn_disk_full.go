package longhorn

import (
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// DiskFull finds replicas on a disk that is full or beyond its threshold, and replicas
// that have no place because every disk which could take them is such a one.
var DiskFull = &diagnosis.Rule{
	Name: "longhorn-disk-full", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Attaching, diagnosis.Using},
	LeadsTo: []string{"longhorn-volume-faulted", "longhorn-replica-unschedulable", "longhorn-replica-inconsistent", "longhorn-restore-stalled"},
	Asks:    diagnosis.EachVolume,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		v := pl.Volume.LH()
		if v == nil {
			return nil
		}
		var out []*diagnosis.Proof
		placement, threshold := lh.Placement(pl.X, pl.Volume), lh.MinimalAvailable(pl.X, v.DataEngine)
		for _, o := range placement {
			harm := o.OutOfService(pl.X, pl.Volume)
			if harm.No() {
				continue
			}
			p := diskFull(pl, o, harm)
			p.With["replica"], p.With["room"] = o.Replica.Name, o.Room(threshold)
			switch pressed, nothing := o.Pressed(), o.NothingLeft(); {
			case pressed.Yes():
				p.State, p.Last = append(p.State, pressed), []evidence.Answer{o.Agrees(threshold)}
				for _, other := range placement { // several full disks of a node are one finding
					if other.Node == o.Node && other.Disk != o.Disk && other.Pressed().Yes() {
						p.Also = append(p.Also, fmt.Sprintf("Disk %s (%s) of the node is under pressure, too.", other.Disk.Name, other.Disk.Path))
					}
				}
			case nothing.Yes(): // Longhorn looks at bytes alone, and only while its manager there works
				p.Says, p.State = "unnoticed", append(p.State, nothing)
				p.Last = []evidence.Answer{evidence.Unseen(evidence.Lack{Need: "api/longhorn.io/nodes", Node: o.Node.Name, Why: "a condition DiskPressure of the disk"})}
			default:
				continue
			}
			narrowed(pl, p)
			out = append(out, p)
		}
		homeless := lh.Homeless(pl.X, pl.Volume)
		blocked, all := lh.Blocked(pl.X, pl.Volume)
		for _, c := range blocked {
			if c.Kind == lh.ByPressure && !homeless.No() {
				p := diskFull(pl, c.OnDisk, evidence.All(homeless, all))
				p.Says, p.With["room"], p.Last = "nowhere", c.Room(threshold), []evidence.Answer{c.Agrees(threshold)}
				out = append(out, p)
			}
		}
		return out
	},
}

func diskFull(pl *evidence.Place, o lh.OnDisk, harm evidence.Answer) *diagnosis.Proof {
	p := &diagnosis.Proof{
		Subject: diagnosis.NodeSubject(o.Node.Name), State: []evidence.Answer{harm},
		With: words.Fields{"disk": o.Disk.Name, "path": o.Disk.Path, "node": o.Node.Name, "volume": pl.Volume.LH().Name, "replica": "", "room": ""},
		Steps: []remedy.Step{
			remedy.Words("Make room on the disk: foreign files, snapshots that are not needed (purging needs some space first), another disk. Touch nothing below its replicas directory."),
			remedy.Words("Or lower storage-minimal-available-percentage for a while so that the disk counts again, salvage the volume, and set it back."),
		},
	}
	p.At(o.Node.Name)
	return p
}
