package longhorn

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
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
				out = append(out, diskGone(pl, r.NodeID, have, gone, words.Fields{"disk": r.DiskID, "path": lh.OrNone(r.DiskPath), "replica": r.Name, "directory": lh.OrNone(r.DataDirectory)}))
			}
		}
		return out
	},
}

func diskUnusable(pl *evidence.Place, o lh.OnDisk, fault lh.Fault, harm evidence.Answer) *diagnosis.Proof {
	p := &diagnosis.Proof{
		Subject: diagnosis.NodeSubject(o.Node.Name),
		State:   []evidence.Answer{o.Rejected(), harm}, Last: []evidence.Answer{o.Current(), fault.Answer},
		With: words.Fields{"path": o.Disk.Path, "node": o.Node.Name, "what": fault.What, "says": o.Says(), "ready": "", "replica": "", "volume": ""},
		Steps: []remedy.Step{remedy.Words(restoreDisk(o, fault)),
			remedy.Words("Delete no replica while this may be the last copy, and look for needed replicas before the disk or Longhorn's node object is taken away.")},
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

// restoreDisk is what brings the disk back, by what is wrong with it.
func restoreDisk(o lh.OnDisk, fault lh.Fault) string {
	at := o.Disk.Path + " on node " + o.Node.Name
	switch {
	case fault.Kind == lh.Unmounted && fault.Device != "":
		return "Mount the filesystem of " + fault.Device + " at " + at + " again; Longhorn finds its disk within a minute. An entry of fstab with nofail does not say when that failed: look why."
	case fault.Kind == lh.Unmounted:
		return "Mount the right filesystem at " + at + " again; Longhorn finds its disk within a minute."
	case fault.Kind == lh.ReadOnly:
		return "Find out why the filesystem at " + at + " became read-only, check it while nothing uses it, and mount it read-write again. Longhorn then salvages by itself or in the UI."
	case fault.Kind == lh.OtherUUID && fault.Emptied:
		return "The disk at " + at + " was wiped or replaced (no replica directory was seen on it): take the disk entry out of Longhorn's node, add it again, and let the replicas be rebuilt from the others."
	case fault.Kind == lh.OtherUUID:
		return "The replica directories are still on the disk at " + at + ": write the recorded UUID back into its longhorn-disk.cfg."
	}
	if o.Disk.Type == "block" {
		return "Read what the v2 instance-manager of node " + o.Node.Name + " says of the disk " + o.Disk.Path + ": one that was not closed cleanly is read whole before it is Ready, which takes minutes; else look whether the node still has it."
	}
	return "Bring the right disk back at " + at + ": mount it, or find out why its filesystem became read-only, check it while nothing uses it, and mount it read-write again. Longhorn then salvages by itself or in the UI."
}

// narrowed keeps a lost replica to what it does to a volume that works with the others:
// it is degraded, and nothing waits for the disk.
func narrowed(pl *evidence.Place, p *diagnosis.Proof) {
	if lh.Degraded(pl.Volume.LH()).Yes() {
		p.Severity, p.Breaks = report.Degraded, []diagnosis.Step{diagnosis.Replicating}
	}
}

func diskGone(pl *evidence.Place, node, have string, gone evidence.Answer, with words.Fields) *diagnosis.Proof {
	with["node"], with["volume"], with["have"], with["again"] = node, pl.Volume.LH().Name, have, lh.RegisteredAgain(pl.X, node)
	p := &diagnosis.Proof{
		Subject: diagnosis.NodeSubject(node), Says: "gone", With: with, State: []evidence.Answer{gone},
		Last: []evidence.Answer{evidence.Unseen(evidence.Lack{Need: "node/" + node, Node: node, Why: "where the replica's directory lies on node " + node + " now"})},
		Steps: []remedy.Step{
			remedy.Words("Look on node " + node + " for the replica's directory " + with["directory"] + ". Where it still lies under a disk path, restore the old UUID in longhorn-disk.cfg of that path and add the disk again; else let the replicas be rebuilt from the others."),
			remedy.Words("Delete no replica while this may be the last copy."),
		},
	}
	narrowed(pl, p)
	p.At(node)
	return p
}
