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
	for _, text := range namedBy(pl) {
		for _, a := range addresses(text) {
			out = add(out, Portal{Addr: a, Named: true})
		}
	}
	for _, t := range loginFailures(pl) {
		for _, a := range addresses(t.Text) {
			out = add(out, Portal{Addr: a, Blamed: evidence.Yes(t)})
		}
	}
	slices.SortFunc(out, func(a, b Portal) int { return a.Addr.Compare(b.Addr) })
	return out
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

// namedBy are the values in which a volume can name a portal.
func namedBy(pl *evidence.Place) []string {
	var out []string
	if pv := pl.Volume.PV; pv != nil {
		if s := pv.Spec.ISCSI; s != nil {
			out = append(append(out, s.TargetPortal), s.Portals...)
		}
		if s := pv.Spec.CSI; s != nil && isISCSI(s.VolumeAttributes) {
			for _, v := range s.VolumeAttributes {
				out = append(out, v)
			}
		}
	}
	if va := pl.Volume.AttachmentOn(pl.Node); va != nil && isISCSI(va.Status.AttachmentMetadata) {
		for _, v := range va.Status.AttachmentMetadata {
			out = append(out, v)
		}
	}
	return out
}

// isISCSI tells whether some values speak of an iSCSI target: one of them is its name.
func isISCSI(values map[string]string) bool {
	for _, v := range values {
		if strings.Contains(v, "iqn.") || strings.Contains(v, "eui.") {
			return true
		}
	}
	return false
}

// loginFailures are fresh texts about the volume, and fresh errors of its plugin on the
// node, in which a login or a connection to an iSCSI target fails.
func loginFailures(pl *evidence.Place) []report.Evidence {
	var out []report.Evidence
	for _, t := range pl.Refused() {
		if speaksOfLogin(t.Raw) {
			out = append(out, t.Evidence())
		}
	}
	pod := pl.X.DriverPodOn(pl.Volume.CSIName(), pl.Node)
	if pod == nil || len(pl.Volume.WaitingOn(pl.Node)) == 0 {
		return out
	}
	for _, l := range pl.X.LogsOf(pod.Namespace, pod.Name) {
		for i, line := range l.Lines {
			at := message.Date(line, pl.X.TakenAt)
			if !l.Previous && !at.IsZero() && pl.X.Age(at) < 10*time.Minute && speaksOfLogin(line) {
				out = append(out, report.Evidence{Source: "log", Locator: fmt.Sprintf("logs/%s/%s/%s:%d", l.Namespace, l.Pod, l.Container, i+1), Text: line})
			}
		}
	}
	return out
}

func speaksOfLogin(text string) bool {
	low := strings.ToLower(text)
	subject := strings.Contains(low, "iscsi") || strings.Contains(low, "portal") || strings.Contains(low, "iqn.")
	for _, w := range []string{"cannot make connection", "cannot make a connection", "timed out", "login retries", "login to iscsi target failed",
		"failed to sendtargets", "failed to get any path", "could not login", "login failed", "connect to ", "no route to host", "connection refused", "unreachable"} {
		if subject && strings.Contains(low, w) {
			return true
		}
	}
	return false
}

// addresses are the IP addresses in a text, with their ports or the usual one.
func addresses(text string) []netip.AddrPort {
	var out []netip.AddrPort
	words := strings.FieldsFunc(text, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F' || r == '.' || r == ':' || r == '[' || r == ']')
	})
	for _, w := range words {
		w = strings.Trim(w, ".:")
		if ap, err := netip.ParseAddrPort(w); err == nil {
			out = append(out, ap)
		} else if a, err := netip.ParseAddr(strings.Trim(w, "[]")); err == nil && strings.Count(w, ".")+strings.Count(w, ":") >= 3 {
			out = append(out, netip.AddrPortFrom(a, defaultPort))
		}
	}
	return out
}

// Dead asks whether a connection from the node to a portal fails now. Not asked: not seen.
func (p Portal) Dead(pl *evidence.Place) evidence.Answer {
	if r := pl.Probed(); !r.Complete() {
		return evidence.Unseen(r.Lacks()...)
	}
	said, asked := pl.View.Facts.Dials[p.Addr.String()]
	if !asked {
		return evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node + "/reach", Node: pl.Node, Why: "a connection to " + p.Addr.String() + " was not tried"})
	}
	return evidence.When(!strings.HasPrefix(said, "ok"), evidence.FromNode(pl.Node, "@dial/"+p.Addr.String(), said))
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

// OfPod asks whether a portal is a pod of this cluster: then its network is another matter.
func (p Portal) OfPod(x *snapshot.Index) evidence.Answer {
	ip := p.Addr.Addr().String()
	for _, pod := range x.Cluster.Pods {
		if pod != nil && pod.Status.PodIP == ip && !pod.Spec.HostNetwork {
			return evidence.Yes(evidence.FromAPI("Pod "+pod.Namespace+"/"+pod.Name, "status.podIP", ip))
		}
	}
	return evidence.No()
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
