// Package iscsi answers questions about external iSCSI targets and the sessions to them.
package iscsi

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/reach"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Portal is an address of a target of a volume.
type Portal struct {
	Addr   netip.AddrPort
	Named  bool            // by the volume itself: its PV or its attachment
	Blamed evidence.Answer // by what the component that logs in says, lately
}

// defaultPort is where targets listen (RFC 7143).
const defaultPort = 3260

// Portals are the addresses of a volume's targets that its PV and its attachment to the
// node name, by value, whatever the key, and those that a fresh failure names.
func Portals(pl *evidence.Place) []Portal {
	var out []Portal
	for _, a := range pl.Volume.ISCSIPortals(pl.Node) {
		out = add(out, Portal{Addr: a, Named: true})
	}
	for _, t := range loginFailures(pl) {
		for _, a := range snapshot.PortalsIn(t.Text) {
			for _, b := range meant(out, a, t.Text) {
				out = add(out, Portal{Addr: b, Blamed: evidence.Yes(t)})
			}
		}
	}
	slices.SortFunc(out, func(a, b Portal) int { return a.Addr.Compare(b.Addr) })
	return out
}

// meant are the portals of which a text speaks: iscsiadm names the address alone where it cannot
// connect, so that of the volume's own portals there is meant, whatever its port.
func meant(known []Portal, a netip.AddrPort, text string) []netip.AddrPort {
	var own []netip.AddrPort
	for _, p := range known {
		if p.Named && p.Addr.Addr() == a.Addr() {
			own = append(own, p.Addr)
		}
	}
	if len(own) == 0 || a.Port() != defaultPort || strings.Contains(text, fmt.Sprint(defaultPort)) {
		return []netip.AddrPort{a}
	}
	return own
}

func add(list []Portal, p Portal) []Portal {
	for i := range list {
		if list[i].Addr == p.Addr {
			list[i].Named = list[i].Named || p.Named
			if p.Blamed.Yes() {
				list[i].Blamed = p.Blamed
			}
			return list
		}
	}
	return append(list, p)
}

// loginFailures are fresh texts about the volume, and fresh errors of its plugin on the
// node, in which a login or a connection to an iSCSI target fails.
func loginFailures(pl *evidence.Place) []report.Evidence {
	var out []report.Evidence
	if !may(pl.X, pl.Volume) {
		return nil
	}
	for _, t := range pl.Refused() {
		if speaksOfLogin(t.Raw) && !refusedFatal.MatchString(t.Raw) { // who refuses a login was reached
			out = append(out, t.Evidence())
		}
	}
	pod := pl.X.DriverPodOn(pl.Volume.CSIName(), pl.Node)
	if pod == nil || len(pl.Volume.WaitingOn(pl.Node)) == 0 {
		return out
	}
	for _, l := range pl.X.LogsOf(pod.Namespace, pod.Name) {
		if !l.Previous {
			out = append(out, loginLines(pl, l)...)
		}
	}
	return out
}

// loginLines are the fresh lines of a log in which a login or a connection fails. iscsiadm says whom it could not reach in one
// line and why in the next, and a driver prints both below the line that has the date (nutanix/helm issue 140).
func loginLines(pl *evidence.Place, l snapshot.Log) []report.Evidence {
	var out []report.Evidence
	var at time.Time
	for i, line := range l.Lines {
		if t := message.Date(line, pl.X.TakenAt); !t.IsZero() {
			at = t
		}
		text := line
		if i+1 < len(l.Lines) && strings.Contains(l.Lines[i+1], "initiator reported error (") {
			text += "\n" + l.Lines[i+1]
		}
		if !at.IsZero() && pl.X.Age(at) < lately && speaksOfLogin(text) && !refusedFatal.MatchString(text) {
			out = append(out, evidence.Line{Log: &l, Number: i + 1, Text: text}.Evidence())
		}
	}
	return out
}

// unresolved is what open-iscsi says of a portal's name (usr/io.c and usr/login.c:
// resolve_address; democratic-csi issue 353 has portals by name).
var unresolved = pattern.MustCompile(`(?i)iscsi(?:adm|d)?\b.{0,40}cannot resolve host(?: name)? (\w(?:[\w.-]*\w)?)`)

// Unresolved is the name of a portal that the node lately could not resolve.
func Unresolved(pl *evidence.Place) (name string, said evidence.Answer) {
	for _, t := range pl.Refused().At(pl.Node) {
		if m := unresolved.FindStringSubmatch(t.Raw); m != nil {
			return m[1], evidence.Yes(t.Evidence())
		}
	}
	return "", evidence.No()
}

