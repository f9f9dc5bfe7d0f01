package filesystem

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/files"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// SELinuxRelabelSlow finds pods that wait while the container runtime labels every file
// of a large volume.
var SELinuxRelabelSlow = &diagnosis.Rule{
	Name: "selinux-relabel-slow", Layer: diagnosis.Filesystem, Severity: report.Degraded,
	Breaks: []diagnosis.Step{diagnosis.Starting},
	Asks:   diagnosis.EachPod,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		var out []*diagnosis.Proof
		for _, t := range files.TreesOf(pl) {
			p := &diagnosis.Proof{
				Subject: diagnosis.PodSubject(pl.Pod), Says: "seen", Waiting: true,
				With:  words.Fields{"pod": pl.Pod.Namespace + "/" + pl.Pod.Name, "node": pl.Node, "volume": t.Volume(), "point": t.Point(), "files": t.Files()},
				State: []evidence.Answer{t.Labelled(), t.OneByOne(), t.SELinux(), evidence.Any(t.TakesLong(), t.Labelling(), t.Many())},
				Last:  []evidence.Answer{evidence.Any(t.Labelling(), t.TakesLong(), t.BeingMade()), t.Many()},
				Steps: []remedy.Step{
					remedy.Words("Wait: the walk ends by itself. Starting the pod again begins it anew."),
					remedy.Words("Later: one seLinuxOptions.level for all pods of the claim, and labelling at mount time: the driver's seLinuxMount with access mode ReadWriteOncePod (on since Kubernetes 1.28; other modes with SELinuxMount)" + t.LabelsAtMount() + ". Or type spc_t for this pod, which leaves the labels alone. Keep SELinux on."),
				},
			}
			if pl.View == nil {
				system := t.SELinuxSystem()
				p.Says, p.Hint = "unseen", t.NameTaken()
				p.State, p.Last = []evidence.Answer{t.Labelled(), t.NameTaken(), system}, []evidence.Answer{t.OneByOne()}
			}
			p.Volume(t.Of())
			out = append(out, p)
		}
		return out
	},
}
