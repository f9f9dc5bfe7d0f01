package attach

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// DriverNeverServesNode finds a pod on a kind of node on which its driver does not run by
// design.
var DriverNeverServesNode = &diagnosis.Rule{
	Name: "driver-never-serves-node", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Attaching, diagnosis.Publishing, diagnosis.Provisioning},
	Asks:   diagnosis.EachVolume,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		driver := pl.Volume.CSIName()
		if driver == "" && pl.Volume.Class != nil {
			driver = pl.Volume.Class.Provisioner
		}
		if driver == "" {
			return nil
		}
		return evidence.Each(pl.Volume.Waiting(), func(w *snapshot.Consumer) *diagnosis.Proof { return neverServed(pl, w, driver) })
	},
}

func neverServed(pl *evidence.Place, w *snapshot.Consumer, driver string) *diagnosis.Proof {
	node := w.Pod.Spec.NodeName
	kind, special := csi.KindOf(pl.X, node)
	refused := csi.FargateRefused(pl, w.Pod)
	p := &diagnosis.Proof{
		Subject: diagnosis.PodSubject(w.Pod),
		With:    words.Fields{"pod": w.Pod.Namespace + "/" + w.Pod.Name, "driver": driver, "node": node, "kind": kind.Name, "term": ""},
		Steps: []remedy.Step{
			remedy.Check("See on which nodes the driver runs.",
				remedy.Kubectl("get", "csinode", "-o", "custom-columns=N:.metadata.name,D:.spec.drivers[*].name")),
			remedy.Words("Place the pod on such a node by a nodeSelector or node affinity; on Fargate take it out of the Fargate profile, or use a file system that Fargate supports (EFS with a static volume). On Windows only drivers with a plugin for Windows work. A toleration in the driver's DaemonSet changes nothing: the driver cannot work on this kind of node."),
		},
	}
	switch {
	case refused.Yes():
		p.Says, p.State = "fargate", []evidence.Answer{refused}
	case special:
		term, excluded := kind.Excluded(pl.X, driver, node)
		p.With["term"] = term
		p.Says, p.State = "kind", []evidence.Answer{kind.Is, csi.NotRegistered(pl, node, driver)}
		p.Last = []evidence.Answer{excluded}
		p.LookAlikes = []diagnosis.LookAlike{{Cause: "driver-not-installed", Is: evidence.Not(csi.Installed(pl.X, driver))}}
		p.At(node)
	default:
		return nil
	}
	p.Keys.Pod(w.Pod)
	return p
}
