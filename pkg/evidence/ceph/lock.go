package ceph

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var (
	stillUsed   = pattern.MustCompile(`rbd image (\S+) is still being used`)
	mapDenied   = pattern.MustCompile(`(?i)rbd: map failed: \(13\) Permission denied`)
	lockKernel  = pattern.MustCompile(`breaking header lock owned by client\d+|failed to (?:blocklist|blacklist) client\d+: -?\d+|failed to acquire (?:exclusive )?lock: -?\d+`)
	rbdName     = pattern.MustCompile(`\brbd: (rbd\d+): `)
	watcherNone = pattern.MustCompile(`(?i)watchers?:\s*none\b`)
	watcherAt   = pattern.MustCompile(`watcher=\[?([0-9a-fA-F.:]+?)\]?:\d+/\d+ client\.\d+`)
)

// Lock is what keeps an image from being mapped: the lock or the watch of an owner that is
// gone.
type Lock struct {
	pl      *evidence.Place
	kernel  []report.Evidence // the kernel's own lines about the lock
	said    evidence.Text     // rbd's fresh word that the image is used, or that the map was denied
	owner   Owner             // who had the image last and was seen to go
	watcher string            // a watcher that rbd names, on a node that maps nothing
}

// LockOf finds it for a volume that a pod waits for: the kernel's lines first, then rbd's
// words. "Still being used" needs an owner that was seen to go: else a client lives, which
// is volume-mapped-outside-cluster.
func LockOf(pl *evidence.Place) (Lock, bool) {
	v := pl.Volume
	l := Lock{pl: pl, kernel: lockLines(pl)}
	if !v.OnRBD() || len(v.Waiting()) == 0 {
		return l, false
	}
	for _, t := range pl.Refused() {
		if body := t.Raw + t.Desc; strings.Contains(body, "rbd") && (stillUsed.MatchString(body) || mapDenied.MatchString(body)) {
			l.said = t
			break
		}
	}
	if len(l.kernel) > 0 || l.said.Raw == "" {
		return l, len(l.kernel) > 0
	}
	owners := Owners(pl)
	if _, node := WatcherOn(pl); node != "" { // the watch of anybody else on a living node is that of a client that lives
		owners = evidence.Keep(owners, func(o Owner) bool { return o.Node == node })
	}
	if l.watcher = deadWatcher(pl, owners); l.watcher != "" || !stillUsed.MatchString(l.said.Raw+l.said.Desc) {
		return l, true
	}
	use, said := SaidInUse(pl)
	if !said || len(owners) == 0 || !use.LivesOn(pl).No() || len(Mirrors(pl.X)) > 0 {
		return l, false
	}
	l.owner = owners[0]
	return l, true
}

// Is asks whether the image is kept, and quotes who says so.
func (l Lock) Is() evidence.Answer {
	out := evidence.Yes(l.kernel...)
	if l.said.Raw != "" {
		out = out.With(l.said.Evidence(), l.owner.Fact)
	}
	return out
}

// Ceiling is how far the words carry: the kernel's lines and a watcher that is gone are
// first-hand; of an owner whose end has no time only that it may be.
func (l Lock) Ceiling() report.Certainty {
	switch {
	case len(l.kernel) > 0 || l.watcher != "":
		return ""
	case l.owner.Name != "" && l.owner.Gone.IsZero():
		return report.Possible
	}
	return report.Likely
}

// Waiting tells whether it ends by itself: the watch of an owner runs out.
func (l Lock) Waiting() bool { return l.owner.Name != "" && !l.owner.Gone.IsZero() }

// Denied tells whether the kernel says that the user may not blocklist: EACCES is 13.
func (l Lock) Denied() bool {
	return slices.ContainsFunc(l.kernel, func(e report.Evidence) bool { return strings.Contains(e.Text, ": -13") })
}

// Why is what keeps the image, as a sentence goes on.
func (l Lock) Why() string {
	switch {
	case l.Waiting():
		return "the watch of " + l.owner.Name + " has not ended yet (it ends by " + stamp(l.owner.Gone.Add(WatchEnds)) + " unless a client lives)"
	case l.owner.Name != "":
		return "the watch of " + l.owner.Name + " has not ended yet"
	case l.watcher != "":
		return "Ceph still counts a watcher, " + l.watcher + ", and that node does not map the image any more"
	case l.Denied():
		return "the node's client may not blocklist the dead owner of the exclusive lock, so it cannot take the lock over"
	}
	return "a lock or watcher of an owner that is gone keeps the image"
}

// Mapped asks whether a node that does not wait for the image has it mapped. The kernel's
// own lines about the lock hold whoever else was not looked at.
func (l Lock) Mapped() evidence.Answer {
	x, v := l.pl.X, l.pl.Volume
	for _, d := range x.Devices(v) {
		if d.Block != nil && !volume.Awaited(x, v, d.Node) {
			return evidence.Yes(evidence.FromNode(d.Node, d.Locator, d.How))
		}
	}
	if len(l.kernel) > 0 {
		return evidence.No()
	}
	return evidence.Not(volume.Probed(x, x.NodesOf(v)...))
}

