package smb

import (
	"net"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Answers asks whether a TCP connection from the place's node to the server comes up.
func (s Share) Answers(pl *evidence.Place) evidence.Answer {
	asked := "a dial of " + net.JoinHostPort(s.Server, s.Port)
	if pl.View == nil {
		return evidence.Unseen(pl.Probed().Lacks()...)
	}
	var failed []report.Evidence
	for _, a := range s.addresses(pl.View) {
		target := net.JoinHostPort(strings.Trim(a, "[]"), s.Port)
		answer, ok := pl.View.Facts.Dials[target]
		if !ok {
			continue
		}
		fact := evidence.FromNode(pl.Node, "@dial/"+target, answer)
		if strings.HasPrefix(answer, "ok") {
			return evidence.Yes(fact)
		}
		failed = append(failed, fact)
	}
	if len(failed) == 0 {
		return evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node + "/reach", Node: pl.Node, Why: asked + " was not asked"})
	}
	return evidence.No().With(failed...)
}

// Broken asks whether the mount of the share does not answer: no server behind it, or a
// call into it that hangs.
func (s Share) Broken(pl *evidence.Place) evidence.Answer { return s.statfs(pl, silent) }

// Shut asks whether the mount of the share refuses everything: the user's rights are gone.
func (s Share) Shut(pl *evidence.Place) evidence.Answer {
	return evidence.Any(s.statfs(pl, []string{"EACCES", "EKEYREJECTED", "EKEYEXPIRED", "EKEYREVOKED"}), s.NotTakenBack(pl))
}

// NotTakenBack asks whether the mount has no connection because the server does not log its user on any more:
// of a session that cannot be set up anew the kernel says that the host is down, whatever the reason
// (smb2_reconnect in fs/smb/client/smb2pdu.c). A port that does not answer now is what counts.
func (s Share) NotTakenBack(pl *evidence.Place) evidence.Answer {
	down := s.statfs(pl, []string{"EHOSTDOWN"})
	if !down.Yes() || s.Answers(pl).No() {
		return evidence.No()
	}
	if logon := s.LogonRefused(pl); logon.Yes() {
		return evidence.All(down, logon)
	}
	return evidence.No()
}

// silent is what statfs(2) answers of a share without a connection (fs/smb/client).
var silent = []string{"EHOSTDOWN", "EAGAIN", "hang", "ETIMEDOUT", "ENOTCONN", "EHOSTUNREACH", "ENETUNREACH", "ECONNABORTED"}

func (s Share) statfs(pl *evidence.Place, errs []string) evidence.Answer {
	if s.Mount == nil || pl.View == nil {
		return evidence.No()
	}
	asked := false
	for _, m := range pl.X.VolumeMounts(pl.Volume, pl.Node) {
		st, ok := pl.View.Statfs(m.Mount.Point)
		asked = asked || ok
		if ok && slices.Contains(errs, st.Err) {
			return evidence.Yes(evidence.FromNode(pl.Node, "@statfs"+m.Mount.Point, st.Err))
		}
	}
	if !asked {
		return evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node + "/contents", Node: pl.Node, Why: "statfs of " + s.Mount.Point + " was not asked"})
	}
	return evidence.No()
}
