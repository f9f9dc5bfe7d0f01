package transport

import (
	_ "embed"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed iscsi_login_rejected.md
var iscsiLoginRejectedDoc string

// ISCSILoginRejected finds targets that refuse the login of a node which their portal
// serves otherwise.
var ISCSILoginRejected = &diagnosis.Rule{
	Name: "iscsi-login-rejected", Layer: diagnosis.Transport, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("iscsi")},
	Explains: []string{"mount-failed", "attach-failed", "pod-waiting-for-volume"},
	YieldsTo: []string{"iscsi-portal-unreachable"},
	Doc:      iscsiLoginRejectedDoc,
	Run: func(p *diagnosis.Pass) {
		for _, n := range iscsiNeeds(p) {
			for _, v := range n.volumes {
				loginRejected(p, n, v)
			}
		}
	},
}

// The words of iscsiadm for a login that the target answered with no (usr/iscsi_err.c:
// 19 ISCSI_ERR_FATAL_LOGIN, 24 ISCSI_ERR_LOGIN_AUTH_FAILED, 5 ISCSI_ERR_LOGIN), and of iscsid.
var (
	rejectedFatal = regexp.MustCompile(`(?i)initiator reported error \((?:19|24)\b|non-retryable iSCSI login failure|login failed due to authorization failure|iscsiadm(?s:.*)exit status (?:19|24)\b`)
	rejectedAny   = regexp.MustCompile(`(?i)initiator reported error \(5\b|conn \d+ login rejected|iscsiadm(?s:.*)exit status 5\b`)
	rejectedAuth  = regexp.MustCompile(`(?i)\(24\b|exit status 24\b|authori[sz]ation|authentication|CHAP`)
	rejectedPlace = regexp.MustCompile(`target: ([^\s,\]]+), portal: ([^\s\]]+?),\d+`)
)

// rejection is a fresh refusal of one target.
type rejection struct {
	text   diagnosis.Text
	target string
	portal string // address without the port
	fatal  bool
}

// rejectionOf is the newest refusal on a node that is about the volume's own target.
func rejectionOf(p *diagnosis.Pass, v *snapshot.Volume, node string) (rejection, bool) {
	target, portal := targetOf(v)
	for _, t := range p.Texts(v) {
		fatal := rejectedFatal.MatchString(t.Raw)
		if !t.Fresh || !fatal && !rejectedAny.MatchString(t.Raw) || t.Node != "" && t.Node != node {
			continue
		}
		r := rejection{text: t, target: target, portal: portal, fatal: fatal}
		if m := rejectedPlace.FindStringSubmatch(t.Raw); m != nil {
			if target != "" && m[1] != target {
				continue // another target of a discovery
			}
			r.target, r.portal = m[1], m[2]
		}
		if r.target != "" {
			return r, true
		}
	}
	return rejection{}, false
}

// targetOf is the target and the portal's address that the PV names.
func targetOf(v *snapshot.Volume) (target, portal string) {
	if v.IsLonghorn() {
		return snapshot.LonghornTarget(v.Handle), ""
	}
	if v.PV == nil {
		return "", ""
	}
	if s := v.PV.Spec.ISCSI; s != nil {
		return s.IQN, hostOf(s.TargetPortal)
	}
	if c := v.PV.Spec.CSI; c != nil {
		for _, key := range sortedKeys(c.VolumeAttributes) {
			if a := c.VolumeAttributes[key]; anyIQN.FindString(a) == a && a != "" && !ownName.MatchString(strings.TrimPrefix(key, "iqn")) {
				target = a
			}
			if strings.Contains(strings.ToLower(key), "portal") && portal == "" {
				portal = hostOf(strings.Split(c.VolumeAttributes[key], ",")[0])
			}
		}
	}
	return target, portal
}

func hostOf(portal string) string {
	if h, _, err := net.SplitHostPort(portal); err == nil {
		return h
	}
	return strings.Trim(portal, "[]")
}

