package longhorn

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// EngineOrphaned finds an engine process that outlives the attachment of its volume.
var EngineOrphaned = &diagnosis.Rule{
	Name: "longhorn-engine-orphaned", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Attaching, diagnosis.Detaching},
	LeadsTo: []string{"device-mapped-on-other-node"},
	Offers:  []string{"delete-instance-manager"},
	Asks:    diagnosis.EachPlace | diagnosis.EachSweptNode,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		return evidence.Each(lh.EngineProcesses(pl), func(process lh.EngineProcess) *diagnosis.Proof { return engineOrphaned(pl, process) })
	},
}

func engineOrphaned(pl *evidence.Place, process lh.EngineProcess) *diagnosis.Proof {
	why, unwanted := process.Unwanted(pl.X, pl.Volume)
	if unwanted.No() {
		return nil
	}
	d, im := process.Disk(pl.X), process.Manager
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("InstanceManager", im.Namespace, im.Name),
		State:   []evidence.Answer{evidence.Yes(process.Runs()), unwanted.With(d.Facts...)},
		Last:    []evidence.Answer{process.Left(pl.X, pl.Volume)},
		With: words.Fields{"engine": process.Name, "im": im.Name, "node": pl.Node, "why": why, "target": d.Target,
			"session": d.Session, "portal": d.Portal, "disk": d.Name, "dev": d.Dev.String(), "users": words.List(d.Users, 3), "unprobed": ""},
		Steps: endOrphan(pl, process, d),
	}
	if pl.View == nil {
		p.With["unprobed"] = pl.Node
	}
	if e := process.Record(pl.X); e != nil && process.Elsewhere(pl.X) == nil {
		p.Subject = diagnosis.ObjectSubject("Engine", e.Namespace, e.Name)
	}
	if v := pl.Volume.LH(); v != nil && v.Status.State == "attached" && len(pl.Volume.Waiting()) == 0 {
		p.Severity, p.Breaks = report.Degraded, []diagnosis.Step{diagnosis.Detaching} // nobody waits for it
	}
	if lh.Stale(pl.X, pl.Node) {
		p.AtMost = report.Likely
	}
	p.Object("im", im.Name)
	return p
}

// endOrphan ends the process, when nothing uses its disk.
func endOrphan(pl *evidence.Place, process lh.EngineProcess, d lh.Disk) []remedy.Step {
	im, how := process.Manager, "end that one process inside the instance-manager pod "+process.Manager.Name+" (its command line deletes one process by name)"
	orphan := process.Orphan(pl.X)
	if orphan != nil {
		how = "delete the Orphan object " + orphan.Name + " in namespace " + orphan.Namespace + "; Longhorn then ends the process"
	}
	free := lh.NoSession(pl, d)
	if d.Session != "" {
		free = disk.Free(pl.X, pl.Node, d.Dev)
	}
	switch {
	case free.No():
		return []remedy.Step{remedy.Words("Node " + pl.Node + " still mounts or uses " + d.Name + " (" + d.Dev.String() + ") of that engine: release it first. Then " + how + ".")}
	case free.Unseen():
		return []remedy.Step{remedy.Words("Make sure on node " + pl.Node + " first that no mount namespace has the disk of its session: the node was not probed completely. Once that is sure, " + how + ".")}
	}
	out := []remedy.Step{remedy.Words("Nothing on node " + pl.Node + " uses the disk of its session: " + how + ".")}
	if orphan == nil && pl.Volume != nil {
		out = append(out, remedy.DeleteInstanceManager(im, process.Name).If(remedy.UnusedOn(pl.Volume, im.NodeID)))
	}
	return out
}
