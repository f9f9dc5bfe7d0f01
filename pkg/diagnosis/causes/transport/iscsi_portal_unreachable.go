package transport

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/iscsi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// ISCSIPortalUnreachable finds a node that cannot connect to a portal of an external
// iSCSI target.
var ISCSIPortalUnreachable = &diagnosis.Rule{
	Name: "iscsi-portal-unreachable", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Attaching, diagnosis.Staging, diagnosis.Using},
	LeadsTo: []string{"iscsi-session-lost", "multipath-map-orphaned"},
	Asks:    diagnosis.EachPlace,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Volume.IsLonghorn() {
			return nil
		}
		var out []*diagnosis.Proof
		portals := iscsi.Portals(pl)
		answering := iscsi.Answering(pl, portals)
		for _, portal := range portals {
			out = append(out, portalUnreachable(pl, portal, answering))
		}
		if name, said := iscsi.Unresolved(pl); said.Yes() {
			out = append(out, &diagnosis.Proof{
				Subject: diagnosis.NodeSubject(pl.Node), Says: "name", With: words.Fields{"node": pl.Node, "portal": name},
				State: []evidence.Answer{said, csi.WantedOn(pl, pl.Node)}, AtMost: report.Likely,
				Steps: []remedy.Step{
					remedy.Check("See what the node makes of the name.", remedy.OnNode(pl.Node, "getent", "hosts", name)),
					remedy.Words("Name the portal by an address in the driver's configuration, or let the resolver of the node (not the cluster's) know the name: iscsiadm runs with the node's."),
				},
			})
		}
		return out
	},
}

func portalUnreachable(pl *evidence.Place, portal iscsi.Portal, answering []string) *diagnosis.Proof {
	reach, not := portal.FromOthers(pl)
	lost := portal.Lost(pl)
	wanted := evidence.Any(csi.WantedOn(pl, pl.Node), lost)
	p := &diagnosis.Proof{
		Subject: diagnosis.NodeSubject(pl.Node), Says: "dead",
		With: words.Fields{"node": pl.Node, "portal": portal.Addr.String(), "answering": words.List(answering, 3),
			"reach": words.List(reach, 3), "not": words.List(not, 3)},
		State: []evidence.Answer{portal.Dead(pl).With(portal.Blamed.Facts()...), evidence.Not(portal.Session(pl))},
		LookAlikes: []diagnosis.LookAlike{
			{Cause: "network-host-to-pod-blocked", Is: portal.OfPod(pl.X)},
		},
		Steps: []remedy.Step{
			remedy.Check("See through which portals the node is logged in.", remedy.OnNode(pl.Node, "iscsiadm", "-m", "session", "-P", "1")),
			remedy.Words("A portal that no node reaches is the array's: its port, its interface, its address. One that only this node misses is the network's: firewall, VLAN, MTU, the interface of the storage network. A portal that is gone for good must leave the class, the backend of the driver, or, for an in-tree volume, a new PV object: the list cannot be changed in place. Keep the node records of portals with sessions."),
		},
	}
	switch {
	case !wanted.Yes(): // mounted through others, or nobody waits: redundancy only
		p.Says, p.Severity, p.Breaks = "spare", report.Degraded, []diagnosis.Step{diagnosis.Draining}
		p.State = append(p.State, evidence.When(portal.Named && len(answering) > 0))
	case portal.Blamed.Yes() && p.State[0].Unseen():
		p.AtMost, p.State, p.Last = report.Likely, []evidence.Answer{portal.Blamed}, p.State[:2]
	default:
		p.State = append(p.State, wanted, evidence.Any(portal.Blamed, lost, evidence.When(portal.Named && iscsi.OfOthers(pl, answering))))
	}
	return p
}
