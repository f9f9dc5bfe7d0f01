package mount

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// MountForbidsPrograms finds a container that ends because a program lies on a volume that is
// mounted with noexec.
var MountForbidsPrograms = &diagnosis.Rule{
	Name: "mount-forbids-programs", Layer: diagnosis.Mount, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Starting},
	Asks:   diagnosis.EachPod,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		return evidence.Each(pods.NotExecutedIn(pl), func(n pods.NotExecuted) *diagnosis.Proof {
			p := &diagnosis.Proof{
				Subject: diagnosis.PodSubject(pl.Pod), State: []evidence.Answer{n.Is}, AtMost: report.Likely, // where the program lies nobody says
				With: words.Fields{"pod": pods.Name(pl.Pod), "container": n.Container, "volume": volume.Name(n.Volume), "point": n.Point, "node": pl.Node},
				Steps: []remedy.Step{
					remedy.Words("See whether noexec stands in spec.mountOptions of the PersistentVolume or in mountOptions of its class. A volume keeps the options that it was made with: correct both, and let the pod end so that the volume is mounted anew. Where neither has it, somebody mounted it so on the node."),
					remedy.Words("Or carry the program in the image, or copy it to an emptyDir, and keep data alone on the volume."),
				},
			}
			p.Volume(n.Volume)
			return p
		})
	},
}
