package transport

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nfs"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// NFSClientIDCollision finds nodes that an NFSv4 server takes for one client.
var NFSClientIDCollision = &diagnosis.Rule{
	Name: "nfs-client-id-collision", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing, diagnosis.Using},
	LeadsTo: []string{"nfs-state-hang"},
	Offers:  []string{"delete-pod"},
	Asks:    diagnosis.EachVolume | diagnosis.EachPlace,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Swept != (pl.Node != "") { // one case for a volume; of questions about nodes one for each
			return nil
		}
		c, ok := nfs.CollisionOf(pl)
		if !ok || c.Is.No() || pl.Swept && !slices.Contains(c.Nodes, pl.Node) {
			return nil
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.NodeSubject(c.Nodes[0]), Says: "names", With: words.Fields{"same": c.Same, "log": c.Log, "host": c.Host, "nodes": words.List(c.Nodes, 0)},
			State: []evidence.Answer{c.Is}, Last: []evidence.Answer{c.Lost, c.Names},
			Steps: []remedy.Step{remedy.Words("Give every machine a host name of its own (it must survive a reboot), or set nfs4_unique_id of module nfs before the first mount. Only then mount everything anew: drain the nodes, or delete all pods that use the share there.")},
		}
		if pl.Swept && c.Same != "" {
			p.Subject = diagnosis.NodeSubject(pl.Node)
		}
		if c.Same == "" { // one machine with two addresses looks the same in the log
			p.Says, p.AtMost = "log", report.Likely
		}
		p.Object("server", c.Server)
		p.At(c.Nodes...)
		for _, x := range pl.Volume.Live() {
			p.Pod(x.Pod)
			if slices.Contains(c.Nodes, x.Node()) && !x.Terminating() {
				p.Steps = append(p.Steps, remedy.DeletePod(x.Pod).Note("It uses the share on node %s; once the host names differ its new mount has a name of its own.", x.Node()))
			}
		}
		// No cause of its own: it notes the nodes that nobody looked at.
		return []*diagnosis.Proof{p, {Subject: p.Subject, State: []evidence.Answer{evidence.Not(c.Others())}}}
	},
}
