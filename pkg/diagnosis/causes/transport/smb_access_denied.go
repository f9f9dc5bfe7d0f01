package transport

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/security"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/smb"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// SMBAccessDenied finds a share whose server refuses the user, or the user's right on it.
var SMBAccessDenied = &diagnosis.Rule{
	Name: "smb-access-denied", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing, diagnosis.Using, diagnosis.Provisioning},
	LeadsTo:  []string{"provisioning-failed"},
	YieldsTo: []string{"security-module-denies"},
	Asks:     diagnosis.EachPlace | diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		s, ok := smb.ShareOf(pl)
		if pl.Node == "" && pl.Volume.PV != nil {
			return nil // only a volume that does not exist yet has no node
		}
		refused := evidence.Any(s.Denied(), s.Shut(pl))
		if !ok || !refused.Yes() {
			return nil
		}
		logon, rights := s.LogonRefused(pl), s.RightsRefused(pl)
		p := &diagnosis.Proof{
			Says: "words", With: words.Fields{"node": pl.Node, "server": s.Server, "source": s.Source},
			State:      []evidence.Answer{refused},
			Last:       []evidence.Answer{logged(logon, rights)},
			LookAlikes: []diagnosis.LookAlike{{Cause: "security-module-denies", Is: security.OfMount(pl)}},
		}
		switch {
		case rights.Yes():
			p.Says, p.Subject = "rights", diagnosis.VolumeSubject(pl.Volume)
			p.Steps = []remedy.Step{remedy.Words("Give the user of the Secret rights on the share and on its directory, or name a user who has them. The logon works: making the Secret anew changes nothing.")}
		case logon.Yes() || s.Expired():
			p.Says, p.Subject, p.Steps = "logon", secretSubject(pl.Volume), secretSteps(pl.Volume)
		default:
			p.Subject, p.Steps = secretSubject(pl.Volume), secretSteps(pl.Volume)
		}
		return []*diagnosis.Proof{p}
	},
}

// logged is the kernel's word on the attempt. That it wrote something else of it leaves
// open what was refused.
func logged(list ...evidence.Answer) evidence.Answer {
	a := evidence.Any(list...)
	if a.No() {
		return evidence.Unseen(evidence.Lack{Need: "a STATUS line of the kernel about this attempt", Why: "there is none"})
	}
	return a
}

func secretSubject(v *snapshot.Volume) report.Subject {
	if ns, name, ok := smb.Secret(v); ok {
		return diagnosis.ObjectSubject("Secret", ns, name)
	}
	return diagnosis.VolumeSubject(v)
}

func secretSteps(v *snapshot.Volume) []remedy.Step {
	var out []remedy.Step
	if ns, name, ok := smb.Secret(v); ok {
		out = append(out, remedy.Check("See which keys the Secret has, without their values (username, password, and domain where one is used).",
			remedy.Kubectl("-n", ns, "get", "secret", name, "-o", `go-template={{range $k, $v := .data}}{{$k}} {{end}}`)))
	}
	return append(out, remedy.Words("Make the Secret anew from a file or in single quotes (a shell swallows $ and ! in double quotes), with the domain as a key of its own; unlock or renew the account; give the user rights on the share and its directory. The next try follows within two minutes. Do not use a guest account for data."))
}
