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
		d, ok := csi.DenialOf(pl)
		if !ok {
			line, said, sure := ceph.Rejected(pl)
			if said.No() {
				return nil
			}
			d = csi.Turned(pl, line, said, sure)
		}
		return []*diagnosis.Proof{credentials(pl, d)}
	},
}

// stepOf is what a call breaks.
var stepOf = map[csi.Call][]diagnosis.Step{csi.Provision: {diagnosis.Provisioning}, csi.Attach: {diagnosis.Attaching}, csi.Detach: {diagnosis.Detaching},
	csi.Expand: {diagnosis.Resizing}, csi.Modify: {diagnosis.Modifying}, csi.Stage: {diagnosis.Staging, diagnosis.Publishing}}

func credentials(pl *evidence.Place, d csi.Denial) *diagnosis.Proof {
	ns, claim := pl.Volume.ClaimRef()
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject(d.Who.Kind, d.Who.Namespace, d.Who.Name), Says: d.Says, Breaks: stepOf[d.Call], State: d.Said, Last: d.Sure,
		LookAlikes: []diagnosis.LookAlike{{Cause: "a refusal that is over: the same driver attached another volume since", Is: d.Over}},
		With: words.Fields{"driver": pl.Volume.Driver, "volume": "volume " + pl.Volume.PVName(), "what": d.What, "call": string(d.Call), "pod": d.Who.Pod,
			"who": fmt.Sprintf("%s %s/%s", d.Who.Kind, d.Who.Namespace, d.Who.Name)},
		Steps: remedy.Credentials(d),
	}
	if d.Call == csi.Expand || d.Call == csi.Modify { // the volume goes on as it is
		p.Severity = report.Degraded
	}
	switch {
	case pl.Volume.Inline:
		p.With["volume"] = "a volume that the pod itself names"
	case pl.Volume.PVName() == "":
		p.With["volume"] = "the volume of claim " + ns + "/" + claim
	}
	if d.Who.Kind == "" {
		p.With["who"], p.Subject = "an identity that was not found in the cluster", diagnosis.ObjectSubject("PersistentVolume", "", pl.Volume.PVName())
		if pl.Volume.PVName() == "" {
			p.Subject = diagnosis.ObjectSubject("PersistentVolumeClaim", ns, claim)
		}
	}
	for _, w := range pl.Volume.Waiting() {
		p.Keys.Pod(w.Pod)
		p.At(w.Node())
	}
	return p
}
