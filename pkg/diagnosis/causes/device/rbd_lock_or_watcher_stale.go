package device

import (
	_ "embed"
	"regexp"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/ceph"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed rbd_lock_or_watcher_stale.md
var rbdLockOrWatcherStaleDoc string

// RBDLockOrWatcherStale finds an RBD image that a dead owner's lock or watcher keeps.
var RBDLockOrWatcherStale = &diagnosis.Rule{
	Name: "rbd-lock-or-watcher-stale", Layer: diagnosis.Device, Severity: report.Blocking,
	Explains: []string{"mount-failed", "attach-failed", "pod-waiting-for-volume"},
	YieldsTo: []string{"device-mapped-on-other-node", "mount-pinned-in-namespace", "mount-lazily-detached", "volume-mapped-outside-cluster"},
	Doc:      rbdLockOrWatcherStaleDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if len(v.Waiting()) > 0 && isRBD(v) {
				staleLock(p, v)
			}
		}
	},
}

var (
	stillUsed  = regexp.MustCompile(`rbd image (\S+) is still being used`)
	mapDenied  = regexp.MustCompile(`(?i)rbd: map failed: \(13\) Permission denied`)
	lockKernel = regexp.MustCompile(`breaking header lock owned by client\d+|failed to blocklist client\d+: -?\d+|failed to blacklist client\d+: -?\d+|failed to acquire (?:exclusive )?lock: -?\d+`)
)

// ownerGone is who had the image last; not ok when nobody was seen to go, or a client
// lives: that is volume-mapped-outside-cluster.
func ownerGone(p *diagnosis.Pass, v *snapshot.Volume) (ceph.Owner, bool) {
	pl := &evidence.Place{X: p.Index, Volume: v, Texts: p.Texts(v)}
	use, said := ceph.SaidInUse(pl)
	owners := ceph.Owners(pl)
	if !said || len(owners) == 0 || use.LivesOn(pl).Yes() || len(ceph.Mirrors(p.Index)) > 0 {
		return ceph.Owner{}, false
	}
	return owners[0], true
}

// whyLocked is what keeps the image from being mapped.
func whyLocked(caps bool, watcher string, owner ceph.Owner) string {
	switch {
	case owner.Name != "" && !owner.Gone.IsZero():
		return "the watch of " + owner.Name + " has not ended yet (it ends by " + owner.Gone.Add(ceph.WatchEnds).UTC().Format(time.RFC3339) + " unless a client lives)"
	case owner.Name != "":
		return "the watch of " + owner.Name + " has not ended yet"
	case watcher != "":
		return "Ceph still counts a watcher, " + watcher + ", and that node does not map the image any more"
	case caps:
		return "the node's client may not blocklist the dead owner of the exclusive lock, so it cannot take the lock over"
	}
	return "a lock or watcher of an owner that is gone keeps the image"
}

// saidInUse is rbd's fresh word that the image is used, or that the map was denied.
func saidInUse(p *diagnosis.Pass, v *snapshot.Volume) diagnosis.Text {
	for _, t := range p.Texts(v) {
		if t.Fresh && (stillUsed.MatchString(t.Raw+t.Desc) || mapDenied.MatchString(t.Raw+t.Desc)) {
			return t
		}
	}
	return diagnosis.Text{}
}

// staleLock weighs the kernel's own lines first, then rbd's words.
func staleLock(p *diagnosis.Pass, v *snapshot.Volume) {
	mappedOn := mappers(p, v)
	kernel := lockLines(p, v)
	text := saidInUse(p, v)
	if len(mappedOn) > 0 || len(kernel) == 0 && text.Raw == "" {
		return // a node maps it: that is the reason
	}
	if len(kernel) == 0 && (anotherAttachment(v) || noWatcher(p, v)) {
		return
	}
	c, watcher := report.Likely, ""
	if len(kernel) == 0 {
		watcher = deadWatcher(p, v)
	}
	owner, waiting := ceph.Owner{}, false
	if len(kernel) == 0 && watcher == "" && stillUsed.MatchString(text.Raw+text.Desc) {
		var ok bool
		if owner, ok = ownerGone(p, v); !ok {
			return
		}
		if waiting = !owner.Gone.IsZero(); !waiting {
			c = report.Possible
		}
	}
	if len(kernel) > 0 || watcher != "" {
		c = report.Certain
	}
	f := p.Find(c, diagnosis.ObjectSubject("PersistentVolume", "", v.PVName())).On(v).Fact(kernel...)
	if text.Raw != "" {
		f.Fact(text.Evidence(), owner.Fact)
	}
	f.Waiting = waiting
	caps := deniedCaps(kernel)
	why := whyLocked(caps, watcher, owner)
	seen := "No probed node maps the image."
	if len(p.NodeViews) == 0 {
		seen = "Whether a node still maps the image was not looked at."
	}
	f.Sayf("The RBD image of volume %s cannot be mapped: %s. %s", volumeName(v), why, seen)
	if len(kernel) == 0 && !allNodesProbed(p, v) {
		f.Missing("a probe of every node that may still map the image")
	}
	f.Unless("a node, or a machine outside the cluster, that still maps the image")
	if caps {
		f.Advise(remedy.Words("Give the Ceph user of the driver the capability to blocklist (mon 'profile rbd', osd 'profile rbd'); the next map then breaks the lock by itself."))
	} else {
		f.Advise(remedy.Words("Ask Ceph who watches the image (rbd status) and compare the address with the nodes. A client may be blocklisted only once you have made sure that its machine is off."))
	}
	p.Report(f)
}

