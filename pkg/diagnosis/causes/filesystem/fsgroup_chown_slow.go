package filesystem

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/files"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// FSGroupChownSlow finds pods that wait while the kubelet changes the owner of every
// file of a large volume.
var FSGroupChownSlow = &diagnosis.Rule{
	Name: "fsgroup-chown-slow", Layer: diagnosis.Filesystem, Severity: report.Degraded,
	Breaks: []diagnosis.Step{diagnosis.Publishing},
	Asks:   diagnosis.EachPlace,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		var out []*diagnosis.Proof
		for _, c := range pl.Volume.WaitingOn(pl.Node) {
			t := files.TreeOf(pl, pl.Volume, c)
			p := &diagnosis.Proof{
				Subject: diagnosis.PodSubject(c.Pod), Says: "seen", Waiting: true,
				With:  words.Fields{"pod": c.Pod.Namespace + "/" + c.Pod.Name, "node": pl.Node, "volume": t.Volume(), "group": t.Group(), "files": t.Files(), "often": t.Often()},
				State: []evidence.Answer{t.OwnersChange(), t.Mounted(), evidence.Any(t.Saying(), t.Many(), t.Chowning())},
				Last:  []evidence.Answer{t.AtWork()},
				LookAlikes: []diagnosis.LookAlike{
					{Cause: "a mount that hangs", Is: t.Hanging()},
					{Cause: "a filesystem that is frozen", Is: t.Frozen()},
					{Cause: "a mount that was refused", Is: t.Refused()},
				},
				Steps: []remedy.Step{
					remedy.Words("Wait: the walk ends by itself. Starting the pod again would begin it anew."),
					remedy.Words(nextStart(t)),
				},
			}
			if pl.View == nil {
				p.Says, p.State, p.Last = "unseen", []evidence.Answer{t.OwnersChange(), evidence.Any(t.Saying(), t.OnlyTime())}, []evidence.Answer{t.Mounted()}
			}
			p.Pod(c.Pod)
			out = append(out, p)
		}
		return out
	},
}

func nextStart(t files.Tree) string {
	if t.Once() {
		return "The next start is quick when nothing (a restore, another pod with another fsGroup, the application itself) gives the top directory another group meanwhile."
	}
	return "For the next start set fsGroupChangePolicy: OnRootMismatch in the pod's template, or leave fsGroup out where the files have the right group already."
}