// Attached asks whether the volume is attached to a second node, where the lines of the
// kernel do not tell better.
func (l Lock) Attached() evidence.Answer {
	if len(l.kernel) > 0 {
		return evidence.No()
	}
	if len(evidence.Keep(l.pl.Volume.Attachments, func(va *storagev1.VolumeAttachment) bool { return va.Status.Attached })) > 1 {
		return evidence.Yes()
	}
	return evidence.Resource(l.pl.X, "storage.k8s.io/volumeattachments").Found()
}

// Unwatched asks whether rbd said that nobody watches the image: then no dead owner keeps
// it, whatever the driver says.
func (l Lock) Unwatched() evidence.Answer {
	return l.pl.Refused().Say(func(t evidence.Text) bool { return len(l.kernel) == 0 && watcherNone.MatchString(t.Raw) })
}

// lockLines are the kernel's lines about the lock on a node where a pod waits, later than
// the pod.
func lockLines(pl *evidence.Place) []report.Evidence {
	var out []report.Evidence
	for _, w := range pl.Volume.Waiting() {
		view := pl.X.View(w.Pod.Spec.NodeName)
		if view == nil {
			continue
		}
		for _, l := range view.Facts.Kernel {
			if strings.Contains(l.Text, "client") || strings.Contains(l.Text, "lock") {
				if lockKernel.MatchString(l.Text) && l.At.After(snapshot.PodAsksSince(w.Pod, "FailedMount")) && pl.X.Age(l.At) < 10*time.Minute && !ofAnotherImage(view, pl.Volume, l.Text) {
					out = append(out, evidence.FromNode(view.Name, "@kmsg", l.Text))
				}
			}
		}
	}
	return out
}

// ofAnotherImage tells whether a kernel line is about a device that maps another image
// now; a map that failed leaves no device.
func ofAnotherImage(view *snapshot.NodeView, v *snapshot.Volume, line string) bool {
	m := rbdName.FindStringSubmatch(line)
	_, image, known := v.RBDImage()
	if m == nil || !known {
		return false
	}
	for _, r := range view.Facts.RBD {
		if "rbd"+r.ID == m[1] {
			return r.Image != image
		}
	}
	return false
}

// deadWatcher finds the address of a watcher that rbd status named, when it is that of a probed node itself (what runs
// in a pod maps nothing there), on which an owner was seen to go, and every node that had the volume was probed and maps it nowhere.
func deadWatcher(pl *evidence.Place, owners []Owner) string {
	if slices.ContainsFunc(pl.X.NodesOf(pl.Volume), func(n string) bool { return pl.X.View(n) == nil }) {
		return ""
	}
	address, node := WatcherOn(pl)
	if pl.X.View(node) == nil || machineAt(pl.X, address) != node || !slices.ContainsFunc(owners, func(o Owner) bool { return o.Node == node }) {
		return ""
	}
	return address + " (node " + node + ")"
}

// WatcherOn finds the first watcher that rbd status named at the address of a node, or of what runs there; one
// on a node that does not wait for the image comes before the others.
func WatcherOn(pl *evidence.Place) (address, node string) {
	for _, t := range pl.Refused() {
		for _, m := range watcherAt.FindAllStringSubmatch(t.Raw, -1) {
			n := nodeAt(pl.X, m[1])
			if n == "" || node != "" && volume.Awaited(pl.X, pl.Volume, n) || !OfImage(pl.Volume, t) {
				continue
			}
			if address, node = m[1], n; !volume.Awaited(pl.X, pl.Volume, n) {
				return address, node
			}
		}
	}
	return address, node
}

// nodeAt is the node of an address: its own, a pod's on it, or one that it gives to its pods. A network may give a
// pod an address of another node's range.
func nodeAt(x *snapshot.Index, address string) string {
	if n := machineAt(x, address); n != "" {
		return n
	}
	for _, pod := range x.Cluster.Pods {
		if pod.Status.PodIP == address && !snapshot.PodFinished(pod) {
			return pod.Spec.NodeName
		}
	}
	addr, err := netip.ParseAddr(address)
	for _, n := range x.Cluster.Nodes {
		if err == nil && snapshot.GivesOut(n, addr) && !slices.ContainsFunc(x.Cluster.Pods, func(pod *corev1.Pod) bool {
			ip, err := netip.ParseAddr(pod.Status.PodIP)
			return err == nil && pod.Spec.NodeName != n.Name && snapshot.GivesOut(n, ip)
		}) {
			return n.Name
		}
	}
	return ""
}

// machineAt is the node whose own an address is.
func machineAt(x *snapshot.Index, address string) string {
	for _, n := range x.Cluster.Nodes {
		if snapshot.HasAddress(n, address) {
			return n.Name
		}
	}
	return ""
}