// isRBD tells whether a driver maps RBD images.
func isRBD(v *snapshot.Volume) bool {
	return strings.Contains(v.Driver, "rbd") || v.PV != nil && v.PV.Spec.RBD != nil
}

// mappers are probed nodes that have the image mapped and are not where it is wanted.
func mappers(p *diagnosis.Pass, v *snapshot.Volume) []string {
	var out []string
	for _, d := range p.Devices(v) {
		if d.Block != nil && !p.WantedHere(v, d.Node) {
			out = append(out, d.Node)
		}
	}
	return out
}

// lockLines are the kernel's lines about the lock on the node where the pod waits,
// later than the pod.
func lockLines(p *diagnosis.Pass, v *snapshot.Volume) []report.Evidence {
	var out []report.Evidence
	for _, w := range v.Waiting() {
		view := p.View(w.Pod.Spec.NodeName)
		if view == nil {
			continue
		}
		for _, l := range view.Facts.Kernel {
			if lockKernel.MatchString(l.Text) && l.At.After(w.Pod.CreationTimestamp.Time) && p.Age(l.At) < 10*time.Minute && !ofAnotherImage(view, v, l.Text) {
				out = append(out, diagnosis.FromNode(view.Name, "@kmsg", l.Text))
			}
		}
	}
	return out
}

var rbdName = regexp.MustCompile(`\brbd: (rbd\d+): `)

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

var watcherNone = regexp.MustCompile(`(?i)watchers?:\s*none\b`)

var watcherAt = regexp.MustCompile(`watcher=\[?([0-9a-fA-F.:]+?)\]?:\d+/\d+ client\.\d+`)

// deadWatcher finds the address of a watcher that rbd status named, when it is that of
// a probed node, and every node that had the volume was probed and maps it nowhere.
func deadWatcher(p *diagnosis.Pass, v *snapshot.Volume) string {
	if !allNodesProbed(p, v) {
		return ""
	}
	for _, t := range p.Texts(v) {
		m := watcherAt.FindStringSubmatch(t.Raw)
		if m == nil || !t.Fresh {
			continue
		}
		for _, n := range p.Cluster.Nodes {
			for _, a := range n.Status.Addresses {
				if a.Address == m[1] && p.View(n.Name) != nil {
					return m[1] + " (node " + n.Name + ")"
				}
			}
		}
	}
	return ""
}

// noWatcher tells whether rbd status said that nobody watches the image: then no dead
// owner keeps it, whatever the driver says.
func noWatcher(p *diagnosis.Pass, v *snapshot.Volume) bool {
	for _, t := range p.Texts(v) {
		if t.Fresh && watcherNone.MatchString(t.Raw) {
			return true
		}
	}
	return false
}

// deniedCaps tells whether the kernel says that the user lacks the right: EACCES is 13.
func deniedCaps(kernel []report.Evidence) bool {
	for _, e := range kernel {
		if strings.Contains(e.Text, ": -13") {
			return true
		}
	}
	return false
}

// anotherAttachment tells whether the volume is attached to a second node.
func anotherAttachment(v *snapshot.Volume) bool {
	n := 0
	for _, va := range v.Attachments {
		if va.Status.Attached {
			n++
		}
	}
	return n > 1
}

func allNodesProbed(p *diagnosis.Pass, v *snapshot.Volume) bool {
	for _, n := range nodesOf(p, v) {
		if p.View(n) == nil {
			return false
		}
	}
	return true
}
