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
		if pl.Node == "" || !ceph.Of(pl.Volume) {
			return nil
		}
		suffers, hangs := ceph.Suffers(pl), ceph.Hangs(pl)
		proof := func(says string, with words.Fields, state ...evidence.Answer) *diagnosis.Proof {
			with["node"], with["volume"] = pl.Node, pl.Volume.PVName()
			return &diagnosis.Proof{Subject: diagnosis.NodeSubject(pl.Node), Says: says, With: with, State: state, Steps: remedy.CephBack(says, pl.Node, "")}
		}
		said := func(says string, a evidence.Answer) []*diagnosis.Proof {
			p := proof(says, words.Fields{}, suffers, a)
			p.AtMost, p.Last = report.Likely, []evidence.Answer{pl.Probed().Nothing()}
			return []*diagnosis.Proof{p}
		}
		if says, line := ceph.Refusing(pl); line.Yes() {
			return []*diagnosis.Proof{proof(says, words.Fields{}, suffers, line)}
		}
		for _, peer := range ceph.Complaints(pl) {
			p := proof("peer", words.Fields{"daemon": peer.Name, "address": peer.Address}, suffers, evidence.Yes(peer.Lines...))
			p.Last, p.Steps = []evidence.Answer{peer.Dialled(pl), csi.InHostNetwork(pl)}, remedy.CephBack("peer", pl.Node, peer.Address)
			return []*diagnosis.Proof{p}
		}
		if code, is := ceph.Health(pl); is.Yes() {
			return []*diagnosis.Proof{proof("health", words.Fields{"code": code}, hangs, is)}
		}
		if stuck := ceph.Stuck(pl); stuck.Yes() {
			return said("mds", stuck)
		}
		if silent := ceph.Silent(pl); pl.View == nil && silent.Yes() {
			return said("silent", silent)
		}
		open := diagnosis.Open(pl, probes.KernelLog, probes.Processes)
		if pl.View == nil {
			return open
		}
		p := proof("mtu", words.Fields{}, hangs, ceph.MTU(pl), ceph.Connected(pl))
		p.AtMost = report.Possible
		return append(open, p)
	},
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
		State: []evidence.Answer{ceph.MakingHangs(pl), is}, Steps: remedy.CephBack("health", at.Node, ""),
	}}
}
