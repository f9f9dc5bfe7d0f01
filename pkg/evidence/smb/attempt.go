package smb

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Attempt is what the kernel logged about one mount of a share. Only its first line and
// some others name the server; a STATUS line names none and belongs to the group.
type Attempt struct {
	source string // of a mount; empty: a session was set up anew
	server string
	at     time.Time
	lines  []probes.KernelLine
	mixed  bool // two mounts at one time: which line is whose is not known
	ended  bool
}

const (
	fresh = 10 * time.Minute
	apart = 2 * time.Second  // after its last line a group is over
	slow  = 40 * time.Second // a connection that does not come up takes tens of seconds
)

var (
	begins  = pattern.MustCompile(`Attempting to mount (\S+)`)
	names   = pattern.MustCompile(`(?:\\\\|//)([^\\/\s]+)`)
	status  = pattern.MustCompile(`STATUS_[A-Z_]+`)
	returns = pattern.MustCompile(`cifs_mount failed w/return code = -(\d+)`)
	ofCIFS  = pattern.MustCompile(`^(CIFS|cifs)\b|^Status code returned`)
)

// attempts groups the lines of a kernel log about SMB, oldest first. A mount begins with
// a line of its own; a session that is set up anew under a mount has none, its lines stand
// together in time.
func attempts(view *snapshot.NodeView) []*Attempt {
	var out []*Attempt
	var open *Attempt
	for _, l := range view.Facts.Kernel {
		if !ofCIFS.MatchString(l.Text) {
			continue
		}
		m := begins.FindStringSubmatch(l.Text)
		if m == nil && open.goesOn(l) {
			open.add(l)
			continue
		}
		next := &Attempt{at: l.At}
		if m != nil {
			next.source = clean(m[1])
			next.server = server(next.source)
			if open != nil && !open.ended && l.At.Sub(open.last()) <= apart && next.server != open.server {
				open.mixed, next.mixed = true, true
			}
		}
		open = next
		open.add(l)
		out = append(out, open)
	}
	return out
}

// goesOn tells whether a line belongs to the group that is open.
func (a *Attempt) goesOn(l probes.KernelLine) bool {
	switch {
	case a == nil || a.ended && l.At.Sub(a.last()) > apart:
		return false
	case a.source == "":
		return l.At.Sub(a.last()) <= apart
	}
	return l.At.Sub(a.at) <= slow
}

// add takes a line of the group's server, or of none.
func (a *Attempt) add(l probes.KernelLine) {
	if m := names.FindStringSubmatch(l.Text); m != nil {
		a.server = cmp.Or(a.server, strings.ToLower(m[1]))
		if !strings.EqualFold(m[1], a.server) {
			a.mixed = a.mixed || a.source == ""
			return
		}
	}
	a.lines = append(a.lines, l)
	a.ended = a.ended || returns.MatchString(l.Text)
}

func clean(source string) string { return strings.ReplaceAll(source, `\`, "/") }

func server(source string) string {
	s, _, _ := strings.Cut(strings.TrimPrefix(source, "//"), "/")
	return strings.ToLower(s)
}

func (a *Attempt) last() time.Time { return a.lines[len(a.lines)-1].At }

// attempt is the newest fresh one for the share, not before a pod wanted it; nil: none.
func (s Share) attempt(pl *evidence.Place) *Attempt {
	if pl.View == nil {
		return nil
	}
	all := attempts(pl.View)
	slices.Reverse(all)
	silent := !slices.ContainsFunc(all, func(a *Attempt) bool { return a.source != "" }) // kernels before 4.20 do not print how one begins
	for _, a := range all {
		mine := strings.EqualFold(strings.TrimRight(a.source, "/"), strings.TrimRight(s.Source, "/")) ||
			a.source == "" && s.Mount != nil && (strings.EqualFold(a.server, s.Server) || a.server == s.Mount.SuperValue("addr")) ||
			silent && a.ended && strings.EqualFold(a.server, s.Server)
		if mine && !a.mixed && !a.at.IsZero() && pl.X.Age(a.at) < fresh && !s.before(pl, a.at) {
			return a
		}
	}
	return nil
}

// before tells whether a moment lies before every pod that waits for the share.
func (s Share) before(pl *evidence.Place, at time.Time) bool {
	waits := pl.Volume.WaitingOn(pl.Node)
	return len(waits) > 0 && !slices.ContainsFunc(waits, func(c *snapshot.Consumer) bool { return !at.Before(c.Pod.CreationTimestamp.Time) })
}

// logged answers by the lines of the newest attempt: yes with those that a test picks, no
// when the kernel wrote others, not seen without an attempt.
func (s Share) logged(pl *evidence.Place, pick func(string) bool) evidence.Answer {
	if pl.Node == "" { // the driver's controller mounted it, on a node of which nothing is known
		return evidence.Unseen(evidence.Lack{Need: "the kernel log of the driver's controller", Why: "its lines about this mount"})
	}
	a := s.attempt(pl)
	if a == nil {
		r := pl.Tables(probes.KernelLog)
		if r.Complete() {
			return evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node + "/kernelLog", Node: pl.Node, Why: "no lines of this attempt to mount"})
		}
		return evidence.Unseen(r.Lacks()...)
	}
	var facts []report.Evidence
	for _, l := range a.lines {
		if pick(l.Text) {
			facts = append(facts, evidence.FromNode(pl.Node, "@kmsg", l.Text))
		}
	}
	if len(facts) == 0 {
		return evidence.No()
	}
	return evidence.Yes(facts...)
}

// LoggedNoConnection asks whether the kernel logged that no connection came up.
func (s Share) LoggedNoConnection(pl *evidence.Place) evidence.Answer {
	return s.logged(pl, func(text string) bool {
		if strings.Contains(text, "Error connecting to socket") {
			return true
		}
		m := returns.FindStringSubmatch(text)
		return m != nil && slices.Contains([]string{"101", "110", "111", "113", "115"}, m[1])
	})
}

func statusIn(text string, list []string) bool { return slices.Contains(list, status.FindString(text)) }
