package filesystem

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/security"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// SELinuxLabelConflict finds pods of one volume that want different SELinux labels.
var SELinuxLabelConflict = &diagnosis.Rule{
	Name: "selinux-label-conflict", Layer: diagnosis.Filesystem, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Publishing, diagnosis.Starting, diagnosis.Using},
	Asks:   diagnosis.EachVolume,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if c, said := security.LabelsSaid(pl); said.Yes() {
			p := labelConflict(pl, c)
			p.Says, p.State = "said", []evidence.Answer{said}
			p.With["words"] = said.Facts()[0].Text
			return []*diagnosis.Proof{p}
		}
		if c, wants, differ := security.ContextsDiffer(pl); differ.Yes() {
			p := labelConflict(pl, c)
			p.Says, p.State, p.With["wants"], p.With["node"] = "context", []evidence.Answer{differ}, wants, c.Node()
			return []*diagnosis.Proof{p}
		}
		clash, ok := security.ClashOf(pl)
		if !ok {
			return []*diagnosis.Proof{diagnosis.Unread(security.Looked(pl))}
		}
		p := labelConflict(pl, clash.Refused.Consumer)
		p.Says, p.State, p.Last = "levels", []evidence.Answer{clash.Differ(), clash.Denied}, []evidence.Answer{clash.Enforced}
		p.LookAlikes = []diagnosis.LookAlike{{Cause: "a mount with one label for all files", Is: clash.OneLabel}}
		var levels []string
		for _, l := range clash.All {
			levels = append(levels, l.Pod.Namespace+"/"+l.Pod.Name+" on node "+l.Node()+" with level "+l.Level)
			p.Pod(l.Pod)
			p.At(l.Node())
		}
		p.With["levels"], p.With["last"] = words.List(levels, 0), clash.Last.Pod.Namespace+"/"+clash.Last.Pod.Name
		return []*diagnosis.Proof{p}
	},
}

func labelConflict(pl *evidence.Place, c *snapshot.Consumer) *diagnosis.Proof {
	p := &diagnosis.Proof{
		Subject: diagnosis.PodSubject(c.Pod),
		With:    words.Fields{"pod": c.Pod.Namespace + "/" + c.Pod.Name, "volume": volume.Name(pl.Volume)},
		Steps:   []remedy.Step{remedy.Words("Give all pods of the claim the same level: securityContext.seLinuxOptions.level in their templates, or the namespace's range. Where the volume shall be labelled file by file again, seLinuxChangePolicy: Recursive (Kubernetes 1.33 and later). Privileged containers are no answer.")},
	}
	p.Pod(c.Pod)
	p.At(c.Node())
	return p
}
