package transport

import (
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/iscsi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// ISCSILoginRejected finds targets that refuse the login of a node which their portal
// serves otherwise.
var ISCSILoginRejected = &diagnosis.Rule{
	Name: "iscsi-login-rejected", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Attaching, diagnosis.Staging},
	YieldsTo: []string{"iscsi-portal-unreachable"},
	Asks:     diagnosis.EachPlace,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		r, refused := iscsi.RefusalOf(pl)
		if !refused {
			return nil
		}
		other, neighbour := r.Neighbour(pl)
		taken, holders := r.TakenBy(pl)
		p := &diagnosis.Proof{
			Subject: diagnosis.ObjectSubject("PersistentVolume", "", pl.Volume.PVName()),
			With:    words.Fields{"target": r.Target, "portal": r.Portal, "node": pl.Node, "volume": pl.Volume.Spoken(), "other": other, "taken": strings.Join(holders, ""), "length": tooLong(r.Target)},
			State:   []evidence.Answer{iscsi.Wanted(pl), r.Is.With(taken.Facts()...)},
			Last:    []evidence.Answer{evidence.Not(r.LoggedIn(pl)), neighbour},
			LookAlikes: []diagnosis.LookAlike{
				{Cause: "iscsi-initiator-name-invalid", Is: evidence.Any(iscsi.Nameless(pl), iscsi.Renamed(pl))},
				{Cause: "iscsi-portal-unreachable", Is: r.Silent(pl)},
			},
			Steps: loginSteps(r),
			From:  holders,
		}
		if !r.Fatal {
			p.AtMost = report.Likely
		}
		p.Users(pl.Volume.WaitingOn(pl.Node)...)
		return []*diagnosis.Proof{p}
	},
}

// longestName is what some targets allow for the part after the colon
// (democratic-csi/democratic-csi#269); the protocol allows 223 bytes (RFC 7143, 4.2.7.1).
const longestName = 64

func tooLong(target string) string {
	if _, name, _ := strings.Cut(target, ":"); len(name) > longestName {
		return strconv.Itoa(len(name))
	}
	return ""
}

func loginSteps(r iscsi.Refusal) []remedy.Step {
	first := "Look into the storage's log for the refused login, and see there that the target exists, is enabled, and has its extent or LUN. Where its configuration and its running state differ, let it load the configuration again; a restart of its service interrupts every volume."
	if tooLong(r.Target) != "" {
		first = "Shorten the driver's name prefix and suffix, so that the target's name stays below 64 characters; volumes with a longer name need a new target on the storage."
	}
	out := []remedy.Step{remedy.Words(first)}
	if r.Auth {
		out = append(out, remedy.Words("Compare the CHAP user and secret, and the initiators that the target allows, with what the driver and /etc/iscsi/initiatorname.iscsi of the node give."))
	}
	return append(out, remedy.Words("The kubelet tries again by itself; nothing on the node needs to be restarted, and the sessions of other volumes must stay."))
}
