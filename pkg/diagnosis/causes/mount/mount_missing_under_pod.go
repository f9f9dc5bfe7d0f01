package mount

import (
	"strconv"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/mounts"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// MountMissingUnderPod finds pods that use the node's own disk instead of their
// volume.
var MountMissingUnderPod = &diagnosis.Rule{
	Name: "mount-missing-under-pod", Layer: diagnosis.Mount, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Using, diagnosis.Unmounting},
	LeadsTo:  []string{"filesystem-full"},
	YieldsTo: []string{"kubelet-root-dir-wrong", "local-disk-not-mounted"},
	Offers:   []string{"delete-pod"},
	Asks:     diagnosis.EachPlace,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Volume.Block() || !mounts.Binds(pl.Volume) {
			return nil
		}
		if pl.View == nil {
			return diagnosis.Open(pl)
		}
		whole := pl.Tables(probes.Mounts)
		out := []*diagnosis.Proof{diagnosis.Rest(whole)}
		for _, m := range mounts.MissingOf(pl) {
			p := &diagnosis.Proof{
				Subject: diagnosis.PodSubject(m.Pod), Says: "runs",
				With:       words.Fields{"pod": pods.Name(m.Pod), "node": pl.Node, "volume": volume.Name(pl.Volume), "at": m.At(), "directory": m.Directory(), "disk": m.Disk(), "files": lie(len(m.Files)), "plugin": "", "in": m.In()},
				State:      []evidence.Answer{m.Is()},
				Last:       []evidence.Answer{pl.Consumers().And(evidence.Resource(pl.X, "/persistentvolumes")).Nothing(), whole.Nothing()},
				LookAlikes: []diagnosis.LookAlike{{Cause: "a pod that has its volume all the same", Is: m.Elsewhere()}},
				Steps:      []remedy.Step{remedy.Words("Stop the writers of pod " + pods.Name(m.Pod) + " and copy what lies in " + m.Written() + " to a safe place: it exists nowhere else. Remove nothing there before both is known: that it is no mount, and that the data is saved.")},
			}
			p.Pod(m.Pod)
			own, read := m.Plugin()
			if read && !m.Ended {
				p.With["plugin"], p.State = own.Words(), append(p.State, own.Is())
			}
			if len(m.Files) == 0 {
				p.Last = append(p.Last, m.Storage())
			}
			switch {
			case m.Covered():
				p.Says = "covered"
				p.With["over"], p.With["cover"] = m.Over()
			case m.Beneath():
				p.Says = "beneath"
			case m.Bound():
				p.Says = "bound"
			case m.Ended:
				p.Says = "ended"
			}
			p.Steps = append(p.Steps, remedy.FilesSaved(pl, m, p.With["cover"], own, read)...)
			out = append(out, p)
		}
		return out
	},
}

// lie is how many files are there, with the verb.
func lie(n int) string {
	if n == 1 {
		return "lies 1 file"
	}
	return "lie " + strconv.Itoa(n) + " files"
}
