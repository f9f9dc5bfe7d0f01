package claims

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Sizes are what a claim asks for, what its volume has in the backend, and what the
// claim got.
func Sizes(pl *evidence.Place) (want, backend, got resource.Quantity) {
	v := pl.Volume
	if v.Claim != nil {
		want, got = v.Claim.Spec.Resources.Requests[corev1.ResourceStorage], v.Claim.Status.Capacity[corev1.ResourceStorage]
	}
	if v.PV != nil {
		backend = v.PV.Spec.Capacity[corev1.ResourceStorage]
	}
	return want, backend, got
}

// Grows asks whether a bound claim asks for more than it got.
func Grows(pl *evidence.Place) evidence.Answer {
	want, _, got := Sizes(pl)
	if pl.Volume.Claim == nil || pl.Volume.PV == nil || got.IsZero() || want.Cmp(got) <= 0 {
		return evidence.No()
	}
	return evidence.Yes(evidence.FromAPI(Object(pl.Volume.Claim), "spec.resources.requests.storage", want.String()),
		evidence.FromAPI(Object(pl.Volume.Claim), "status.capacity.storage", got.String()))
}

// BackendGrown asks whether the PV already has what the claim asks for.
func BackendGrown(pl *evidence.Place) evidence.Answer {
	want, backend, _ := Sizes(pl)
	return evidence.When(!backend.IsZero() && backend.Cmp(want) >= 0,
		evidence.FromAPI("PersistentVolume "+pl.Volume.PVName(), "spec.capacity.storage", backend.String()))
}

// statuses of allocatedResourceStatuses.storage, by who is at work (k8s.io/api core/v1).
var (
	controllerRefused = []string{"ControllerResizeInfeasible", "ControllerResizeFailed"}
	nodeRefused       = []string{"NodeResizeInfeasible", "NodeResizeFailed"}
	nodeAtWork        = []string{"NodeResizePending", "NodeResizeInProgress"}
)

// condition is the fact of a true condition of the claim, or empty.
func condition(c *corev1.PersistentVolumeClaim, name string) report.Evidence {
	for _, k := range c.Status.Conditions {
		if string(k.Type) == name && k.Status == corev1.ConditionTrue {
			return evidence.FromAPI(Object(c), "status.conditions["+name+"]", k.Message)
		}
	}
	return report.Evidence{}
}

// allocated is the fact of a resize status of the claim, or empty.
func allocated(c *corev1.PersistentVolumeClaim, names []string) report.Evidence {
	if s := string(c.Status.AllocatedResourceStatuses[corev1.ResourceStorage]); slices.Contains(names, s) {
		return evidence.FromAPI(Object(c), "status.allocatedResourceStatuses.storage", s)
	}
	return report.Evidence{}
}

// ofResizer tells whether external-resizer said it, or, of a plugin in the tree, kube-controller-manager (volume_expand,
// pkg/controller/volume/expand); kubelet writes events of the same reason.
func ofResizer(t evidence.Text) bool {
	return strings.HasPrefix(t.Component, "external-resizer") || t.Component == "volume_expand"
}

// untouched asks whether nothing shows that the controller's half of an expansion began:
// no condition, no status, no event of the resizer.
func untouched(pl *evidence.Place) evidence.Answer {
	c := pl.Volume.Claim
	for _, name := range []string{"Resizing", "ControllerResizeError", "FileSystemResizePending", "NodeResizeError"} {
		if condition(c, name).Locator != "" {
			return evidence.No()
		}
	}
	if c.Status.AllocatedResourceStatuses[corev1.ResourceStorage] != "" {
		return evidence.No()
	}
	for _, t := range pl.Texts {
		if ofResizer(t) && (t.Reason == "Resizing" || t.Reason == "VolumeResizeFailed" || t.Reason == "FileSystemResizeRequired") {
			return evidence.No()
		}
	}
	return evidence.Resource(pl.X, "/events").Nothing(evidence.FromAPI(Object(c), "status.conditions", "none about a resize"))
}

// Lowered is the size that the driver refused before the request of a claim was lowered, and that it was
// asked for last: the resizer writes what it asks for before it asks (external-resizer, expand_and_recover.go).
func Lowered(c *corev1.PersistentVolumeClaim) (refused resource.Quantity, is bool) {
	refused = c.Status.AllocatedResources[corev1.ResourceStorage]
	return refused, allocated(c, controllerRefused).Locator != "" && refused.Cmp(c.Spec.Resources.Requests[corev1.ResourceStorage]) > 0
}

