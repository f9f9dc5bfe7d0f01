package transport

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/provision"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/smb"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// SMBServerUnreachable finds a node that gets no connection to the server of a share.
var SMBServerUnreachable = &diagnosis.Rule{
	Name: "smb-server-unreachable", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing, diagnosis.Using, diagnosis.Unmounting, diagnosis.Provisioning},
	YieldsTo: []string{"network-host-to-pod-blocked", "kernel-module-missing"},
	Asks:     diagnosis.EachPlace | diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Volume.PV == nil && !pl.Volume.Inline { // it is mounted where it is made
			at, making := provision.MadeOn(pl)
			if !making || pl.Node != "" {
				return nil
			}
			pl = at
		}
		s, ok := smb.ShareOf(pl)
		if !ok || pl.Node == "" {
			return nil
		}
		answers := s.Answers(pl)
		cure := "Open port " + s.Port + " from node " + pl.Node + " towards " + s.Server + " (cloud networks and providers often block it; a private endpoint goes round that), or bring the server back. Mounts connect again by themselves."
		if s.Unresolved() {
			cure = "Use an address, or a name that the plugin's pod can resolve: its dnsPolicy decides, not the node."
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.NodeSubject(pl.Node), Says: "dial",
			With:  words.Fields{"node": pl.Node, "server": s.Server, "port": s.Port, "source": s.Source},
			State: []evidence.Answer{evidence.Any(s.Fails(), s.Broken(pl)), evidence.Not(answers)},
			Last:  []evidence.Answer{csi.InHostNetwork(pl)},
			// Whoever refuses a logon, or a share, is there.
			LookAlikes: []diagnosis.LookAlike{{Cause: "smb-access-denied", Is: s.NotTakenBack(pl)}, {Cause: "smb-mount-refused", Is: past(s.Unshared(pl))}},
			Steps: []remedy.Step{
				remedy.Check("Try the port from this node, and from one that works.", remedy.Dial(pl.Node, s.Server, s.Port)),
				remedy.Words(cure),
			},
		}
		if said := s.Unconnected(); said.Yes() {
			p.Says, p.State = "said", []evidence.Answer{said}
			p.Last = []evidence.Answer{evidence.Any(s.Named(), evidence.All(evidence.Not(answers), csi.InHostNetwork(pl)))}
			p.LookAlikes = []diagnosis.LookAlike{{Cause: "a connection that failed for a moment", Is: past(answers)}}
		}
		if s.Unresolved() {
			p.Says, p.LookAlikes = "name", nil
		}
		if l := s.LoggedNoConnection(pl); l.Yes() {
			p.Hint = l
		}
		return []*diagnosis.Proof{p}
	},
}

// past keeps only the yes of an answer: that nobody dialled is no doubt of its own.
func past(a evidence.Answer) evidence.Answer {
	if a.Yes() {
		return a
	}
	return evidence.No()
}
