package transport

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nfs"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// NFSHandleStale finds mounts whose server answers and no longer knows the file
// that is mounted.
var NFSHandleStale = &diagnosis.Rule{
	Name: "nfs-handle-stale", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Using, diagnosis.Staging, diagnosis.Publishing, diagnosis.Unmounting},
	LeadsTo: []string{"subpath-bind-stale"},
	Offers:  []string{"delete-pod", "unmount-lazy"},
	Asks:    diagnosis.EachPlace | diagnosis.EachVolume | diagnosis.EachPod | diagnosis.EachSweptNode,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		all := nfs.Stales(pl)
		switch {
		case pl.Node == "" || pl.Swept && len(all) > 0 || pl.Volume == nil: // all nodes of a volume have one cause
			return []*diagnosis.Proof{stale(all)}
		case len(all) > 0:
			return nil
		}
		client, said := nfs.SaidStale(pl)
		if client == nil {
			return diagnosis.Open(pl, probes.Mounts)
		}
		pod := client.Namespace + "/" + client.Name
		p := &diagnosis.Proof{
			Subject: diagnosis.PodSubject(client), Says: "said",
			With:  words.Fields{"volume": nfs.NameOf(pl.Volume), "pod": pod, "node": pl.Node},
			State: []evidence.Answer{said}, Last: []evidence.Answer{nfs.Asked(pl)},
			Steps: []remedy.Step{remedy.Words("Once the server is known to answer, let pod " + pod + " be made anew: a stale handle never recovers.")},
		}
		p.Pod(client)
		return []*diagnosis.Proof{p}
	},
}

// stale is the case for mounts that answer so.
func stale(all []nfs.Stale) *diagnosis.Proof {
	p, mounts := (*diagnosis.Proof)(nil), []string{}
	for _, s := range all {
		if p == nil {
			p = &diagnosis.Proof{
				Subject: diagnosis.NodeSubject(s.Place.Node), Says: "stale", Last: []evidence.Answer{s.Served}, // silent: nfs-server-unreachable
				With: words.Fields{"source": s.First.Source, "server": s.First.Addr, "port": ""},
			}
		}
		if s.Served.Yes() {
			p.With["port"] = s.First.Port
		}
		mounts, p.State = append(mounts, s.Words()), append(p.State, s.Is)
		for i, pod := range s.Pods() {
			if p.Pod(pod); i == 0 && p.Subject.Kind == "Node" {
				p.Subject = diagnosis.PodSubject(pod)
			}
		}
		p.Steps = append(p.Steps, remedy.StaleGone(s)...)
		p.At(s.Place.Node)
		p.Object("server", s.First.Addr)
		for _, m := range s.Mounts {
			p.Device(s.Place.Node, m.Mount.Dev)
		}
	}
	if p != nil {
		p.With["mounts"] = words.List(mounts, 0)
	}
	return p
}
