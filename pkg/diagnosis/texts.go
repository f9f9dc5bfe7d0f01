package diagnosis

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// freshText is how long a text that is no event speaks of the present; the longest
// back-off of a retry is half of it (attacher 5 min, kubelet 2m2s).
const freshText = 10 * time.Minute

// texts holds what was said about each volume of a question.
type texts struct {
	byNode   map[string][]Text // made when first asked for
	x        *snapshot.Index
	byVolume map[*snapshot.Volume][]Text
	byPod    map[*corev1.Pod][]Text
	parsed   map[string]message.Failure // retries repeat the same words
	standing map[spoken]time.Time       // events that are not fresh any more and stand
}

// spoken is where something was said, and what.
type spoken struct{ locator, raw string }

func newTexts(x *snapshot.Index, s scope) *texts {
	t := &texts{x: x, byVolume: map[*snapshot.Volume][]Text{}, byPod: map[*corev1.Pod][]Text{}, parsed: map[string]message.Failure{}, standing: map[spoken]time.Time{}}
	for _, v := range s.volumes {
		t.fromPods(v)
		t.fromObjects(v)
		t.fromAttachments(v)
		t.fromLonghorn(v)
	}
	t.fromNodeEvents(s)
	t.fromLogs(s)
	for v, list := range t.byVolume {
		list = outspoken(t.age(v, list))
		if !slices.IsSortedFunc(list, newerText) {
			list = slices.Clone(list)
			slices.SortStableFunc(list, newerText)
		}
		t.byVolume[v] = slices.CompactFunc(list, twice) // the list of a pod has none
	}
	return t
}

func twice(a, b Text) bool { return a.Raw == b.Raw && a.Locator == b.Locator && a.At.Equal(b.At) }

// age makes history of what was said before the pods that use the volume on that node
// now were started there: they got it, whatever was wrong before. And of what was said
// while its PersistentVolume was not made yet.
func (t *texts) age(v *snapshot.Volume, list []Text) []Text {
	return stale(list, func(x *Text) bool {
		return x.Source != "api" && (x.Node != "" && v.ServedSince(x.Node, x.At) || isMade(v, x))
	})
}

// stale makes history of texts that are past. The list is the pod's, too: what changes is a
// copy.
func stale(list []Text, past func(*Text) bool) []Text {
	own := false
	for i := range list {
		if list[i].Fresh && past(&list[i]) {
			if !own {
				list, own = slices.Clone(list), true
			}
			list[i].Fresh = false
		}
	}
	return list
}

// outspoken makes history of events that stand, where the same was complained about in other words since.
func outspoken(list []Text) []Text {
	return stale(list, func(x *Text) bool {
		return x.Aged && slices.ContainsFunc(list, func(y Text) bool {
			return y.Fresh && !y.Aged && y.Source != "log" && (y.Op != "" || y.Code != "" || y.Reason == "attachError") &&
				!y.OfContainer() && !y.Is(message.MountTimeout) && (x.Node == "" || y.Node == "" || x.Node == y.Node)
		})
	})
}

// isMade tells whether a text speaks of making a volume that was made since.
func isMade(v *snapshot.Volume, x *Text) bool {
	if v.PV == nil || v.Claim == nil || v.Claim.Status.Phase != corev1.ClaimBound {
		return false
	}
	return x.Reason == "ProvisioningFailed" || x.Is(message.ProvisionFailed) || x.Source == "log" && !x.At.IsZero() && x.At.Before(v.PV.CreationTimestamp.Time)
}

func (t *texts) of(v *snapshot.Volume) []Text { return t.byVolume[v] }

// newerText sorts the newest first; what has no time speaks of the present.
func newerText(a, b Text) int {
	if c := b.At.Compare(a.At); c != 0 {
		return c
	}
	if c := strings.Compare(a.Locator, b.Locator); c != 0 {
		return c
	}
	return strings.Compare(a.Raw, b.Raw)
}

// add parses and keeps a text about a volume.
func (t *texts) add(v *snapshot.Volume, x Text) {
	if strings.TrimSpace(x.Raw) != "" {
		t.byVolume[v] = append(t.byVolume[v], t.parse(x))
	}
}

func (t *texts) parse(x Text) Text {
	f, ok := t.parsed[x.Raw]
	if !ok {
		f = message.Parse(x.Raw)
		t.parsed[x.Raw] = f
	}
	x.Failure = f
	if x.Node == "" {
		x.Node = x.OnNode
	}
	return x
}

