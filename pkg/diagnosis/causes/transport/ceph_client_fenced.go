package transport

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/ceph"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// CephClientFenced finds a node whose Ceph client is shut out of a healthy cluster.
var CephClientFenced = &diagnosis.Rule{
	Name: "ceph-client-fenced", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Using, diagnosis.Staging, diagnosis.Publishing, diagnosis.Unmounting},
	LeadsTo: []string{"filesystem-readonly-after-error", "filesystem-needs-fsck"},
	Offers:  []string{"delete-pod", "scale-to-0"},
	Asks:    diagnosis.EachPlace,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if !ceph.Of(pl.Volume) {
			return nil
		}
		f, ok := ceph.FenceOf(pl)
		p := &diagnosis.Proof{
			Subject: diagnosis.NodeSubject(pl.Node), Says: f.Says,
			With: words.Fields{"node": pl.Node, "volume": pl.Volume.PVName(), "where": f.Where},
		}
		switch fenced := ceph.Objected(pl); {
		case ok && f.Line.Yes():
			p.State, p.Last = []evidence.Answer{f.Line}, []evidence.Answer{f.Now}
		case ok && f.Says == "cephfs" && f.Now.Yes(): // the log does not reach back
			p.State, p.AtMost = []evidence.Answer{f.Now, evidence.Any(ceph.WasFenced(pl), ceph.WorksElsewhere(pl)), ceph.Before(pl)}, report.Likely
		case !ok && fenced.Yes() && evidence.Any(ceph.Before(pl), ceph.Refuses(pl)).Yes():
			p.Says, p.AtMost = "object", report.Likely
			p.State, p.Last = []evidence.Answer{fenced, evidence.Any(ceph.Before(pl), ceph.Refuses(pl))}, []evidence.Answer{pl.Probed().Nothing()}
		case !ok && ceph.ShutOut(pl).Yes():
			p.Says, p.State, p.AtMost = "map", []evidence.Answer{ceph.ShutOut(pl)}, report.Likely
		default:
			return diagnosis.Open(pl, probes.KernelLog, probes.Block)
		}
		if ok {
			p.Device(pl.Node, f.Dev)
		}
		p.Steps = fenceSteps(pl)
		return []*diagnosis.Proof{p}
	},
}

func fenceSteps(pl *evidence.Place) []remedy.Step {
	out := []remedy.Step{
		remedy.CephLook(pl.Volume, "See who is shut out", "ceph", "osd", "blocklist", "ls"),
		remedy.Check("See who made the entry.", remedy.Kubectl("get", "networkfence", "-o", "wide")),
	}
	all := pl.Volume.LiveConsumersOn(pl.Node)
	for _, c := range all {
		if !c.Terminating() {
			out = append(out, remedy.LetGo(pl.X, c.Pod).Note("This client is shut out for good: its map or mount never writes again. Only when all pods of the volume on node %s are gone is a new one made.", pl.Node))
		}
	}
	return append(out, remedy.Words("For many volumes drain and reboot node "+pl.Node+". Do not lift the entry, or the NetworkFence, while the old pods run: there would be two writers. An image of RBD is checked before its next use, after its pods are gone and it was mapped anew."))
}
