package longhorn

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// DiskUnusable finds replicas on a disk that Longhorn rejects or cannot write, and
// replicas that have no place because every disk which could take them is such a one.
var DiskUnusable = &diagnosis.Rule{
	Name: "longhorn-disk-unusable", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Attaching, diagnosis.Replicating},
	LeadsTo: []string{"longhorn-volume-faulted", "longhorn-replica-unschedulable"},
	Asks:    diagnosis.EachVolume | diagnosis.EachSweptNode,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Volume == nil {
			return evidence.Each(lh.DisksOf(pl.X, pl.Node), func(o lh.OnDisk) *diagnosis.Proof { return diskUnusable(pl, o, o.Fault(), o.Rejected()) })
		}
		if pl.Volume.LH() == nil {
			return nil
		}
		var out []*diagnosis.Proof
		for _, o := range lh.Placement(pl.X, pl.Volume) {
			fault, harm := o.Fault(), o.OutOfService(pl.X, pl.Volume)
			if broken := o.Rejected(); !harm.No() && (broken.Yes() || fault.Answer.Yes()) {
				p := diskUnusable(pl, o, fault, harm)
				p.With["replica"] = o.Replica.Name
				out = append(out, p)
			}
		}
		homeless := lh.Homeless(pl.X, pl.Volume)
		blocked, all := lh.Blocked(pl.X, pl.Volume)
		for _, c := range blocked {
			if c.Kind == lh.ByRejection && !homeless.No() {
				out = append(out, diskUnusable(pl, c.OnDisk, c.Fault(), evidence.All(homeless, all)))
			}
		}
		for _, r := range pl.Volume.Longhorn.Replicas {
			if have, gone := lh.DiskGone(pl.X, pl.Volume, r); gone.Yes() {
				out = append(out, diskGone(pl, r, have, gone))
			}
		}
		return out
	},
}

func diskUnusable(pl *evidence.Place, o lh.OnDisk, fault lh.Fault, harm evidence.Answer) *diagnosis.Proof {
	p := &diagnosis.Proof{
		Subject: diagnosis.NodeSubject(o.Node.Name),
		State:   []evidence.Answer{o.Rejected(), harm}, Last: []evidence.Answer{o.Current(), fault.Answer},
		With:  words.Fields{"path": o.Disk.Path, "node": o.Node.Name, "what": fault.What, "says": o.Says(), "ready": "", "replica": "", "volume": ""},
		Steps: remedy.DiskBack(o, fault),
	}
	if pl.Volume == nil { // nobody need suffer from it yet
		p.Severity = report.Degraded
		return p
	}
	p.With["volume"] = pl.Volume.LH().Name
	if !o.Rejected().Yes() { // the node shows what Longhorn does not say
		p.State, p.Last, p.With["ready"] = []evidence.Answer{fault.Answer, harm}, nil, "Ready"
		if fault.Kind == lh.Replaced {
			p.AtMost = report.Likely
		}
	}
	narrowed(pl, p)
	p.At(o.Node.Name)
	return p
}

// narrowed keeps a lost replica to what it does to a volume that works with the others:
// it is degraded, and nothing waits for the disk.
func narrowed(pl *evidence.Place, p *diagnosis.Proof) {
	if lh.Degraded(pl.Volume.LH()).Yes() {
		p.Severity, p.Breaks = report.Degraded, []diagnosis.Step{diagnosis.Replicating}
	}
}

func diskGone(pl *evidence.Place, r *snapshot.LHReplica, have string, gone evidence.Answer) *diagnosis.Proof {
	node := r.NodeID
	p := &diagnosis.Proof{
		Subject: diagnosis.NodeSubject(node), Says: "gone", State: []evidence.Answer{gone},
		With: words.Fields{"disk": r.DiskID, "path": lh.OrNone(r.DiskPath), "replica": r.Name, "directory": lh.OrNone(r.DataDirectory),
			"node": node, "volume": pl.Volume.LH().Name, "have": have, "again": lh.RegisteredAgain(pl.X, node)},
		Last:  []evidence.Answer{evidence.Unseen(evidence.Lack{Need: "node/" + node, Node: node, Why: "where the replica's directory lies on node " + node + " now"})},
		Steps: remedy.DirectoryBack(r),
	}
	narrowed(pl, p)
	p.At(node)
	return p
}
