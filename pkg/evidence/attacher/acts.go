package attacher

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Empty asks whether a workload of the attacher has no pod at all; wants is what is wanted, refused
// that its pods are refused when they are made, in words that the answer quotes.
func (a Attacher) Empty() (w snapshot.Owner, wants int32, refused bool, is evidence.Answer) {
	if len(a.Pods) > 0 || len(a.Workloads) == 0 {
		return w, 0, false, evidence.No()
	}
	w = a.Workloads[0]
	wants, _ = snapshot.Replicas(w.Object)
	facts := []report.Evidence{evidence.FromAPI(w.String(), "spec.replicas", fmt.Sprint(wants))}
	if said, no := csi.Unmade(a.pl.X, w); no && wants > 0 {
		refused, facts = true, append(facts, said)
	}
	return w, wants, refused, evidence.ResourceIn(a.pl.X, "/pods", w.Namespace).Nothing(facts...)
}

// Mute asks whether an attacher that runs has written neither result nor error for longer than its longest back-off,
// or for longer than it gives the driver's first call while who waits for it has given up: a slow or failing driver
// would have left an error. One whose log goes on is not mute.
func (a Attacher) Mute() (va *storagev1.VolumeAttachment, is evidence.Answer) {
	if a.Leader == nil || !a.Slow || a.object == nil || a.Driver == snapshot.LonghornDriver || a.works() {
		return nil, evidence.No()
	}
	for _, va := range a.Silent {
		if a.overdue(va) && !a.speaksOf(va) {
			return va, evidence.Yes(a.Unlisted().Facts()...)
		}
	}
	return nil, evidence.No()
}

// speaksOf tells whether an attacher (of several one leads, and the others' logs stop) has written anything since an
// attachment was made, or its driver speaks of a call for it: then somebody works there, and only one volume is slow.
func (a Attacher) speaksOf(va *storagev1.VolumeAttachment) bool {
	v, x := a.pl.Volume, a.pl.X
	logs := slices.Concat(evidence.Each(a.Pods, func(p *corev1.Pod) []snapshot.Log { return x.LogsOf(p.Namespace, p.Name) })...)
	for l := range evidence.Lines(logs) {
		own := strings.Contains(l.Container, "attacher")
		if own && !l.Previous && !unlisted(l.Text) && message.Date(l.Text, x.TakenAt).After(va.CreationTimestamp.Time) {
			return true
		}
		if (own || strings.Contains(l.Text, "ControllerPublishVolume")) && slices.ContainsFunc([]string{va.Name, v.PVName(), v.Handle}, func(name string) bool { return name != "" && strings.Contains(l.Text, name) }) {
			return true
		}
	}
	return false
}

// Unlisted asks for the attacher's fresh words that it does not get the list of attachments that it shall act on,
// whatever the API server's reason: a version that is not served any more, a server that it does not reach.
func (a Attacher) Unlisted() evidence.Answer {
	for _, p := range a.Pods {
		for l := range evidence.Lines(a.pl.X.LogsOf(p.Namespace, p.Name)) {
			if strings.Contains(l.Container, "attacher") && !l.Previous && unlisted(l.Text) && strings.Contains(l.Text, "VolumeAttachment") && l.Within(a.pl.X, holder.DetachBackoff) {
				return evidence.Yes(l.Evidence())
			}
		}
	}
	return evidence.No()
}

// unlisted tells whether a line is of a watch that fails, which is no work: client-go, tools/cache/reflector.go.
func unlisted(line string) bool {
	return strings.Contains(line, "ailed to list *") || strings.Contains(line, "ailed to watch")
}

// overdue tells whether a pod waits on its node for an attachment that nothing but the
// attacher keeps from being made.
func (a Attacher) overdue(va *storagev1.VolumeAttachment) bool {
	x, v, node := a.pl.X, a.pl.Volume, va.Spec.NodeName
	if csi.NotRegistered(a.pl.On(node), node, a.Driver).Yes() {
		return false // it has no id of the node before the driver is registered there
	}
	pause := holder.DetachBackoff
	if a.said() {
		pause = time.Minute
	}
	return va.DeletionTimestamp == nil && x.Age(va.CreationTimestamp.Time) > pause+callTimeout(a.Leader) && len(holder.WaitersOn(v, node)) > 0 &&
		x.Node(node) != nil && v.PV != nil && v.PV.DeletionTimestamp == nil
}

