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

// IPFamilyUnsupported finds IPv6 addresses that a component writes without brackets.
var IPFamilyUnsupported = &diagnosis.Rule{
	Name: "ip-family-unsupported", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Attaching, diagnosis.Serving},
	LeadsTo: []string{"longhorn-share-manager-down"},
	Asks:    diagnosis.EachVolume,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		v := pl.Volume.LH()
		if v == nil {
			return nil
		}
		for _, pod := range lh.Dialled(pl.X, pl.Volume) {
			share := strings.HasPrefix(pod.Name, "share-manager-")
			unserved, glued := lh.Unserved(pl.X, pl.Volume, share), lh.Glued(pl, pod)
			if glued.No() || unserved.No() {
				continue
			}
			p := &diagnosis.Proof{
				Subject: diagnosis.ObjectSubject("Volume", v.Namespace, v.Name),
				State:   []evidence.Answer{evidence.Yes(evidence.FromPod(pod, "status.podIP", lh.FirstIP(pod))), glued, unserved},
				AtMost:  report.Likely, // it proves a wrong address, not that nothing else is wrong
				With:    words.Fields{"pod": pod.Namespace + "/" + pod.Name, "ip": lh.FirstIP(pod), "node": pod.Spec.NodeName, "version": pl.X.LonghornVersion()},
				Steps:   []remedy.Step{remedy.Words("Upgrade Longhorn to a version that supports IPv6 for this component, or run the cluster dual-stack with IPv4 first. A new pod gets another IPv6 address and fails alike.")},
			}
			if share {
				p.Subject = diagnosis.ObjectSubject("ShareManager", v.Namespace, v.Name)
			}
			return []*diagnosis.Proof{p}
		}
		return nil
	},
}
