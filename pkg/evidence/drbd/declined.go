package drbd

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// A resource has its device on all of its nodes, and while somebody has it open on one of them, if only for
// reading, none of the others becomes Primary (is_valid_soft_transition in drbd_state.c): that node declines with
// these words, and names the openers.
const (
	declines = "Declined by peer "
	reader   = "Peer may not become primary while device is opened read-only"
	holds    = "Held open by "
)

// together is how far the lines of one refusal may be apart.
const together = 10 * time.Second

// Declined asks whether DRBD freshly did not make the place's node Primary since a peer declines, and which.
func (r Resource) Declined(x *snapshot.Index) (peer string, is evidence.Answer) {
	for _, s := range []string{"Auto-promote failed", "State change failed"} {
		said, ok := r.shout[s]
		if !ok || x.Age(said.at) >= fresh || !strings.Contains(said.to, byPeer) {
			continue
		}
		is = evidence.Yes(said.fact)
		if by, named := r.shout[declines]; named && said.at.Sub(by.at).Abs() < together {
			peer = by.peer
			is = is.With(by.fact)
		}
		return peer, is
	}
	return "", evidence.No()
}

// Reason asks why a peer declines, by its own log.
func (r Resource) Reason(pl *evidence.Place, peer string) (why string, a evidence.Answer) {
	at := pl.On(peer)
	if there, ok := ResourceOf(at); ok {
		if said := there.shout["State change failed"]; said.to != "" && pl.X.Age(said.at) < fresh {
			_, why, _ = strings.Cut(said.to, ": ")
			return why, evidence.Yes(said.fact)
		}
	}
	lacks := at.Tables(probes.KernelLog).Lacks()
	if len(lacks) == 0 {
		lacks = []evidence.Lack{{Need: "why peer " + peer + " of " + r.Name + " declines", Node: peer, Why: "its kernel gave no reason lately"}}
	}
	return "", evidence.Unseen(lacks...)
}

// OpenAtPeer are the processes that have the resource's device open on a peer, for which that one declines. Whom
// DRBD names is no passing scanner: it is there whenever it refuses.
func OpenAtPeer(pl *evidence.Place) (out []disk.Held) {
	if len(pl.Volume.WaitingOn(pl.Node)) == 0 || !Of(pl.Volume) && !hasDRBD(pl.View) {
		return nil
	}
	mine, _ := ResourceOf(pl)
	peer, declined := mine.Declined(pl.X)
	if log := pl.LogFrom(pl.X.TakenAt.Add(-fresh)); declined.No() && !log.Complete() {
		declined = evidence.Unseen(log.Lacks()...)
	}
	if declined.No() || mine.primaryNow() {
		return nil
	}
	for _, n := range slices.Sorted(maps.Keys(pl.X.NodeViews)) {
		at := pl.On(n)
		r, ok := ResourceOf(at)
		if n == pl.Node || peer != "" && n != peer || !ok || r.Dev.IsZero() || len(at.View.Uses(r.Dev)) > 0 { // who has it mounted is another cause
			continue
		}
		said := r.says(pl.X)
		if said.No() || !said.Yes() && (peer == "" || !declined.Yes()) {
			continue
		}
		out = append(out, r.openAt(at, said, declined, mine.Fails(pl))...)
	}
	return out
}

// openAt are the openers on one node, with what the two kernels say of them.
func (r Resource) openAt(at *evidence.Place, said, declined, fails evidence.Answer) []disk.Held {
	named := r.named()
	out := r.openers(at, named)
	for i := range out {
		h := &out[i]
		h.Kind, h.Node, h.Subject, h.Dev = "peer", at.Node, r.Dev, r.Dev
		h.Is = evidence.All(h.Is, fails).With(said.Facts()...).With(declined.Facts()...)
		h.Last = evidence.All(said, declined, h.Last, pods.Placed(at.X, h.Holder.Who))
		switch {
		case len(named) > 0:
		case len(out) > 1:
			h.AtMost = report.Possible
		default:
			h.AtMost = report.Likely
		}
	}
	return out
}

func hasDRBD(view *snapshot.NodeView) bool {
	return view != nil && slices.ContainsFunc(view.Blocks(), func(b *probes.BlockDevice) bool { return b.Dev.Major == major })
}

// says asks whether the node declines because the device is open, by its own fresh word; not seen without any.
func (r Resource) says(x *snapshot.Index) evidence.Answer {
	said := r.shout["State change failed"]
	if said.to == "" || x.Age(said.at) >= fresh {
		return evidence.Unseen(evidence.Lack{Need: "why " + r.Name + " lets no peer be Primary", Why: "the kernel gave no reason lately"})
	}
	return evidence.When(strings.Contains(said.to, reader), said.fact)
}

// named are the openers by the kernel's last word: the program and the number of the process, or of a thread of it.
func (r Resource) named() (out []line) {
	last := r.shout["State change failed"].at
	return evidence.Keep(r.held, func(l line) bool { return l.at.Sub(last).Abs() < together })
}

// openers are the processes with the device open, of those that are named if any are. Where descriptors were not
// read, a process that is named and runs may have it.
func (r Resource) openers(pl *evidence.Place, named []line) (out []disk.Held) {
	read := pl.Tables(probes.Descriptors)
	for _, p := range pl.View.Processes() {
		who := pl.X.WhoIs(pl.View, p)
		said, whole := naming(named, p)
		if p.Kthread || pl.X.IsConsumerProcess(pl.Volume, pl.Node, who) || len(named) > 0 && said == nil {
			continue
		}
		h := disk.Held{Holder: &disk.Holder{Opener: snapshot.Opener{Process: p}, Who: who}, Is: evidence.Yes(said...), Last: read.Found()}
		i := slices.IndexFunc(p.Open, func(d probes.Descriptor) bool { return d.Dev == r.Dev && d.Device })
		switch {
		case i >= 0:
			h.Holder.Descriptor, h.Last = p.Open[i], evidence.Yes(evidence.FromNode(pl.Node, p.Open[i].Path, p.Open[i].Target))
		case whole && !read.Complete():
			h.Holder.Descriptor = probes.Descriptor{Path: "proc/" + strconv.Itoa(p.PID) + "/fd", Target: "/dev/drbd" + strconv.FormatUint(uint64(r.Dev.Minor), 10)}
		default:
			continue
		}
		out = append(out, h)
	}
	return out
}

// naming is the word "Held open by COMM(PID)" on a process, and whether it has both right: the number is that of the
// thread that opened the device.
func naming(named []line, p *probes.Process) (said []report.Evidence, whole bool) {
	for _, l := range named {
		comm, number, _ := strings.Cut(strings.TrimPrefix(l.to, holds), "(")
		pid, err := strconv.Atoi(strings.TrimRight(strings.TrimSpace(number), ")."))
		if is := err == nil && pid == p.PID; is || comm == p.Comm {
			said, whole = append(said, l.fact), whole || is && comm == p.Comm
		}
	}
	return said, whole
}
