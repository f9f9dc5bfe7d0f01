package attach

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/attacher"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// AttacherNotWorking finds drivers whose external-attacher does not act, or may not
// write down what it did.
var AttacherNotWorking = &diagnosis.Rule{
	Name: "attacher-not-working", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Attaching, diagnosis.Detaching},
	YieldsTo: []string{"driver-not-installed"},
	Asks:     diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		a, ok := attacher.Of(pl)
		if !ok {
			return []*diagnosis.Proof{diagnosis.Rest(holder.Open(pl, "storage.k8s.io/volumeattachments"))}
		}
		p := &diagnosis.Proof{With: words.Fields{"driver": a.Driver, "pod": "", "state": "", "account": "", "verb": "", "resource": "", "workload": "", "wants": "", "why": "", "va": "", "age": ""},
			State: []evidence.Answer{a.Nothing()}, Last: []evidence.Answer{a.Whole()}}
		if a.Leader != nil {
			p.Subject, p.With["pod"], p.With["state"] = diagnosis.PodSubject(a.Leader), pods.Name(a.Leader), attacher.Waits(a.Leader)
			p.Pod(a.Leader)
		}
		attacherBranch(pl, a, p)
		p.Pods(holder.Waiters(pl.Volume)...)
		p.Attachment(a.Silent...)
		p.Steps = append(p.Steps, remedy.Words("Do not edit the status or the finalizers of VolumeAttachments by hand: the attacher must undo what it did in the backend."))
		return []*diagnosis.Proof{p}
	},
}

// attacherBranch finds what the attacher lacks: its right, its pod, its leader, itself.
func attacherBranch(pl *evidence.Place, a attacher.Attacher, p *diagnosis.Proof) {
	way, refused, forbidden := a.Forbidden()
	lacks, nowhere := a.LacksVerb(), a.Nowhere()
	why, down := a.Down()
	w, wants, unmade, empty := a.Empty()
	mute, muteIs := a.Mute()
	does := func(says string, step remedy.Step, state ...evidence.Answer) {
		p.Says, p.State, p.Steps = says, append(state, p.State...), append(p.Steps, step) // what tells the branch is read first
	}
	step := func(says, words string, state ...evidence.Answer) { does(says, remedy.Words(words), state...) }
	switch {
	case forbidden.Yes():
		p.With["account"], p.With["verb"], p.With["resource"] = refused.User(), refused.Verb, refused.Resource
		does(way, remedy.Check("See whether it may by now; if not, let "+refused.Role()+" grant "+refused.User()+" the verb "+refused.Verb+" on "+refused.Resource+", as the driver's current manifest does. The next attempt then succeeds.", remedy.Kubectl(refused.CanI()...)), forbidden)
	case lacks.Yes():
		p.With["account"] = "system:serviceaccount:" + a.Leader.Namespace + ":" + a.Leader.Spec.ServiceAccountName
		step("roles", "Grant patch on volumeattachments/status to the ClusterRole of "+p.With["account"]+", as the driver's current manifest does.", lacks)
	case down.Yes():
		p.With["why"], p.Last = why, append(p.Last, a.Known())
		p.LookAlikes = []diagnosis.LookAlike{{Cause: "longhorn-control-plane-down", Is: a.Together()}}
		step("down", "Repair the attacher: read the state and the last log of pod "+pods.Name(a.Leader)+". When a dead pod still holds the lease, removing that pod lets another one lead.", down)
	case !empty.No():
		p.Subject, p.With["workload"], p.With["wants"], p.Last = diagnosis.ObjectSubject(w.Kind, w.Namespace, w.Name), w.String(), words.Count(int(wants), "pod"), append(p.Last, a.Known())
		does(map[bool]string{true: "scaled", false: "empty"}[wants == 0], remedy.Staff(w, unmade), empty)
	case muteIs.Yes():
		p.AtMost = report.Likely
		if a.Log().Unseen() { // it may tell of a slow driver
			p.AtMost = report.Possible
		}
		p.With["va"], p.With["age"] = mute.Name, pods.Ago(pl.X, mute.CreationTimestamp.Time)
		p.Last = append(p.Last, a.Log(), evidence.Not(lacks))
		step(map[bool]string{true: "unlisted", false: "mute"}[a.Unlisted().Yes()], "Read the log of the csi-attacher container of pod "+pods.Name(a.Leader)+": a refusal (forbidden) wants a right, a resource that the server could not find a csi-attacher of a release for this Kubernetes (storage.k8s.io/v1 since 3.0), silence a restart of the pod.", muteIs)
	default:
		p.Subject, p.AtMost, p.Last = diagnosis.ObjectSubject("CSIDriver", "", a.Driver), report.Likely, append(p.Last, a.Outside())
		step("nowhere", "Install or start the controller of driver "+a.Driver+" with its csi-attacher, or, if the driver needs no attachments, install its CSIDriver object with attachRequired false.", nowhere, a.Known())
	}
}
