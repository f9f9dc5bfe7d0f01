package transport

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nfs"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// NFSStatdMissing finds NFSv3 mounts that fail because nobody on the client watches
// over its locks.
var NFSStatdMissing = &diagnosis.Rule{
	Name: "nfs-statd-missing", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing},
	Asks:   diagnosis.EachPlace,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		r, ok := nfs.LocksOf(pl)
		if !ok {
			return nil
		}
		at, none := nfs.NoStatd(pl)
		p := &diagnosis.Proof{
			Subject: diagnosis.NodeSubject(pl.Node),
			With:    words.Fields{"node": pl.Node, "source": r.Source(), "pod": r.Pod, "script": r.Script, "at": at, "works": words.List(nfs.WorksOn(pl), 0)},
			State:   []evidence.Answer{r.Is},
			Last:    []evidence.Answer{none, r.Tied},
			Steps: []remedy.Step{
				remedy.StartStatd(pl.X, pl.Node),
				remedy.Words("Or mount with NFSv4 (mount option vers=4), which needs no rpc.statd. The option nolock is a way out only for data with a single writer."),
			},
		}
		if r.Plain && pl.View == nil { // mount.nfs asked itself
			p.Last = nil
		} else if r.Plain {
			p.Last = []evidence.Answer{none}
		}
		p.Users(pl.Volume.WaitingOn(pl.Node)...)
		return []*diagnosis.Proof{p}
	},
}
