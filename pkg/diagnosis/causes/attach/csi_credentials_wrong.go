package attach

import (
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/ceph"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// CSICredentialsWrong finds the identity of a driver that its storage turns down: a Secret
// that is missing or wrong, or an account that may not do what the step needs. Secrets are
// never read: only words tell.
var CSICredentialsWrong = &diagnosis.Rule{
	Name: "csi-credentials-wrong", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Provisioning, diagnosis.Attaching, diagnosis.Detaching, diagnosis.Resizing, diagnosis.Modifying, diagnosis.Staging, diagnosis.Publishing},
	LeadsTo:  []string{"provisioning-failed", "expansion-refused-by-backend"},
	YieldsTo: []string{"backend-throttled", "smb-access-denied", "ceph-client-fenced", "rbd-lock-or-watcher-stale", "driver-configuration-wrong"},
	Asks:     diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		what, malformed := csi.Malformed(pl)
		for _, t := range pl.Refused() {
			if ns, name, known, ok := csi.AbsentSecret(t); ok {
				p := credentials(pl, csi.Identity{Kind: "Secret", Namespace: ns, Name: name}, csi.CallOf(t), "missing", "", evidence.Yes(t.Evidence()))
				if !known {
					p.Says, p.Last = "closed", []evidence.Answer{evidence.Unseen(evidence.Lack{Need: "whether the secret exists", Why: "nobody says why it was not read"})}
				}
				return []*diagnosis.Proof{p}
			}
			if call := csi.CallOf(t); call != "" && malformed.Yes() {
				return []*diagnosis.Proof{credentials(pl, csi.IdentityFor(pl, call, t.Node), call, "malformed", what, evidence.Yes(t.Evidence()), malformed)}
			}
			if r, ok := csi.RefusalIn(pl, t); ok {
				return []*diagnosis.Proof{refusedIdentity(pl, r)}
			}
		}
		line, said, sure := ceph.Rejected(pl)
		if said.No() {
			return nil
		}
		p := credentials(pl, csi.IdentityFor(pl, csi.Stage, ""), csi.Stage, "turned", line, said)
		p.Last = []evidence.Answer{sure}
		return []*diagnosis.Proof{p}
	},
}

// refusedIdentity is the proof of a refusal: sure when the storage names what it refuses or
// to whom.
func refusedIdentity(pl *evidence.Place, r csi.Refusal) *diagnosis.Proof {
	who, said := csi.IdentityFor(pl, r.Call, r.Text.Node), evidence.Yes(r.Text.Evidence())
	p := credentials(pl, who, r.Call, "refused", r.Named, said)
	p.LookAlikes = []diagnosis.LookAlike{{Cause: "a refusal that is over: the same driver attached another volume since", Is: csi.WorkedSince(pl, r)}}
	if r.None {
		p.Says = "none"
	}
	if r.Named == "" {
		p.Last = []evidence.Answer{evidence.Unseen(evidence.Lack{Need: "the rights and the content of the driver's credentials", Why: "the refusal names neither action nor user"})}
	}
	return p
}

// afterwards says when a changed account counts.
func afterwards(who csi.Identity) string {
	if who.Pod == "" {
		return "The driver is given a new token of the pod's own account for each mount: nothing has to be restarted. The next attempt comes within two minutes."
	}
	return "After the change restart the pod that makes the call (" + who.Pod + "): its token may be cached. The next attempt comes within five minutes."
}

// stepOf is what a call breaks.
var stepOf = map[csi.Call][]diagnosis.Step{csi.Provision: {diagnosis.Provisioning}, csi.Attach: {diagnosis.Attaching}, csi.Detach: {diagnosis.Detaching},
	csi.Expand: {diagnosis.Resizing}, csi.Modify: {diagnosis.Modifying}, csi.Stage: {diagnosis.Staging, diagnosis.Publishing}}

func credentials(pl *evidence.Place, who csi.Identity, call csi.Call, says, what string, state ...evidence.Answer) *diagnosis.Proof {
	ns, claim := pl.Volume.ClaimRef()
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject(who.Kind, who.Namespace, who.Name), Says: says, State: state, Breaks: stepOf[call],
		With: words.Fields{"driver": pl.Volume.Driver, "volume": "volume " + pl.Volume.PVName(), "what": what, "call": string(call), "pod": who.Pod,
			"who": fmt.Sprintf("%s %s/%s", who.Kind, who.Namespace, who.Name)},
	}
	if call == csi.Expand || call == csi.Modify { // the volume goes on as it is
		p.Severity = report.Degraded
	}
	switch {
	case pl.Volume.Inline:
		p.With["volume"] = "a volume that the pod itself names"
	case pl.Volume.PVName() == "":
		p.With["volume"] = "the volume of claim " + ns + "/" + claim
	}
	switch who.Kind {
	case "Secret":
		p.Steps = []remedy.Step{
			remedy.Words(fmt.Sprintf("Make Secret %s/%s anew with stringData: the plain values, without a line break at the end, without the prefix client., and not encoded by hand (the API server does that). Check that the user exists in the storage and has the documented rights for this step; provisioner and node may need different users. The next attempt succeeds by itself.", who.Namespace, who.Name)),
		}
	case "ServiceAccount":
		p.Steps = []remedy.Step{
			remedy.Check(fmt.Sprintf("Add what is refused to the role that ServiceAccount %s/%s uses in the storage or the cloud. Its annotations name that role; without one the node's own role or a mounted Secret counts.", who.Namespace, who.Name),
				remedy.Kubectl("-n", who.Namespace, "get", "serviceaccount", who.Name, "-o", "jsonpath={.metadata.annotations}")),
			remedy.Words(afterwards(who)),
		}
	default:
		p.Subject = diagnosis.ObjectSubject("PersistentVolume", "", pl.Volume.PVName())
		if pl.Volume.PVName() == "" {
			p.Subject = diagnosis.ObjectSubject("PersistentVolumeClaim", ns, claim)
		}
		p.With["who"] = "an identity that was not found in the cluster"
		p.Steps = []remedy.Step{remedy.Words("Find out with which account the driver calls its storage for this step, and give that account the right.")}
	}
	p.Steps = append(p.Steps, remedy.Words("Do not paste a secret's content into tickets or reports."))
	if who.Fact.Locator != "" {
		p.State = append(p.State, evidence.Yes(who.Fact))
	}
	for _, w := range pl.Volume.Waiting() {
		p.Keys.Pod(w.Pod)
		p.At(w.Node())
	}
	return p
}
