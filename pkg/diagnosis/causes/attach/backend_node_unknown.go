package attach

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/cloud"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// BackendNodeUnknown finds a node that the storage backend does not know, or takes for
// another machine.
var BackendNodeUnknown = &diagnosis.Rule{
	Name: "backend-node-unknown", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Attaching, diagnosis.Detaching, diagnosis.Staging},
	YieldsTo: []string{"node-removed", "csi-credentials-wrong", "longhorn-control-plane-down"},
	Asks:     diagnosis.EachPlace,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		driver := pl.Volume.CSIName()
		refused := csi.AttachRefused(pl, pl.Node)
		if driver == "" || len(refused) == 0 || pl.X.Node(pl.Node) == nil {
			return nil
		}
		fails := evidence.Yes(refused[0].Evidence())
		said, named := cloud.NodeNotFound(pl, refused)
		twin, isTwin := cloud.Twin(pl.X, pl.Node, driver)
		unset := cloud.Unset(pl.X, pl.Node, driver)
		p := &diagnosis.Proof{
			Subject: diagnosis.NodeSubject(pl.Node),
			With: words.Fields{"node": pl.Node, "driver": driver, "twin": twin, "id": cloud.NodeID(pl.X, pl.Node, driver),
				"provider": pl.X.Node(pl.Node).Spec.ProviderID},
			LookAlikes: []diagnosis.LookAlike{
				{Cause: "csi-credentials-wrong", Is: cloud.EveryNode(pl.X, driver)},
				{Cause: "attach-limit-exceeded", Is: cloud.CountReached(refused)},
				{Cause: "backend-throttled", Is: cloud.Slowed(refused)},
			},
			Steps: nodeUnknownSteps(pl.Node),
		}
		switch other := cloud.OtherMachine(pl.X, pl.Node, driver); {
		case isTwin.Yes():
			p.Says, p.State = "twin", []evidence.Answer{fails, isTwin}
		case other.Yes():
			p.Says, p.State = "other", []evidence.Answer{fails, other}
		case named.Yes() && unset.Yes():
			p.Says, p.State = "unset", []evidence.Answer{named.With(unset.Facts()...)}
		case named.Yes():
			p.Says, p.State = "named", []evidence.Answer{named}
		default:
			p.Says, p.AtMost = "unnamed", report.Likely
			p.State = []evidence.Answer{said, evidence.Any(unset, cloud.AloneInTrouble(pl.X, pl.Node, driver), cloud.NotFound(refused))}
		}
		return []*diagnosis.Proof{p}
	},
}

func nodeUnknownSteps(node string) []remedy.Step {
	return []remedy.Step{
		remedy.Check("Compare the ids of the node with those of a node that works.",
			remedy.Kubectl("get", "node", node, "-o", "jsonpath={.spec.providerID}"),
			remedy.Kubectl("get", "csinode", node, "-o", "jsonpath={.spec.drivers}")),
		remedy.Words("Of an array: the node plugin registers its host entry when it starts. Look at its log, then restart that one plugin pod (mounted volumes stay), or correct the initiators of the host entry."),
		remedy.Words("Of a cloud or hypervisor: let the cloud controller give the node its provider ID, or correct the name or UUID of the machine, then restart the CSI controller, which remembers nodes. A provider ID cannot be changed once it is set: drain the node, remove its Node object and let its kubelet register again. Do not edit the CSINode, and leave finalizers alone: the machine may run and hold disks."),
	}
}
