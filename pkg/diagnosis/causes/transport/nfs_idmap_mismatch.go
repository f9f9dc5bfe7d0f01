package transport

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nfs"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// NFSIdmapMismatch finds clients that read owners in another domain than the server
// writes them, so that everything belongs to nobody.
var NFSIdmapMismatch = &diagnosis.Rule{
	Name: "nfs-idmap-mismatch", Layer: diagnosis.Transport, Severity: report.Degraded,
	Breaks: []diagnosis.Step{diagnosis.Using},
	Asks:   diagnosis.EachVolume,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		for _, at := range pl.AtConsumers() {
			c, said := nfs.OwnedByNobody(at)
			if c == nil {
				continue
			}
			d := nfs.DomainsOf(at)
			if d.Differ.No() {
				continue
			}
			p := &diagnosis.Proof{
				Subject: diagnosis.NodeSubject(at.Node),
				With: words.Fields{"pod": c.Pod.Namespace + "/" + c.Pod.Name, "node": at.Node, "volume": nfs.NameOf(pl.Volume),
					"mine": d.Mine, "theirs": d.Theirs},
				State: []evidence.Answer{said, d.Differ},
				Last:  []evidence.Answer{d.Server, d.Names},
				Steps: []remedy.Step{remedy.Words("Set Domain = "+d.Theirs+" in /etc/idmapd.conf of node "+at.Node+", clear the cached names (nfsidmap -c) and let the pod mount the volume anew. It changes the owners of all NFSv4 mounts of this host: check that no other server needs the old domain.").
					In("/etc/idmapd.conf", remedy.IDMapDomain(d.Theirs)...)},
			}
			p.At(at.Node)
			p.Pod(c.Pod)
			return []*diagnosis.Proof{p}
		}
		return nil
	},
}
