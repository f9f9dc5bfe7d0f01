package ceph

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// WatchEnds is when the watch of a client that died no longer explains that an image is
// still being used: an OSD drops it after 30 s (osd_client_watch_timeout), the driver looks
// for 49 s (internal/rbd/rbd_util.go), and kubelet's next try has to come.
const WatchEnds = 2 * time.Minute

// InUse is the driver's fresh word that an image has watchers. It says so of watches only,
// not of locks.
type InUse struct {
	Text  evidence.Text
	Since time.Time // the first time that it was said, as far as the events tell
}

// SaidInUse finds it.
func SaidInUse(pl *evidence.Place) (InUse, bool) {
	var out InUse
	found := false
	for _, t := range pl.Refused() {
		if !t.Is(message.RBDInUse) || !OfImage(pl.Volume, t) {
			continue
		}
		if !found {
			out, found = InUse{Text: t, Since: t.At}, true
		}
		// The driver's log and kubelet's event say it alike, and only the event counts.
		ns, name, _ := strings.Cut(t.Pod, "/")
		for _, e := range pl.X.Events("Pod", ns, name) {
			if e.Message == t.Raw && !e.First.IsZero() && e.First.Before(out.Since) {
				out.Since = e.First
			}
		}
	}
	return out, found
}

// Image is the pool and image that the word names.
func (u InUse) Image() string { return imageIn(u.Text) }

func imageIn(t evidence.Text) string {
	if m := imageForm.FindStringSubmatch(t.Raw); m != nil {
		return m[1]
	}
	return ""
}

// OfImage tells whether a word about an image of RBD can be about a volume: it is one, and
// the word names no other.
func OfImage(v *snapshot.Volume, t evidence.Text) bool {
	_, own, known := v.RBDImage()
	named := imageIn(t)
	return v.OnRBD() && (!known || named == "" || path.Base(named) == own)
}

var imageForm = pattern.MustCompile(`rbd image (\S+?/\S+) `)

// Owner is somebody of this cluster who had an image and was seen to go.
type Owner struct {
	Name string
	Node string    // on which it was
	Gone time.Time // zero: when is not known
	Fact report.Evidence
}

// Owners are those, the latest first; one whose time is not known comes last.
func Owners(pl *evidence.Place) []Owner {
	var out []Owner
	waits := map[string]bool{}
	for _, w := range pl.Volume.Waiting() {
		waits[w.Node()] = true
	}
	for _, va := range pl.Volume.Attachments {
		if n := va.Spec.NodeName; va.DeletionTimestamp != nil && !waits[n] {
			out = append(out, Owner{"node " + n + ", from which the volume is being detached", n, va.DeletionTimestamp.Time, evidence.FromAPI("VolumeAttachment "+va.Name, "metadata.deletionTimestamp", stamp(va.DeletionTimestamp.Time))})
		}
	}
	for _, n := range pl.X.NodesOf(pl.Volume) {
		out = append(out, ownerOn(pl, n, waits[n])...)
	}
	for _, c := range pl.Volume.Consumers {
		if d := c.Pod.DeletionTimestamp; d != nil && !c.Waiting() {
			out = append(out, Owner{"pod " + c.Pod.Namespace + "/" + c.Pod.Name + " on node " + c.Node(), c.Node(), d.Time, evidence.FromPod(c.Pod, "metadata.deletionTimestamp", stamp(d.Time))})
		}
	}
	slices.SortStableFunc(out, func(a, b Owner) int { return b.Gone.Compare(a.Gone) })
	return out
}

// ownerOn is a node that is gone, down, or came up anew since it had the volume.
func ownerOn(pl *evidence.Place, node string, waits bool) []Owner {
	x := pl.X
	if x.Node(node) == nil {
		if !evidence.Resource(x, "/nodes").Complete() {
			return nil
		}
		return []Owner{{"node " + node + ", which is no node of the cluster any more", node, time.Time{}, evidence.FromAPI("Node "+node, "", "not found")}}
	}
	if r := x.NodeReady(node); r.Known && !r.Ready {
		return []Owner{{"node " + node + ", which is not Ready", node, r.Since, evidence.FromAPI("Node "+node, "status.conditions[Ready]", "not True since "+stamp(r.Since))}}
	}
	view := x.View(node)
	if view == nil {
		return nil
	}
	boot := view.Facts.Identity.Boot()
	for _, w := range pl.Volume.Waiting() {
		if waits && !boot.IsZero() && w.Node() == node && boot.After(w.Pod.CreationTimestamp.Time) {
			return []Owner{{"node " + node + " before it was started again", node, boot, evidence.FromNode(node, "@clock", "booted at "+stamp(boot))}}
		}
	}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// LivesOn asks whether the word outlives everybody who was seen to go by more than a dead
// client's watch can last: then a client lives.
func (u InUse) LivesOn(pl *evidence.Place) evidence.Answer {
	last := u.Since
	for _, o := range Owners(pl) {
		if o.Gone.IsZero() {
			return evidence.No(o.Fact)
		}
		if o.Gone.After(last) {
			last = o.Gone
		}
	}
	return evidence.All(evidence.Resource(pl.X, "/nodes").Nothing(), evidence.When(u.Text.At.Sub(last) > WatchEnds,
		report.Evidence{Source: u.Text.Source, Node: u.Text.Node, Locator: u.Text.Locator, Text: fmt.Sprintf("said from %s to %s", stamp(u.Since), stamp(u.Text.At))}))
}

// Mirrors are the daemons that mirror RBD images: the pods that run rbd-mirror. They watch
// what they mirror, and a driver that knows of fewer takes them for users
// (rbd.mirrorDaemonCount of ceph-csi, 1 when unset).
func Mirrors(x *snapshot.Index) []*corev1.Pod {
	return evidence.Keep(x.Cluster.Pods, func(pod *corev1.Pod) bool {
		// A label proves nothing; here it only keeps a client from being accused.
		named := strings.Contains(pod.Labels["app"]+" "+pod.Labels["app.kubernetes.io/name"]+" "+pod.Labels["app.kubernetes.io/component"], "rbd-mirror")
		return pod.Status.Phase == corev1.PodRunning && (named || slices.ContainsFunc(pod.Spec.Containers, mirrors))
	})
}

func mirrors(c corev1.Container) bool {
	for _, w := range append(slices.Clone(c.Command), c.Args...) {
		if path.Base(w) == "rbd-mirror" || strings.Contains(w, " rbd-mirror ") {
			return true
		}
	}
	return c.Name == "rbd-mirror"
}

// NotMirrored asks whether no such daemon runs in the cluster.
func NotMirrored(x *snapshot.Index) evidence.Answer {
	for _, pod := range Mirrors(x) {
		return evidence.No(evidence.FromPod(pod, "spec.containers", "runs rbd-mirror"))
	}
	return evidence.Resource(x, "/pods").Nothing(evidence.FromAPI("Pods", "spec.containers", "none runs rbd-mirror"))
}
