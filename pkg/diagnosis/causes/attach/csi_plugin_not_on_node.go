package attach

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nodeplugin"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// CSIPluginNotOnNode finds a node that needs a driver and has no plugin pod of it.
var CSIPluginNotOnNode = &diagnosis.Rule{
	Name: "csi-plugin-not-on-node", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Provisioning, diagnosis.Attaching, diagnosis.Publishing, diagnosis.Unmounting, diagnosis.Detaching},
	LeadsTo:  []string{"topology-conflict", "provisioning-failed"},
	YieldsTo: []string{"driver-not-installed", "driver-never-serves-node"},
	Asks:     diagnosis.EachVolume | diagnosis.EachPod | diagnosis.EachSweep,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		out := []*diagnosis.Proof{diagnosis.Rest(holder.Open(pl, "/nodes"))}
		for _, u := range nodeplugin.Uses(pl) {
			if a, ok := nodeplugin.AbsenceOf(pl, u); ok && nodeplugin.There(pl.X, u.Node) {
				out = append(out, notOnNode(pl, u, a))
			}
		}
		return out
	},
}

func notOnNode(pl *evidence.Place, u nodeplugin.Use, a nodeplugin.Absence) *diagnosis.Proof {
	n := pl.X.Node(u.Node)
	p := &diagnosis.Proof{
		Subject: diagnosis.NodeSubject(u.Node), Says: a.Says,
		With:  words.Fields{"driver": u.Driver, "node": u.Node, "why": a.Why, "know": "", "set": "", "age": "", "holds": u.HoldsUp(pl.X)},
		State: []evidence.Answer{a.None},
		Last:  []evidence.Answer{a.Known, csi.Undisputed(pl.X, u.Driver).Nothing()},
		Steps: remedy.PluginBack(pl.X, u, a),
	}
	if ready := node.Ready(pl.X, u.Node); n == nil { // nobody may read nodes
		n, p.Last[0] = &corev1.Node{}, evidence.All(a.Known, ready)
	} else {
		p.State = append(p.State, ready)
	}
	if unknown := u.Unregistered(pl); unknown.Unseen() && a.Known.Yes() { // who is kept out registers nothing
		p.Last = append(p.Last, unknown)
	} else {
		p.With["know"], p.State = "know", slices.Insert(p.State, 0, unknown.With(pods.States(u.Pods)...).With(nodeplugin.Said(pl, u)...))
	}
	if a.Set != nil {
		p.With["set"] = a.Set.Namespace + "/" + a.Set.Name
	}
	if age := pl.X.Age(n.CreationTimestamp.Time); !n.CreationTimestamp.IsZero() && age < nodeplugin.NewNode {
		p.AtMost, p.Waiting, p.With["age"] = report.Possible, true, evidence.Duration(age)
	}
	if len(holder.Going(u.Pods)) == 0 && holder.KeptAway(u.Volume, u.Node) {
		p.Breaks = []diagnosis.Step{diagnosis.Publishing}
	}
	p.At(u.Node)
	p.Volume(u.Volume)
	p.Pods(u.Pods...)
	p.Attachment(u.Volume.AttachmentOn(u.Node))
	if a.Says == "refused" {
		p.State = slices.Insert(p.State, 0, a.Known)
	}
	return p
}