func loginRejected(p *diagnosis.Pass, n need, v *snapshot.Volume) {
	r, ok := rejectionOf(p, v, n.node)
	if !ok {
		return
	}
	f := p.Find(report.Likely, diagnosis.ObjectSubject("PersistentVolume", "", v.PVName())).On(v).Located(n.node).Fact(r.text.Evidence())
	for _, c := range v.WaitingOn(n.node) {
		f.Pod(c.Pod)
	}
	others := ""
	if view, seen := p.Probed(n.node); seen {
		d := dialOf(view, "3260", r.portal)
		if loggedIn(view, r.target) || nameDefect(view) != "" || d.failed() || otherName(p, n, view) {
			return // over by now, or the fault of something that another cause names
		}
		if s := neighbour(view, r); s != nil {
			f.Certainty = report.Likely
			if r.fatal {
				f.Certainty = report.Certain
			}
			others = fmt.Sprintf(" The same portal serves the node otherwise: %s of target %s is logged in.", s.Name, s.Target)
			f.Fact(diagnosis.FromNode(n.node, "sys/class/iscsi_session/"+s.Name+"/targetname", s.Target+" ("+s.State+")"))
		} else {
			f.Missing("another target of the portal that is logged in from node " + n.node)
		}
		f.Fact(diagnosis.FromNode(n.node, "sys/class/iscsi_session", "no session of "+r.target+" that is logged in"))
		if d.asked() {
			f.Fact(d.evidence(n.node))
		}
	} else {
		f.Missing("the iSCSI sessions of node " + n.node)
	}
	at := ""
	if r.portal != "" {
		at = " at portal " + r.portal
	}
	f.Sayf("The iSCSI target %s%s refuses the login of node %s for volume %s: the answer came, and it is no.%s What the target holds against it stands in the storage's own log.%s", r.target, at, n.node, volumeName(v), others, nameLength(r.target))
	f.Unless("a session of this target on the node, or the same answer from every target of the portal")
	f.Advise(loginAdvice(r)...)
	p.Report(f)
}

// loggedIn tells whether the target has a session now: the retry worked.
func loggedIn(view *snapshot.NodeView, target string) bool {
	return slices.ContainsFunc(view.SessionsOf(target), func(s *probes.ISCSISession) bool { return s.State == "LOGGED_IN" })
}

// neighbour is a session of another target of the portal that is logged in.
func neighbour(view *snapshot.NodeView, r rejection) *probes.ISCSISession {
	for i := range view.Facts.ISCSI.Sessions {
		s := &view.Facts.ISCSI.Sessions[i]
		if s.Target == r.target || s.State != "LOGGED_IN" {
			continue
		}
		for _, c := range s.Connections {
			if r.portal != "" && (c.PersistentAddress == r.portal || c.Address == r.portal) {
				return s
			}
		}
	}
	return nil
}

// otherName tells whether the storage knows the node by another initiator name.
func otherName(p *diagnosis.Pass, n need, view *snapshot.NodeView) bool {
	name, _, current := registeredName(p, n, view.Facts.ISCSI.InitiatorName)
	return name != "" && current
}

// longestName is what some targets allow for the part after the colon
// (democratic-csi/democratic-csi#269); the protocol allows 223 bytes (RFC 7143, 4.2.7.1).
const longestName = 64

func nameLength(target string) string {
	_, name, _ := strings.Cut(target, ":")
	if len(name) <= longestName {
		return ""
	}
	return fmt.Sprintf(" Its name has %d characters after the colon; some targets take no more than %d.", len(name), longestName)
}

func loginAdvice(r rejection) []report.Remedy {
	first := "Look into the storage's log for the refused login, and see there that the target exists, is enabled, and has its extent or LUN. Where its configuration and its running state differ, let it load the configuration again; a restart of its service interrupts every volume."
	if nameLength(r.target) != "" {
		first = "Shorten the driver's name prefix and suffix, so that the target's name stays below 64 characters; volumes with a longer name need a new target on the storage."
	}
	out := []report.Remedy{remedy.Words(first)}
	if rejectedAuth.MatchString(r.text.Raw) {
		out = append(out, remedy.Words("Compare the CHAP user and secret, and the initiators that the target allows, with what the driver and /etc/iscsi/initiatorname.iscsi of the node give."))
	}
	return append(out, remedy.Words("The kubelet tries again by itself; nothing on the node needs to be restarted, and the sessions of other volumes must stay."))
}
