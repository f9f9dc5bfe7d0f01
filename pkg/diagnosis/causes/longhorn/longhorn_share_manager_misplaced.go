package longhorn

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// ShareManagerMisplaced finds a share-manager on a node where Longhorn does not run.
var ShareManagerMisplaced = &diagnosis.Rule{
	Name: "longhorn-share-manager-misplaced", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Serving},
	LeadsTo: []string{"longhorn-share-manager-down", "nfs-server-unreachable"},
	Offers:  []string{"delete-share-manager"},
	Asks:    diagnosis.EachVolume,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Volume.LH() == nil || !pl.Volume.RegularRWX() {
			return nil
		}
		pod := pl.X.ShareManagerPod(pl.Volume)
		if pod == nil || pod.Spec.NodeName == "" {
			return nil
		}
		state, placed := lh.Placed(pl.X, pl.Volume, pod)
		node := pod.Spec.NodeName
		lacks, without := lh.WithoutLonghorn(pl.X, node)
		p := &diagnosis.Proof{
			Subject:    diagnosis.ObjectSubject("ShareManager", pod.Namespace, pl.Volume.Handle),
			With:       words.Fields{"pod": pod.Name, "volume": pl.Volume.LH().Name, "node": node, "lacks": strings.Join(lacks, " and no "), "state": state, "selector": lh.Selector(pl.X)},
			State:      []evidence.Answer{placed, evidence.Any(without, lh.Stranger(pl.X, node))},
			Last:       []evidence.Answer{without, lh.Described(pl.Volume)},
			LookAlikes: []diagnosis.LookAlike{{Cause: "a pod of Longhorn's that is just being replaced", Is: lh.BeingReplaced(pl.X, node, lacks)}},
			Steps: []remedy.Step{
				remedy.Words("Keep share-managers on Longhorn's nodes: set system-managed-components-node-selector to the selector of the longhorn-manager DaemonSet (the setting is applied while volumes are detached), or the share-manager node selector of the StorageClass; or run Longhorn on that node, too."),
				remedy.Words("After that a new share-manager pod is placed rightly. A restart of the pod before that may put it on the same node again."),
			},
		}
		p.At(node)
		return []*diagnosis.Proof{p}
	},
}