// fromPods takes what was said about the volume's pods. Of a pod with several
// volumes, a text that names another one is left out.
func (t *texts) fromPods(v *snapshot.Volume) {
	for _, c := range v.Consumers {
		others := t.othersOf(v, c)
		changed := t.x.VolumeChanged(v, c.Pod.Spec.NodeName)
		said := t.ofPod(c.Pod)
		if other := func(x Text) bool {
			// One that is mounted for a volume the pod's specification does not have (a token of old) is another one, too; an
			// inline source may be called after what it was translated to.
			return namesOnly(x.Raw, others) || (x.Source == "api" || !v.Inline && v.PV != nil && x.Op != "") && x.Spec != "" && x.Spec != c.Volume && x.Spec != v.PVName()
		}; slices.ContainsFunc(said, other) {
			said = slices.DeleteFunc(slices.Clone(said), other)
		}
		said = stale(said, func(x *Text) bool {
			return x.Source == "event" && (!changed.IsZero() && !x.At.After(changed) || x.Reason == "FailedAttachVolume" && t.attachedSince(v, c.Node()) ||
				x.Reason == "FailedScheduling" && c.Node() != "" ||
				snapshot.BeforeSandbox(x.Reason) && (t.has(v, c) && !ofUse(x) || isUnmade(v)))
		})
		said = t.answered(v, c, said)
		if known := t.byVolume[v]; len(known) > 0 {
			said = slices.Concat(known, said)
		}
		if len(said) > 0 {
			t.byVolume[v] = slices.Clip(said)
		}
	}
}

// has tells whether a pod has a volume: the kubelet begins containers with all volumes mounted, the
// node shows the mount, and a driver is asked again only where it wants that
// (CSIDriver spec.requiresRepublish, KEP 1855). What an event says of mounting it is past then, or forged.
func (t *texts) has(v *snapshot.Volume, c *snapshot.Consumer) bool {
	d := t.x.CSIDriver(v.CSIName())
	again := d != nil && d.Spec.RequiresRepublish != nil && *d.Spec.RequiresRepublish
	if again || !c.Live() || !snapshot.PodBegun(c.Pod) {
		return false
	}
	at := evidence.Place{X: t.x, Volume: v, Node: c.Node()}
	return at.Published(c)
}

// ofUse tells whether a text speaks of a volume that is mounted.
func ofUse(x *Text) bool {
	return slices.ContainsFunc([]message.Kind{message.FsckMounted, message.StaleHandle, message.InputOutputError, message.NotConnected, message.ReadOnlyFilesystem, message.DeviceBusy}, x.Is)
}

// isUnmade tells whether a claim has no volume yet, so that nobody attaches or mounts one.
func isUnmade(v *snapshot.Volume) bool {
	return v.PV == nil && v.Claim != nil && v.Claim.Spec.VolumeName == ""
}

// attachedSince tells whether a volume is attached to a node, as its VolumeAttachment says, so
// that a failure to attach it is past; or never is, because its driver attaches nothing.
func (t *texts) attachedSince(v *snapshot.Volume, node string) bool {
	if va := v.AttachmentOn(node); va != nil {
		return va.Status.Attached && va.DeletionTimestamp == nil
	}
	return v.CSIName() != "" && !v.AttachRequired(t.x)
}

// othersOf lists words that mean another volume of the same pod.
func (t *texts) othersOf(v *snapshot.Volume, c *snapshot.Consumer) []string {
	var out []string
	for _, o := range t.x.VolumesOfPod(c.Pod) {
		if o != v && o.PVName() != "" {
			out = append(out, `for volume "`+o.PVName()+`"`)
		}
	}
	for _, pv := range c.Pod.Spec.Volumes {
		if pv.Name != c.Volume {
			out = append(out, `for volume "`+pv.Name+`"`)
		}
	}
	return out
}

func namesOnly(text string, others []string) bool {
	return evidence.ContainsAny(text, others...)
}

func (t *texts) event(e *snapshot.Event, changed time.Time) Text {
	object := e.Kind + " " + e.ObjName
	if e.ObjNamespace != "" && e.Kind != "Node" && e.Kind != "PersistentVolume" && e.Kind != "VolumeAttachment" {
		object = e.Kind + " " + e.ObjNamespace + "/" + e.ObjName
	}
	x := Text{
		Source: "event", Component: e.Component, Locator: "Event " + object + " " + e.Reason, Node: e.Host, Reason: e.Reason,
		At: e.Last, Raw: e.Message, Fresh: t.x.Fresh(e, changed), Aged: t.x.Standing(e, changed),
	}
	if goesWell(e) {
		x.Ordinary, x.Fresh, x.Aged = true, false, false
	}
	if x.Aged {
		t.standing[spoken{x.Locator, x.Raw}] = x.At
	}
	return x
}
