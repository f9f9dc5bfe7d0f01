package iscsi

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// The words of iscsiadm for a login that the target answered with no (usr/iscsi_err.c:
// 19 ISCSI_ERR_FATAL_LOGIN, 24 ISCSI_ERR_LOGIN_AUTH_FAILED, 5 ISCSI_ERR_LOGIN), and of iscsid.
var (
	refusedFatal = pattern.MustCompile(`(?i)initiator reported error \((?:19|24)\b|non-retryable iSCSI login failure|login failed due to authorization failure|iscsi(?:adm|:|[ _-]?login)(?s:.*)exit status (?:19|24)\b`)
	refusedAny   = pattern.MustCompile(`(?i)initiator reported error \(5\b|conn \d+ login rejected|iscsi(?:adm|:|[ _-]?login)(?s:.*)exit status 5\b`)
	refusedAuth  = pattern.MustCompile(`(?i)\(24\b|exit status 24\b|authori[sz]ation|authentication|CHAP`)
	refusedPlace = pattern.MustCompile(`target: ([^\s,\]]+), portal: ([^\s\]]+?),\d+`)
)

// Refusal is a target's fresh no to the login of a node.
type Refusal struct {
	Target, Portal string          // the portal's address, without its port
	Fatal          bool            // a no for good
	Auth           bool            // of who asks
	Is             evidence.Answer // with the text
}

// RefusalOf is the newest one that is about the volume's own target.
func RefusalOf(pl *evidence.Place) (Refusal, bool) {
	target, portal := endpoint(pl)
	for _, t := range pl.Texts {
		fatal := refusedFatal.MatchString(t.Raw)
		if !t.Fresh || !fatal && !refusedAny.MatchString(t.Raw) || t.Node != "" && t.Node != pl.Node {
			continue
		}
		r := Refusal{target, portal, fatal, refusedAuth.MatchString(t.Raw), evidence.Yes(t.Evidence())}
		if m := refusedPlace.FindStringSubmatch(t.Raw); m != nil {
			if target != "" && m[1] != target {
				continue // another target of a discovery
			}
			r.Target, r.Portal = m[1], m[2]
		}
		if r.Target != "" || fatal && t.Op != "" { // a driver that keeps the name to itself says it of the volume's own
			return r, true
		}
	}
	return Refusal{}, false
}

// endpoint is the target and the portal's address that the volume names.
func endpoint(pl *evidence.Place) (target, portal string) {
	if pl.Volume.IsLonghorn() {
		return snapshot.LonghornTarget(pl.Volume.Handle), ""
	}
	if targets, _ := pl.Volume.ISCSITargets(pl.Node); len(targets) > 0 {
		target = targets[0]
	}
	for _, p := range Portals(pl) {
		if p.Named {
			return target, p.Addr.Addr().String()
		}
	}
	return target, ""
}

// LoggedIn asks whether the target has a session now: a retry worked.
func (r Refusal) LoggedIn(pl *evidence.Place) evidence.Answer {
	whole := pl.Tables(probes.Sessions)
	if r.Target == "" {
		return evidence.Unseen(evidence.Lack{Need: "the name of the volume's target", Node: pl.Node, Why: "nobody says it"})
	}
	if pl.View == nil {
		return evidence.Not(whole.Nothing())
	}
	for _, s := range pl.View.SessionsOf(r.Target) {
		if s.State == "LOGGED_IN" {
			return evidence.Yes(evidence.FromNode(pl.Node, "sys/class/iscsi_session/"+s.Name+"/state", s.State))
		}
	}
	return evidence.Not(whole.Nothing(evidence.FromNode(pl.Node, "sys/class/iscsi_session", "no session of "+r.Target+" that is logged in")))
}

// Neighbour asks whether another target of the same portal is logged in from the node:
// then network, daemon and initiator are well, and it is this target that refuses.
func (r Refusal) Neighbour(pl *evidence.Place) (words string, a evidence.Answer) {
	lack := evidence.Unseen(evidence.Lack{Need: "another target of the portal that is logged in from node " + pl.Node, Node: pl.Node, Why: "there is none"})
	if pl.View == nil || r.Portal == "" {
		return "", lack
	}
	for i := range pl.View.Facts.ISCSI.Sessions {
		s := &pl.View.Facts.ISCSI.Sessions[i]
		through := slices.ContainsFunc(s.Connections, func(c probes.ISCSIConnection) bool { return c.PersistentAddress == r.Portal || c.Address == r.Portal })
		if s.Target != r.Target && s.State == "LOGGED_IN" && through {
			return s.Name + " of target " + s.Target, evidence.Yes(evidence.FromNode(pl.Node, "sys/class/iscsi_session/"+s.Name+"/targetname", s.Target+" ("+s.State+")"))
		}
	}
	return "", lack
}

// Silent asks whether a connection from the node to the refusing portal fails now.
func (r Refusal) Silent(pl *evidence.Place) evidence.Answer {
	if pl.View == nil || r.Portal == "" {
		return evidence.No()
	}
	at := net.JoinHostPort(strings.Trim(r.Portal, "[]"), "3260")
	if a, err := netip.ParseAddrPort(at); err == nil {
		at = a.String()
	}
	said, asked := pl.View.Facts.Dials[at]
	return evidence.When(asked && !strings.HasPrefix(said, "ok"), evidence.FromNode(pl.Node, "@dial/"+at, said))
}
