package slots

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// exhausted is how attachers and backends say that no place is left, numbered those of
// these words that speak of a number: the code alone is said of other things, too, and vSphere
// misses a controller where its four are full (vsphere-csi-driver issues 468 and 847).
var exhausted, numbered = pattern.MustCompile(`ResourceExhausted|errorCode: 8\b|missing SCSI controller|` + ofNumber), pattern.MustCompile(ofNumber)

const ofNumber = `(?:Attachment|Disk)LimitExceeded|(?i:max(?:imum)? (?:allowed )?number of|attach \[?\d+\]? (?:volumes|disks) to one|all LUNs are used|no free disk device names|exceed the limit attachments|attach(?:ment|ed)? (?:volumes? )?limit|limit (?:on|of|for) (?:max(?:imum)? )?(?:attached )?(?:volumes|disks)|maximum_persistent_disks|scsi controllers? (?:limit of \d+ has been reached|reached limit)|(?:volumes?|disks?) limit (?:\(\d+\) )?(?:(?:has been|is|was) )?(?:reached|exceeded)|max(?:imum)? (?:data )?(?:volumes|disks) (?:already )?(?:attached|reached|exceeded))`

// otherwise are other uses of the same code: sizes of messages, rates, quotas of projects.
var otherwise = pattern.MustCompile(`received message larger than max|trying to send message larger|[Qq]uota|too many requests`)

// fresh is how long an attachError speaks of the present: the attacher tries again at
// least every five minutes.
const fresh = 10 * time.Minute

// SaysNone tells whether a text of an attach says that there is no place left.
func SaysNone(t evidence.Text) bool {
	attach := t.Attaches() || strings.Contains(strings.ToLower(t.Raw), "attach")
	return attach && exhausted.MatchString(t.Raw) && !otherwise.MatchString(t.Raw) && !t.Is(message.Throttled)
}

// saidNone asks for the backend's fresh word that no place is left on a node. Creating and
// resizing a volume have the same code.
func saidNone(pl *evidence.Place, node string) evidence.Answer {
	if said := pl.Refused().Say(func(t evidence.Text) bool { return (t.Node == "" || t.Node == node) && SaysNone(t) }); said.Yes() {
		return said
	}
	if va := pl.Volume.AttachmentOn(node); va != nil {
		if fact, ok := codeNone(pl.X, va); ok {
			return evidence.Yes(fact)
		}
	}
	return evidence.Unseen(evidence.Lack{Need: "the backend's own word that no place is left", Node: node, Why: "there is none"})
}

// saidOther asks whether the backend refuses the attach with words that are not about places.
func saidOther(pl *evidence.Place, node string) evidence.Answer {
	return pl.Refused().Say(func(t evidence.Text) bool {
		return t.Reason == "attachError" && (t.Node == "" || t.Node == node) && !SaysNone(t) && !hanging(t) && !t.Is(message.Throttled)
	})
}

// attacherAgrees asks whether the attachment's own error, as far as it has one, says so, too: an event only copies
// it (pkg/volume/csi/csi_attacher.go), and whoever may write events in the pod's namespace can write another.
func attacherAgrees(pl *evidence.Place, node string) evidence.Answer {
	va := pl.Volume.AttachmentOn(node)
	if va == nil || va.Status.AttachError == nil || va.Status.AttachError.Message == "" {
		return evidence.Yes()
	}
	if _, ok := codeNone(pl.X, va); ok || exhausted.MatchString(va.Status.AttachError.Message) {
		return evidence.Yes()
	}
	return evidence.Unseen(evidence.Lack{Need: "the backend's own word that no place is left", Node: node, Why: "VolumeAttachment " + va.Name + " has another error"})
}

// codeNone is the attacher's code where its words do not say it: ResourceExhausted is 8.
func codeNone(x *snapshot.Index, va *storagev1.VolumeAttachment) (report.Evidence, bool) {
	const resourceExhausted = 8
	e := va.Status.AttachError
	if e == nil || e.ErrorCode == nil || *e.ErrorCode != resourceExhausted || x.Age(e.Time.Time) >= fresh || otherwise.MatchString(e.Message) {
		return report.Evidence{}, false
	}
	return evidence.FromAPI("VolumeAttachment "+va.Name, "status.attachError", fmt.Sprintf("errorCode %d: %s", *e.ErrorCode, e.Message)), true
}