// Refused asks whether the driver refused to enlarge the volume in the backend: by the
// claim's state, or by the resizer's fresh words that no success followed.
func Refused(pl *evidence.Place) evidence.Answer {
	c := pl.Volume.Claim
	if before, lowered := Lowered(c); lowered {
		want, _, _ := Sizes(pl)
		return evidence.Unseen(evidence.Lack{Need: "what the driver says to " + want.String(), Why: "it was asked for " + before.String() + " last, before the request was lowered"})
	}
	state := evidence.Reading{}.Found(condition(c, "ControllerResizeError"), allocated(c, controllerRefused))
	return withText(pl, state, func(t evidence.Text) bool {
		return t.Reason == "VolumeResizeFailed" && ofResizer(t) && !t.Is(message.Deadline) && !t.Is(message.AbortedPending) // who hangs has refused nothing
	}, "VolumeResizeSuccessful")
}

// GivenUpOnNode asks whether the claim says that a node could not grow the volume.
func GivenUpOnNode(pl *evidence.Place) evidence.Answer {
	c := pl.Volume.Claim
	return evidence.Reading{}.Found(condition(c, "NodeResizeError"), allocated(c, nodeRefused))
}

// RefusedOnNode asks whether kubelet says that the volume could not be grown on the node.
func RefusedOnNode(pl *evidence.Place) evidence.Answer {
	return withText(pl, GivenUpOnNode(pl), func(t evidence.Text) bool {
		return (t.Component == "kubelet" || t.Component == "") && (t.ResizeEvent() || t.Is(message.ResizeFailed))
	}, "FileSystemResizeSuccessful")
}

// withText joins a state with fresh texts of a class, unless a success is newer.
func withText(pl *evidence.Place, state evidence.Answer, fits func(evidence.Text) bool, success string) evidence.Answer {
	var facts []report.Evidence
	for _, t := range pl.Texts { // newest first
		if t.Reason == success {
			break
		}
		if t.Fresh && fits(t) && len(facts) < 2 {
			facts = append(facts, t.Evidence())
		}
	}
	switch {
	case state.Yes():
		return state.With(facts...)
	case len(facts) > 0:
		return evidence.Yes(facts...)
	}
	return state
}

// WaitsForNode asks whether only the node's half is left, for longer than five minutes.
func WaitsForNode(pl *evidence.Place) evidence.Answer {
	c := pl.Volume.Claim
	for _, k := range c.Status.Conditions {
		if k.Type == corev1.PersistentVolumeClaimFileSystemResizePending && k.Status == corev1.ConditionTrue {
			return evidence.When(pl.X.Age(k.LastTransitionTime.Time) > 5*time.Minute, condition(c, string(k.Type)))
		}
	}
	return evidence.Reading{}.Found(allocated(c, nodeAtWork))
}

// SizesOn compares what is on a node with what the claim got, and with what the backend has.
func SizesOn(pl *evidence.Place) disk.Sizes {
	_, backend, got := Sizes(pl)
	return disk.SizesOf(pl, got.Value(), backend.Value())
}

// ToldGrown asks whether a claim has the size that it asks for because a node said that the filesystem has grown: a
// tool that finds the disk as small as before has nothing to do, and says so (resize2fs(8)). When that event is gone,
// paths of a map that do not agree show it.
func ToldGrown(pl *evidence.Place) evidence.Answer {
	if Grows(pl).Yes() {
		return evidence.No()
	}
	_, _, got := Sizes(pl)
	said := pl.Texts.Say(func(t evidence.Text) bool { return t.Reason == "FileSystemResizeSuccessful" && !got.IsZero() })
	return evidence.Any(append([]evidence.Answer{said}, evidence.Each(pl.AtConsumers(), func(at *evidence.Place) evidence.Answer { return SizesOn(at).Uneven() })...)...)
}

// raisedJustNow tells whether the first sign of the raised request is under two minutes old.
func raisedJustNow(pl *evidence.Place) bool {
	ns, name := pl.Volume.ClaimRef()
	for _, e := range pl.X.Events("PersistentVolumeClaim", ns, name) {
		if e.Reason == "ExternalExpanding" && !e.First.IsZero() {
			return pl.X.Age(e.First) < 2*time.Minute
		}
	}
	return false
}

// OfflineOnly tells whether the refusal is that the volume must not be in use.
func OfflineOnly(pl *evidence.Place) bool {
	return slices.ContainsFunc(pl.Refused(), func(t evidence.Text) bool { return t.Is(message.OfflineOnly) })
}
