// Package drbd answers questions about DRBD resources: what the kernel last logged of
// their roles, connections, disks and quorum.
package drbd

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/cloud"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// major is DRBD's device number.
const major = 147

const fresh = 10 * time.Minute

// speaks are the prefixes "drbd <res>: ", "drbd <res> <peer>: ", "drbd <res>/<vnr>
// drbd<minor>: " and "drbd <res>/<vnr> drbd<minor> <peer>: ".
var (
	speaks  = pattern.MustCompile(`^drbd ([^\s/:]+)(?:/\d+)?(?: drbd(\d+))?(?: ([^\s:]+))?: (.*)$`)
	changes = pattern.MustCompile(`\b(conn|peer|role|disk|quorum|susp-io)\( (\S+) -> ([^\s)]+) ?\)`)
)

// commands are those of drbdsetup that end a connection, as they stand beside the transition.
var commands = []string{"[del-peer]", "[disconnect]", "[down]"}

// Resource is what the kernel of a node said of one resource.
type Resource struct {
	Name  string
	Dev   probes.Dev
	last  map[string]line // by key, and by key and peer
	shout map[string]line // sentences without a transition
	// errors are sentences that DRBD calls an error, takenOut the peers that a command took out last.
	errors   []line
	takenOut map[string]bool
	held     []line // who has it open, as the kernel names them when it refuses for that
}

type line struct {
	to, peer string
	at       time.Time
	fact     report.Evidence
}

// Of tells whether LINSTOR serves a volume, as a resource of DRBD.
func Of(v *snapshot.Volume) bool { return strings.Contains(v.CSIName(), "linstor") }

// ResourceOf reads the log of the place's node about the volume's resource. LINSTOR calls
// it like the volume.
func ResourceOf(pl *evidence.Place) (Resource, bool) {
	r := Resource{last: map[string]line{}, shout: map[string]line{}, takenOut: map[string]bool{}}
	if pl.View == nil || pl.Volume.PV == nil {
		return r, false
	}
	names := []string{pl.Volume.CSIHandle(), pl.Volume.PVName()}
	for _, l := range pl.View.Facts.Kernel {
		m := speaks.FindStringSubmatch(l.Text)
		if m == nil || !slices.Contains(names, m[1]) {
			continue
		}
		r.Name = m[1]
		if n, err := strconv.ParseUint(m[2], 10, 32); err == nil {
			r.Dev = probes.Dev{Major: major, Minor: uint32(n)}
		}
		peer := peerOf(pl, m[3])
		x := line{peer: peer, at: l.At, fact: evidence.FromNode(pl.Node, "@kmsg", l.Text)}
		transitions := changes.FindAllStringSubmatch(m[4], -1)
		if strings.HasPrefix(m[4], "Failed: ") {
			transitions = nil // what was asked for and did not come about (print_state_change in drbd_state.c)
		}
		for _, c := range transitions {
			x.to = c[3]
			r.last[c[1]], r.last[c[1]+" "+peer] = x, x
			if c[1] == "conn" && x.to != "StandAlone" {
				r.takenOut[peer] = x.to == "Disconnecting" && slices.ContainsFunc(commands, func(c string) bool { return strings.HasSuffix(m[4], c) })
			}
		}
		if strings.HasPrefix(m[4], holds) {
			x.to = m[4]
			r.held = append(r.held, x)
		}
		if len(transitions) == 0 && l.Priority <= 3 { // KERN_ERR and worse
			r.errors = append(r.errors, x)
		}
		for _, s := range []string{"Auto-promote failed", "State change failed", declines, "Split-Brain detected", "need ", rejected, dataless} {
			if strings.Contains(m[4], s) {
				x.to = m[4]
				if after, ok := strings.CutPrefix(m[4], declines); ok { // no prefix names that peer
					name, _, _ := strings.Cut(after, " ")
					x.peer = peerOf(pl, name)
				}
				r.shout[s] = x
			}
		}
	}
	if r.Dev.IsZero() {
		r.Dev = above(pl)
	}
	return r, r.Name != "" || !r.Dev.IsZero()
}

// peerOf is the node that the kernel means by a peer's name, which is its uname -n (drbd.conf(5), "on"): often with a domain
// where the Node object has none, or the other way round. Who is no one node's keeps the name.
func peerOf(pl *evidence.Place, name string) string {
	if name == "" {
		return ""
	}
	if n := cloud.MachineNode(pl.X, pl.Volume.CSIName(), name); n != nil {
		return n.Name
	}
	short, _, _ := strings.Cut(strings.ToLower(name), ".")
	var meant []string
	for _, n := range pl.X.Cluster.Nodes {
		own := []string{n.Name}
		if v := pl.X.View(n.Name); v != nil {
			own = append(own, v.Facts.Identity.Hostname)
		}
		for _, a := range n.Status.Addresses {
			own = append(own, a.Address)
		}
		if slices.ContainsFunc(own, func(s string) bool { first, _, _ := strings.Cut(strings.ToLower(s), "."); return first == short }) {
			meant = append(meant, n.Name)
		}
	}
	if len(meant) == 1 {
		return meant[0]
	}
	return name
}

