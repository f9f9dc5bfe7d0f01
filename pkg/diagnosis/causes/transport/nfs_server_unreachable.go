package transport

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nfs"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// NFSServerUnreachable finds mounts whose NFS server does not answer.
var NFSServerUnreachable = &diagnosis.Rule{
	Name: "nfs-server-unreachable", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Using, diagnosis.Staging, diagnosis.Publishing, diagnosis.Unmounting, diagnosis.Detaching},
	YieldsTo: []string{"longhorn-share-manager-down", "longhorn-share-manager-misplaced", "network-host-to-pod-blocked"},
	Offers:   []string{"unmount-lazy"},
	Asks:     diagnosis.EachPlace | diagnosis.EachVolume | diagnosis.EachPod | diagnosis.EachSweptNode,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		out := evidence.Keep(unreachable(pl), func(p *diagnosis.Proof) bool { return p != nil })
		if pod := lh.ShareComing(pl.X, pl.Volume); pod != nil {
			for _, p := range out {
				p.Waiting, p.Steps = true, []remedy.Step{remedy.Words("Wait until pod " + pods.Name(pod) + " serves the share; its clients go on by themselves.")}
				p.Also = append(p.Also, "The server's pod "+pods.Name(pod)+" "+pods.Doing(pl.X, pod)+".")
			}
		}
		return out
	},
}

// unreachable are the servers of one place that do not answer.
func unreachable(pl *evidence.Place) []*diagnosis.Proof {
	all := nfs.Silences(pl)
	switch {
	case pl.Node == "" || pl.Swept && len(all) > 0 || pl.Volume == nil: // all nodes of a volume have one cause
		return []*diagnosis.Proof{silent(all)}
	case len(all) > 0:
		return nil
	}
	a := nfs.Unanswered(pl)
	p := &diagnosis.Proof{
		Subject: diagnosis.NodeSubject(pl.Node), Says: a.How,
		With:  words.Fields{"node": pl.Node, "pod": a.Pod, "volume": nfs.NameOf(pl.Volume), "server": a.Server, "path": a.Path, "port": a.Port, "answer": a.Answer, "service": a.Service.Words()},
		State: []evidence.Answer{a.Is}, Last: []evidence.Answer{a.Last},
	}
	again := "Bring the server " + a.Server + " back, or its network. The kubelet mounts it at its next attempt."
	switch a.How {
	case "": // the node would tell
		p.State, p.Last = []evidence.Answer{nfs.Troubled(pl), evidence.Not(nfs.ServerAsked(pl))}, nil
		return []*diagnosis.Proof{p}
	case "attempt":
		if name := pl.Volume.CSIName(); name != "" && !a.Last.Yes() && csi.NotRegistered(pl, pl.Node, name).Yes() { // it came not so far as to ask the server
			p.AtMost = report.Possible
		}
	case "deserted":
		again, p.AtMost = "Start the pods behind Service "+a.Service.Namespace+"/"+a.Service.Name+" again. The clients then go on by themselves.", report.Likely
	case "said":
		again = "See whether the server " + a.Server + " runs and whether TCP port " + a.Port + " of it answers node " + pl.Node + "; bring it or its network back. The kubelet mounts it at its next attempt."
		if a.Own {
			again = nfs.ForwarderOf(pl.X, pl.Node, pl.Volume).Words(pl.X) + "Read in the plugin's log why it does not answer. " + again
		}
	}
	p.Steps = []remedy.Step{remedy.Words(again)}
	p.Object("server", a.Server)
	p.Users(pl.Volume.LiveConsumersOn(pl.Node)...)
	return []*diagnosis.Proof{p}
}

// silent is the case against servers of mounts that are there.
func silent(all []nfs.Silence) *diagnosis.Proof {
	var p *diagnosis.Proof
	for _, s := range all {
		pl := s.Place
		if p == nil {
			p = &diagnosis.Proof{
				Subject: diagnosis.NodeSubject(pl.Node), Says: "silent", Last: []evidence.Answer{s.Dead()}, Steps: remedy.ServerBack(pl, s),
				With: words.Fields{"mounts": s.Words(), "behind": s.Behind(), "tasks": s.Hanging(), "blocked": ""},
			}
		} else {
			p.Also = append(p.Also, "Also: "+s.Words())
		}
		if beyond := s.Beyond(); beyond != "" {
			p.Also = append(p.Also, beyond)
		}
		p.State = append(p.State, s.Is())
		if p.At(pl.Node); s.Blocked {
			p.With["blocked"] = "The kubelet"
			p.Node(pl.Node) // whatever waits for it waits for the server
		}
		s.Concerns(p)
	}
	return p
}