// callTimeout is the time that an attacher gives a call of the driver: --timeout, some minutes for slow clouds, 15
// seconds where none is given (external-attacher: cmd/csi-attacher/main.go).
func callTimeout(pod *corev1.Pod) time.Duration {
	for _, c := range pod.Spec.Containers {
		for _, a := range append(slices.Clone(c.Command), c.Args...) {
			value, ok := strings.CutPrefix(strings.TrimLeft(a, "-"), "timeout=")
			if d, err := time.ParseDuration(value); ok && err == nil && strings.Contains(c.Name+c.Image, "attacher") {
				return d
			}
		}
	}
	return 15 * time.Second
}

// Nowhere asks whether no attacher of a driver that asks for attachments can be found while
// somebody waits for what nobody does. It may run outside the cluster.
func (a Attacher) Nowhere() evidence.Answer {
	if len(a.Pods)+len(a.Workloads) > 0 || !a.Slow || a.object == nil || !a.missed() || !a.said() && !a.old() || a.works() {
		return evidence.No()
	}
	return evidence.Resource(a.pl.X, "/pods").Nothing()
}

// said tells whether the attach-detach controller gave up waiting for the attacher.
func (a Attacher) said() bool {
	return slices.ContainsFunc(a.pl.Refused(), func(t evidence.Text) bool { return strings.Contains(t.Raw, "external-attacher") })
}

// old tells whether an attachment has been silent for longer than any back-off.
func (a Attacher) old() bool {
	return slices.ContainsFunc(a.Silent, func(va *storagev1.VolumeAttachment) bool {
		return a.pl.X.Age(va.CreationTimestamp.Time) > holder.DetachBackoff
	})
}

// missed tells whether somebody waits for what nobody does: a pod, or a deletion.
func (a Attacher) missed() bool {
	return len(a.pl.Volume.Waiting()) > 0 || slices.ContainsFunc(a.pl.Volume.Attachments, func(va *storagev1.VolumeAttachment) bool { return va.DeletionTimestamp != nil })
}

// wantedAt is when somebody wanted an attachment to be made, or to go.
func wantedAt(va *storagev1.VolumeAttachment) time.Time {
	if d := va.DeletionTimestamp; d != nil {
		return d.Time
	}
	return va.CreationTimestamp.Time
}

// works tells whether an attachment of the driver got a result that is younger than one
// which nobody acted on, or an error since then: somebody attaches, and one volume is slow, or waits for its turn
// (external-attacher's --worker-threads).
func (a Attacher) works() bool {
	oldest := wantedAt(a.Silent[0])
	for _, va := range a.Silent {
		if at := wantedAt(va); at.Before(oldest) {
			oldest = at
		}
	}
	return slices.ContainsFunc(a.pl.X.Cluster.Attachments, func(va *storagev1.VolumeAttachment) bool {
		answered, e := va.Status.Attached || va.Status.AttachError != nil, failed(va)
		return va.Spec.Attacher == a.Driver && (answered && va.CreationTimestamp.After(oldest) || e != nil && e.Time.After(oldest))
	})
}

// Log asks what the attacher says, in each pod that may lead: a log that was not read may tell of a slow driver.
func (a Attacher) Log() evidence.Answer {
	for _, p := range a.Pods {
		read := evidence.Log(a.pl.X, p.Namespace, p.Name)
		if read.Complete() && !slices.ContainsFunc(a.pl.X.LogsOf(p.Namespace, p.Name), func(l snapshot.Log) bool { return strings.Contains(l.Container, "attacher") }) {
			read = evidence.Partial(evidence.Lack{Need: "logs/" + p.Namespace + "/" + p.Name + "/" + a.Sidecar.Name, Why: snapshot.NotRequested})
		}
		if !read.Complete() {
			return read.Nothing()
		}
	}
	return evidence.Reading{}.Nothing()
}

// Outside asks whether an attacher runs outside of the cluster, which nothing here shows.
func (a Attacher) Outside() evidence.Answer {
	return evidence.Unseen(evidence.Lack{Need: "whether an attacher of driver " + a.Driver + " runs outside the cluster", Why: "nothing in the cluster shows it"})
}