// Hangs asks for the driver's fresh word that a volume is on its way to a node and does
// not arrive, whatever the reason.
func Hangs(pl *evidence.Place, node string) evidence.Answer {
	for _, t := range pl.Refused() {
		if t.Node != "" && t.Node != node {
			continue
		}
		if hanging(t) {
			return evidence.Yes(t.Evidence())
		}
	}
	return evidence.No()
}

func hanging(t evidence.Text) bool {
	return t.Is(message.Deadline) || strings.Contains(t.Raw, "attaching") || strings.Contains(t.Raw, "DeadlineExceeded") || strings.Contains(t.Raw, "Could not attach")
}

// NotAttached asks whether a pod waits on a node for a volume that is not attached there,
// and that the API wants there.
func NotAttached(pl *evidence.Place, node string) evidence.Answer {
	if pl.X.ReportedAttached(node, pl.Volume) {
		return evidence.No()
	}
	va := pl.Volume.AttachmentOn(node)
	if va == nil {
		return evidence.When(pl.Volume.PV != nil && pl.Volume.PV.Spec.CSI == nil)
	}
	return evidence.When(!va.Status.Attached, evidence.FromAPI("VolumeAttachment "+va.Name, "status.attached", "false"))
}

// without asks which volumes of a driver a pod without a node needs, and whether the
// scheduler's last word is that nodes have too many volumes (filter NodeVolumeLimits).
func without(pl *evidence.Place, pod *corev1.Pod) (need []*snapshot.Volume, words string, a evidence.Answer) {
	need = evidence.Keep(pl.X.VolumesOfPod(pod), func(v *snapshot.Volume) bool { return Driver(v) == Driver(pl.Volume) })
	name := "Pod " + pod.Namespace + "/" + pod.Name
	const tooMany = "exceed max volume count"
	if why, ok := pods.Unscheduled(pod); ok {
		return need, why, evidence.When(strings.Contains(why, tooMany), evidence.FromAPI(name, "status.conditions[PodScheduled]", why))
	}
	events := pl.X.Events("Pod", pod.Namespace, pod.Name)
	for i := len(events) - 1; i >= 0; i-- {
		if e := events[i]; e.Reason == "FailedScheduling" {
			return need, e.Message, evidence.When(strings.Contains(e.Message, tooMany), evidence.FromEvent(name, e))
		}
	}
	return need, "", evidence.No()
}

// severalReasons tells whether the scheduler turned nodes down for different reasons. If
// not, a node with room contradicts it: the node is newer than the message.
func severalReasons(words string) bool {
	words, _, _ = strings.Cut(words, "preemption:")
	return strings.Contains(words, ", ")
}

// disksOf counts the disks of a node that are of the make of those which were recognised
// as volumes of the driver there, besides the one that the node itself lives on.
func disksOf(x *snapshot.Index, t Taken, csi string) int {
	view := x.View(t.Node)
	if view == nil {
		return 0
	}
	volumes := evidence.Each(t.Attached, x.VolumeOfPV)
	for _, pod := range x.PodsOn(t.Node) {
		volumes = append(volumes, x.VolumesOfPod(pod)...)
	}
	makes := map[string]bool{}
	for _, v := range volumes {
		if v == nil || v.Driver != csi && v.Driver != t.Plugin {
			continue
		}
		if d, ok := x.DeviceOn(v, t.Node); ok && d.Proven && d.Block != nil && d.Block.Model != "" {
			makes[d.Block.Vendor+d.Block.Model] = true
		}
	}
	return len(slices.DeleteFunc(slices.Clone(view.Facts.Block), func(b probes.BlockDevice) bool {
		return !makes[b.Vendor+b.Model] || !disk.Whole(&b) || disk.System(view, &b)
	}))
}