// speaksOfLogin tells it by words that go with a login or a connection. Who waits for a device to appear is logged in already,
// and who did not get through to the daemon has tried no portal (oracle/oci-cloud-controller-manager issue 412).
func speaksOfLogin(text string) bool {
	if refusedAll.MatchString(text) {
		return false
	}
	low := strings.ReplaceAll(strings.ToLower(text), "timed out waiting", "")
	subject := strings.Contains(low, "iscsi") || strings.Contains(low, "portal") || strings.Contains(low, "iqn.")
	return slices.ContainsFunc([]string{"cannot make connection", "cannot make a connection", "timed out", "login retries", "login to iscsi target failed",
		"failed to sendtargets", "failed to get any path", "connect to ", "no route to host", "connection refused", "unreachable"}, func(w string) bool {
		return subject && strings.Contains(low, w)
	})
}

// Dead asks whether a connection from the node to a portal fails now. Not asked: not seen.
func (p Portal) Dead(pl *evidence.Place) evidence.Answer {
	return evidence.Not(reach.To(pl, p.Addr.String()))
}

// Session asks whether the node is logged in through a portal: a session that was there
// when the portal died stays as FAILED.
func (p Portal) Session(pl *evidence.Place) evidence.Answer {
	if r := pl.Probed(); !r.Complete() {
		return evidence.Unseen(r.Lacks()...)
	}
	for _, s := range pl.View.Facts.ISCSI.Sessions {
		for _, c := range s.Connections {
			if s.State == "LOGGED_IN" && (c.PersistentAddress == p.Addr.Addr().String() || c.Address == p.Addr.Addr().String()) {
				return evidence.Yes(evidence.FromNode(pl.Node, "sys/class/iscsi_session/"+s.Name+"/state", s.State))
			}
		}
	}
	return evidence.No()
}

// Lost asks whether a disk of the volume that is used on the node came through a portal alone: its session is
// there, and not logged in any more.
func (p Portal) Lost(pl *evidence.Place) evidence.Answer {
	for _, w := range BrokenWays(pl) {
		for _, b := range pl.View.Leaves(w.Dev) {
			s := pl.View.SessionOfDisk(b.Name)
			if s == nil || s.State == "LOGGED_IN" {
				continue
			}
			for _, c := range s.Connections {
				if c.PersistentAddress == p.Addr.Addr().String() {
					return w.Is.With(evidence.FromNode(pl.Node, "sys/class/iscsi_session/"+s.Name+"/state", s.State))
				}
			}
		}
	}
	return evidence.No()
}

// OfPod asks whether a portal is a pod of this cluster: then its network is another matter.
func (p Portal) OfPod(x *snapshot.Index) evidence.Answer {
	ip := p.Addr.Addr().String()
	for _, pod := range x.Cluster.Pods {
		if pod != nil && pod.Status.PodIP == ip && !pod.Spec.HostNetwork {
			return evidence.Yes(evidence.FromPod(pod, "status.podIP", ip))
		}
	}
	return evidence.Resource(x, "/pods").Found()
}

// Answering are the other portals that the node reaches, and, for one portal, the other
// nodes that reach it and those that do not.
func Answering(pl *evidence.Place, portals []Portal) []string {
	var out []string
	known := map[string]bool{}
	for _, p := range portals {
		known[p.Addr.String()] = true
	}
	if pl.View == nil {
		return nil
	}
	for at, said := range pl.View.Facts.Dials {
		ap, err := netip.ParseAddrPort(at)
		if err == nil && strings.HasPrefix(said, "ok") && (known[at] || ap.Port() == defaultPort) {
			out = append(out, at)
		}
	}
	slices.Sort(out)
	return out
}

// OfOthers tells whether all portals of a list are those that other volumes on the node name: they lead to other targets.
func OfOthers(pl *evidence.Place, answering []string) bool {
	return !slices.ContainsFunc(answering, func(at string) bool {
		return !slices.ContainsFunc(pl.X.VolumesOn(pl.Node), func(v *snapshot.Volume) bool {
			return v != pl.Volume && slices.ContainsFunc(v.ISCSIPortals(pl.Node), func(a netip.AddrPort) bool { return a.String() == at })
		}) || slices.ContainsFunc(pl.Volume.ISCSIPortals(pl.Node), func(a netip.AddrPort) bool { return a.String() == at })
	})
}

// FromOthers says which other nodes reach a portal and which do not.
func (p Portal) FromOthers(pl *evidence.Place) (reach, not []string) {
	for name, view := range pl.X.NodeViews {
		said, asked := view.Facts.Dials[p.Addr.String()]
		switch {
		case name == pl.Node || !asked:
		case strings.HasPrefix(said, "ok"):
			reach = append(reach, name)
		default:
			not = append(not, name)
		}
	}
	slices.Sort(reach)
	slices.Sort(not)
	return reach, not
}
