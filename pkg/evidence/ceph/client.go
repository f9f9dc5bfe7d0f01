// Package ceph answers questions about the Ceph client of a node's kernel: what it
// complains of, whether it is shut out.
package ceph

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/reach"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

const fresh = 10 * time.Minute

// daemon is the form in which libceph names a peer: "mon0 (1)10.30.0.41:6789 …". Old
// kernels have no version of the protocol before the address, newer CephFS lines have
// "[<fsid> <client>]: " before the daemon.
var daemon = pattern.MustCompile(`\b((?:mon|osd|mds)\d+) (?:\([12]\))?([0-9.]+:\d+|\[[0-9a-fA-F:]+\]:\d+) (.*)`)

// Of tells whether a volume is served by the kernel's Ceph client: an RBD image that the
// kernel maps, or a CephFS that it mounts.
func Of(v *snapshot.Volume) bool {
	if v.PV == nil {
		return false
	}
	if v.OnRBD() {
		return v.Attribute("mounter") != "rbd-nbd"
	}
	return v.PV.Spec.CephFS != nil || v.CephCSI() == "cephfs" && v.Attribute("mounter") != "fuse"
}

// Serves tells whether a volume lies in Ceph, whichever client its node has: ceph-fuse and
// rbd-nbd write nothing into the kernel's log.
func Serves(v *snapshot.Volume) bool {
	return Of(v) || v.PV != nil && v.CephCSI() != ""
}

// Makes tells whether a driver of Ceph shall make the volume, which does not exist yet.
func Makes(v *snapshot.Volume) bool {
	return v.PV == nil && !v.Inline && v.CephCSI() != ""
}

// Peer is a daemon that a node's client complains of.
type Peer struct {
	Name, Address string
	Lines         []report.Evidence
	Last          time.Time
}

// Complaints are the daemons whose connection does not come up lately: a monitor while no
// monitor's session is established since, another daemon with at least three lines of one
// address since the last line that it was. The closing of an idle connection (state OPEN)
// is ordinary work: ms_connection_idle_timeout.
func Complaints(pl *evidence.Place) []Peer {
	var order []string
	peers := map[string]*Peer{}
	for _, l := range kernelOf(pl) {
		m := daemon.FindStringSubmatch(l.Text)
		if m == nil || !strings.Contains(l.Text, "ceph") {
			continue
		}
		p := peers[m[2]]
		if p == nil {
			p = &Peer{Name: m[1], Address: m[2]}
			peers[m[2]] = p
			order = append(order, m[2])
		}
		switch what := m[3]; {
		case strings.Contains(what, "session established"), strings.HasPrefix(what, "up"):
			for _, o := range peers { // a client needs one monitor, whichever answers
				if o == p || p.monitor() && o.monitor() {
					o.Lines = nil
				}
			}
		case failed(what):
			p.Lines, p.Last = append(p.Lines, evidence.FromNode(pl.Node, "@kmsg", l.Text)), l.At
		}
	}
	var out []Peer
	for _, a := range order {
		p, need := peers[a], 3
		if p.monitor() {
			need = 1
		}
		if len(p.Lines) >= need && !p.Last.IsZero() && pl.X.Age(p.Last) < fresh {
			p.Lines = last(p.Lines, 3)
			out = append(out, *p)
		}
	}
	if len(out) == 0 {
		return silent(pl)
	}
	return worst(pl, out)
}

// silent is the first of the volume's monitors when none of them answers and the kernel's log
// tells nothing: it is short, and a client that was given up says no more.
func silent(pl *evidence.Place) []Peer {
	var first []Peer
	for _, address := range pl.X.CephMonitors(pl.Volume, pl.Node) {
		p := Peer{Name: "a monitor", Address: monitorPort(address)}
		if no := p.Dialled(pl); !no.Yes() {
			return nil
		} else if p.Lines = no.Facts(); first == nil {
			first = []Peer{p}
		}
	}
	return first
}

func (p Peer) monitor() bool { return strings.HasPrefix(p.Name, "mon") }

// worst leaves one of several daemons: the one whose port does not answer.
func worst(pl *evidence.Place, list []Peer) []Peer {
	for _, want := range []func(evidence.Answer) bool{evidence.Answer.Yes, evidence.Answer.Unseen} {
		for _, p := range list {
			if want(p.Dialled(pl)) {
				return []Peer{p}
			}
		}
	}
	return list
}

func failed(what string) bool {
	switch {
	case strings.Contains(what, "socket closed"):
		return !strings.Contains(what, "(con state OPEN)")
	case strings.Contains(what, "connect error"), strings.Contains(what, "socket error"), strings.Contains(what, "session lost"):
		return true
	}
	return false
}

// Dialled asks whether a peer does not answer a dial from the node now.
func (p Peer) Dialled(pl *evidence.Place) evidence.Answer {
	return evidence.Not(reach.To(pl, p.Address))
}

// Stuck asks for a metadata server that hangs and did not come back (fs/ceph/mds_client.c):
// a client that waits for one session, whatever the others do; or for mount.ceph's word that
// none is up, which it also has for a user without rights: where the kernel says that the user is turned down, it is that.
func Stuck(pl *evidence.Place) evidence.Answer {
	_, turnedDown, _ := Rejected(pl)
	if said := pl.Refused().Say(func(t evidence.Text) bool { return noServer.MatchString(t.Raw) }); said.Yes() && !turnedDown.Yes() {
		return said
	}
	var line []report.Evidence
	for _, l := range kernelOf(pl) {
		switch {
		case !strings.Contains(l.Text, "ceph: "):
		case hangs.MatchString(l.Text):
			line = []report.Evidence{evidence.FromNode(pl.Node, "@kmsg", l.Text)}
		case cameBack.MatchString(l.Text):
			line = nil
		}
	}
	return evidence.When(line != nil, line...)
}

