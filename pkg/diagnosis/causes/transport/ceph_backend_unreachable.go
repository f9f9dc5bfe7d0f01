package transport

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/ceph"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/provision"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// CephBackendUnreachable finds a node whose Ceph client does not get through.
var CephBackendUnreachable = &diagnosis.Rule{
	Name: "ceph-backend-unreachable", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing, diagnosis.Using, diagnosis.Unmounting, diagnosis.Detaching, diagnosis.Provisioning},
	LeadsTo:  []string{"ceph-client-fenced", "filesystem-readonly-after-error", "provisioning-failed"},
	YieldsTo: []string{"ceph-client-fenced", "kernel-module-missing"},
	Asks:     diagnosis.EachPlace | diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Node == "" && ceph.Makes(pl.Volume) {
			return notMade(pl)
		}
		if pl.Node == "" || !ceph.Serves(pl.Volume) {
			return nil
		}
		suffers, silent := ceph.Suffers(pl), ceph.Silent(pl)
		if !ceph.Of(pl.Volume) { // its client is a process, of which the kernel's log has nothing
			return noAnswer(pl, suffers, silent)
		}
		hangs := ceph.Hangs(pl)
		says, line := ceph.Refusing(pl)
		peers, stuck := ceph.Complaints(pl), ceph.Stuck(pl)
		code, sick := ceph.Health(pl)
		switch {
		case line.Yes():
			return noWay(pl, says, words.Fields{}, suffers, line)
		case len(peers) > 0:
			p := noWay(pl, "peer", words.Fields{"daemon": peers[0].Name, "address": peers[0].Address}, suffers, evidence.Yes(peers[0].Lines...))
			p[0].Last, p[0].Steps = []evidence.Answer{peers[0].Dialled(pl), csi.InHostNetwork(pl)}, remedy.CephBack("peer", pl.Node, peers[0].Address, hangs.Yes())
			return p
		case sick.Yes():
			return noWay(pl, "health", words.Fields{"code": code}, hangs, sick)
		case stuck.Yes():
			p := noWay(pl, "mds", words.Fields{}, suffers, stuck)
			p[0].AtMost, p[0].Last = report.Likely, []evidence.Answer{pl.Probed().Nothing()}
			return p
		case silent.Yes():
			return noAnswer(pl, suffers, silent)
		}
		open := diagnosis.Open(pl, probes.KernelLog, probes.Processes)
		if pl.View == nil {
			return open
		}
		p := noWay(pl, "mtu", words.Fields{}, hangs, ceph.MTU(pl), ceph.Connected(pl))
		p[0].AtMost = report.Possible
		return append(open, p...)
	},
}

// noWay is the client of the place's node, which does not get through.
func noWay(pl *evidence.Place, says string, with words.Fields, state ...evidence.Answer) []*diagnosis.Proof {
	with["node"], with["volume"] = pl.Node, pl.Volume.PVName()
	return []*diagnosis.Proof{{Subject: diagnosis.NodeSubject(pl.Node), Says: says, With: with, State: state, Steps: remedy.CephBack(says, pl.Node, "", ceph.Hangs(pl).Yes())}}
}

// noAnswer is a client of which only its own word is known, that its time ran out.
func noAnswer(pl *evidence.Place, suffers, silent evidence.Answer) []*diagnosis.Proof {
	p := noWay(pl, "silent", words.Fields{}, suffers, silent)
	p[0].AtMost, p[0].Last = report.Likely, []evidence.Answer{pl.Probed().Nothing()}
	p[0].LookAlikes = []diagnosis.LookAlike{{Cause: "a monitor that answers", Is: ceph.Answers(pl)}}
	return p
}

// notMade is a volume that does not exist yet, while its cluster does not serve everybody.
func notMade(pl *evidence.Place) []*diagnosis.Proof {
	at, making := provision.MadeOn(pl)
	if !making {
		return nil
	}
	code, is := ceph.Health(pl)
	return []*diagnosis.Proof{{
		Subject: diagnosis.NodeSubject(at.Node), Says: "making", AtMost: report.Likely,
		With:  words.Fields{"node": at.Node, "volume": pl.Volume.Called(), "code": code},
		State: []evidence.Answer{ceph.MakingHangs(pl), is}, Steps: remedy.CephBack("health", at.Node, "", false),
	}}
}