// above is the DRBD device over the volume's disk.
func above(pl *evidence.Place) probes.Dev {
	d, ok := pl.X.DeviceOn(pl.Volume, pl.Node)
	if !ok {
		return probes.Dev{}
	}
	if d.Dev.Major == major {
		return d.Dev
	}
	for _, h := range pl.View.HoldersOf(d.Dev) {
		if h.Device != nil && h.Device.Dev.Major == major {
			return h.Device.Dev
		}
	}
	return probes.Dev{}
}

// NoQuorum asks whether the resource lost its quorum and has not got it back.
func (r Resource) NoQuorum() evidence.Answer {
	q, ok := r.last["quorum"]
	if !ok || q.to != "no" {
		return evidence.No()
	}
	a := evidence.Yes(q.fact)
	if s, ok := r.shout["need "]; ok && strings.Contains(s.to, "quorum") {
		a = a.With(s.fact)
	}
	return a
}

// Suspended asks whether DRBD holds all reads and writes of the resource back, and why, in its own
// word: fencing, quorum, no-disk, user (scnprintf_io_suspend_flags in drbd_state.c). A handler that
// fences a peer takes some seconds.
func (r Resource) Suspended(x *snapshot.Index) (why string, a evidence.Answer) {
	s, ok := r.last["susp-io"]
	if !ok || s.to == "no" || x.Age(s.at) < flap {
		return "", evidence.No()
	}
	return s.to, evidence.Yes(s.fact)
}

// Split asks whether the connection was dropped because both sides wrote.
func (r Resource) Split() evidence.Answer {
	s, ok := r.shout["Split-Brain detected"]
	c := r.last["conn "+s.peer]
	if !ok || c.to != "StandAlone" || c.at.Before(s.at.Add(-time.Minute)) {
		return evidence.No()
	}
	return evidence.Yes(s.fact, c.fact)
}

const rejected = "Rejected WRITE request, not in Primary role"

// Writes asks whether DRBD turns writes down that come without the role: somebody has the
// device open, and the role was taken away (drbd_req.c).
func (r Resource) Writes(x *snapshot.Index) evidence.Answer {
	s, ok := r.shout[rejected]
	if !ok || x.Age(s.at) >= fresh || r.last["role"].to == "Primary" && r.last["role"].at.After(s.at) {
		return evidence.No()
	}
	return evidence.Yes(s.fact)
}

// Secondary asks whether the last word on the role is that it is not Primary.
func (r Resource) Secondary() evidence.Answer {
	l, ok := r.last["role"]
	if !ok {
		return evidence.Unseen(evidence.Lack{Need: "the role of resource " + r.Name, Why: "the log does not reach back to it"})
	}
	return evidence.When(l.to == "Secondary", l.fact)
}

// Fails asks whether a step of the volume fails, or hangs, on the resource's node now, or a pod
// there waits for a device that cannot be read (drbd_open answers ENODATA without quorum or a
// good copy).
func (r Resource) Fails(pl *evidence.Place) evidence.Answer {
	if said := pl.Refused().Say(func(t evidence.Text) bool {
		return !t.Ordinary && t.Mounts()
	}); said.Yes() {
		return said
	}
	if pl.View == nil {
		return evidence.No()
	}
	for _, m := range pl.X.VolumeMounts(pl.Volume, pl.Node) {
		if st, ok := pl.View.Statfs(m.Mount.Point); ok && st.Err != "" {
			return evidence.Yes(evidence.FromNode(pl.Node, "@statfs"+m.Mount.Point, st.Err))
		}
	}
	if c := pl.View.Facts.Contents[r.Dev]; len(pl.Volume.WaitingOn(pl.Node)) > 0 && (c.Err == "ENODATA" || c.Err == "EIO") {
		return evidence.Yes(evidence.FromNode(pl.Node, "@content/"+r.Dev.String(), c.Err))
	}
	return evidence.No()
}

// Tainted asks whether LINSTOR's controller marked the node for this kind of fault.
func Tainted(pl *evidence.Place) evidence.Answer {
	n := pl.X.Node(pl.Node)
	if n == nil {
		return evidence.No()
	}
	for _, t := range n.Spec.Taints {
		if strings.HasPrefix(t.Key, "drbd.linbit.com/") {
			return evidence.Yes(evidence.FromAPI("Node "+pl.Node, "spec.taints", t.Key+":"+string(t.Effect)))
		}
	}
	return evidence.No()
}
