package transport

import (
	"cmp"
	"net"

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
			return &diagnosis.Proof{Subject: diagnosis.NodeSubject(pl.Node), Says: says, With: with, State: state, Steps: cephSteps(says, pl.Node, "")}
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
			p.Last, p.Steps = []evidence.Answer{peer.Dialled(pl), csi.InHostNetwork(pl)}, cephSteps("peer", pl.Node, peer.Address)
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
		State: []evidence.Answer{ceph.MakingHangs(pl), is}, Steps: cephSteps("health", at.Node, ""),
	}}
}

// cephHelp is what helps in each branch.
var cephHelp = map[string]string{
	"peer":   "Open the monitors (3300 and 6789) and the ports of the OSDs and metadata servers (6800 and up) of all storage hosts for this node, with one MTU on the whole way.",
	"mds":    "Let the Ceph administrator bring the metadata server back.",
	"old":    "Use a kernel that speaks the protocol of the cluster (ms_mode in the map or mount options for version 2, from 5.11 on).",
	"health": "Let the Ceph administrator cure what the cluster complains of.",
	"mtu":    "Set one MTU on the whole way between the nodes and the storage hosts.",
}

func cephSteps(says, node, address string) []remedy.Step {
	checks := []remedy.Command{"ceph health detail"}
	if host, port, err := net.SplitHostPort(address); err == nil {
		checks = append(checks, remedy.Dial(node, host, port))
	}
	return []remedy.Step{
		remedy.Check("Ask the cluster for its health, in the toolbox or on a host of Ceph, and try the way to it from this node and from one that works.", checks...),
		remedy.Words(cmp.Or(cephHelp[says], cephHelp["peer"]) + " The call that hangs goes on by itself once the daemon answers: do not kill it, and do not detach, unmap or reboot first, none of which reaches the storage."),
	}
}
