package risk

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/mounts"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// HostRootMountedPrivately finds pods that copy the host's mounts when they start
// and never hear of unmounts.
var HostRootMountedPrivately = &diagnosis.Rule{
	Name: "host-root-mounted-privately", Layer: diagnosis.RiskLayer, Severity: report.Risk,
	LeadsTo: []string{"mount-pinned-in-namespace"},
	Asks:    diagnosis.EachNode,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		var out []*diagnosis.Proof
		for _, pod := range pl.X.PodsOn(pl.Node) {
			c := mounts.CopyOf(pl, pod)
			if c.Host == "" {
				continue
			}
			workload := ""
			if o := pl.X.TopOwner(pod); !o.Pod && o.Name != "" {
				workload = o.String()
			}
			p := &diagnosis.Proof{
				Subject: diagnosis.PodSubject(pod),
				With: words.Fields{"pod": pod.Namespace + "/" + pod.Name, "workload": workload, "host": c.Host, "node": pl.Node, "at": c.At,
					"held": words.List(c.Held, 4)},
				State: []evidence.Answer{c.Spec},
				Last:  []evidence.Answer{c.Table},
				Steps: []remedy.Step{remedy.Words("Set mountPropagation: HostToContainer on this mount and restart the pod in a quiet moment. A read-only mount does not help, and the image is not at fault.")},
			}
			if p.Says = "may"; len(c.Held) > 0 {
				p.Says = "holds"
			}
			p.Pod(pod)
			out = append(out, p)
		}
		return out
	},
}