// Silent asks whether a map or mount says that it waited for the cluster until its time ran
// out (ETIMEDOUT, 110: mount_timeout of the kernel's client, rados_mount_timeout).
func Silent(pl *evidence.Place) evidence.Answer {
	return pl.Refused().Say(func(t evidence.Text) bool { return timedOut.MatchString(t.Raw) })
}

// Answers asks whether some monitor of the volume answers a dial from the node.
func Answers(pl *evidence.Place) evidence.Answer {
	list := pl.X.CephMonitors(pl.Volume, pl.Node)
	if len(list) == 0 {
		return evidence.Unseen(evidence.Lack{Need: "a connection to the monitors of Ceph", Node: pl.Node, Why: "neither the volume nor what was said of it names their addresses"})
	}
	var out []evidence.Answer
	for _, address := range list {
		out = append(out, reach.To(pl, monitorPort(address)))
	}
	return evidence.Any(out...)
}

// monitorPort is an address of a monitor with its port: 6789, where none is named.
func monitorPort(address string) string {
	if strings.Contains(address, ":") {
		return address
	}
	return address + ":6789"
}

// kernelOf is the kernel log of the place's node; none of one that was not looked at.
func kernelOf(pl *evidence.Place) []probes.KernelLine {
	if pl.View == nil {
		return nil
	}
	return pl.View.Facts.Kernel
}

var (
	timedOut = pattern.MustCompile(`(?i)map failed: \(110\)|mount error:? 110\b|ret=-110\b|exit status 110\b|mount failed with \(110\)`)
	noServer = pattern.MustCompile(`no mds (?:server|\(Metadata Server\)) is up`) // mount.ceph to Octopus, and since
	hangs    = pattern.MustCompile(`\bmds\d+ hung\b`)
	cameBack = pattern.MustCompile(`\bmds\d+ (?:came back|recovery completed|caps renewed|reconnect success)`)
)

// Refusing asks for a line with a single meaning: this kernel is too old for the cluster,
// or no metadata server is up.
func Refusing(pl *evidence.Place) (says string, a evidence.Answer) {
	for _, l := range slices.Backward(kernelOf(pl)) {
		if l.At.IsZero() || pl.X.Age(l.At) >= fresh {
			continue
		}
		switch {
		case strings.Contains(l.Text, "missing required protocol features"), strings.Contains(l.Text, "feature set mismatch, my"):
			return "old", evidence.Yes(evidence.FromNode(pl.Node, "@kmsg", l.Text))
		case strings.Contains(l.Text, "No mds server is up or the cluster is laggy"):
			return "mds", evidence.Yes(evidence.FromNode(pl.Node, "@kmsg", l.Text))
		}
	}
	return "", evidence.No()
}

// Suffers asks whether the place's volume waits for Ceph: a call that hangs, a mount that
// does not answer, or a fresh failure of a mount.
func Suffers(pl *evidence.Place) evidence.Answer {
	for _, t := range pl.Refused() {
		if !t.Ordinary && t.Mounts() {
			return evidence.Any(Hangs(pl), evidence.Yes(t.Evidence()))
		}
	}
	return Hangs(pl)
}

// Hangs asks whether something of the place's volume hangs in Ceph: a map or mount that
// has not come back for two minutes, a task of a pod of the volume, a mount that gives no
// answer.
func Hangs(pl *evidence.Place) evidence.Answer {
	if pl.View == nil {
		return evidence.Unseen(pl.Probed().Lacks()...)
	}
	if q := hung(pl); q != nil {
		return evidence.Yes(evidence.FromNode(pl.Node, "proc/"+strconv.Itoa(q.PID)+"/cmdline", command(q)))
	}
	for _, m := range pl.X.VolumeMounts(pl.Volume, pl.Node) {
		if st, ok := pl.View.Statfs(m.Mount.Point); ok && st.Err == "hang" {
			return evidence.Yes(evidence.FromNode(pl.Node, "@statfs"+m.Mount.Point, st.Err))
		}
	}
	for _, c := range pl.Volume.LiveConsumersOn(pl.Node) {
		for _, q := range pl.View.ProcessesOfPod(string(c.Pod.UID)) {
			if at := q.WChan + " " + q.Stack; q.State == "D" && (strings.Contains(at, "ceph") || strings.Contains(at, "rbd_")) {
				return evidence.Yes(evidence.FromNode(pl.Node, "proc/"+strconv.Itoa(q.PID)+"/stack", strings.TrimSpace(at)))
			}
		}
	}
	return evidence.No()
}

// hung is a map or mount of the volume that has not come back for two minutes.
func hung(pl *evidence.Place) *probes.Process {
	_, image, _ := pl.Volume.RBDImage()
	return evidence.First(pl.View.Processes(), func(q *probes.Process) bool {
		mine := image != "" && strings.Contains(strings.Join(q.Cmdline, " "), image)
		old := !q.Started.IsZero() && pl.X.Age(q.Started) > 2*time.Minute
		return mine && old && (q.Comm == "rbd" || q.Comm == "mount" || q.Comm == "mount.ceph")
	})
}

func command(q *probes.Process) string {
	var out []string
	for _, w := range q.Cmdline {
		if strings.HasPrefix(w, "--key") || strings.Contains(w, "secret=") {
			w, _, _ = strings.Cut(w, "=")
			w += "=***"
		}
		out = append(out, w)
	}
	return strings.Join(out, " ") + " (state " + q.State + ")"
}
