package transport

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nfs"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// NFSVersionUnsupported finds mounts that ask for a version of NFS that the client's
// kernel or configuration does not do.
var NFSVersionUnsupported = &diagnosis.Rule{
	Name: "nfs-version-unsupported", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing},
	Asks:   diagnosis.EachPlace,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		r, ok := nfs.VersionOf(pl)
		if !ok {
			return nil
		}
		release, fact := node.Kernel(pl.X, pl.Node)
		_, ofKernel := r.OfKernel()
		missing, indicated := r.Missing(), r.Indicated()
		p := &diagnosis.Proof{
			Subject: diagnosis.NodeSubject(pl.Node),
			With: words.Fields{"node": pl.Node, "kernel": release, "source": r.Source(), "pod": r.Pod, "want": "the NFS version that is asked for",
				"lacks": "", "default": r.Default, "works": words.List(nfs.WorksOn(pl), 0)},
			State: []evidence.Answer{r.Is.With(fact)},
			Last:  []evidence.Answer{missing},
			LookAlikes: []diagnosis.LookAlike{
				{Cause: "nfs-kernel-incompatible", Is: ofKernel},
				{Cause: "an option that the client does not know", Is: r.Option()},
			},
			Steps: []remedy.Step{remedy.Words("Give node " + pl.Node + " a kernel (or its module package) with " + strings.TrimSpace("NFS "+r.Want) + " in the client, and take Defaultvers or Nfsvers out of nfsmount.conf where they say otherwise.")},
		}
		if r.Want != "" {
			p.With["want"] = "NFS " + r.Want
		}
		if r.Lack.Yes() {
			p.With["lacks"] = nfs.Switch(r.Want)
		}
		if indicated.Yes() {
			p.State = append(p.State, indicated)
		} else if !missing.Yes() {
			p.AtMost = report.Possible
		}
		other := "Or mount with a version that both sides do (mount option vers= of the class, or of a new PersistentVolume)."
		if pl.Volume.IsLonghorn() {
			other = "Or, from Longhorn 1.11 on, use nfsOptions with vers=4.0 in a new StorageClass; until then keep the pod on nodes whose kernel does it."
		}
		p.Steps = append(p.Steps, remedy.Words(other))
		p.Users(pl.Volume.WaitingOn(pl.Node)...)
		return []*diagnosis.Proof{p}
	},
}
