package diagnosis

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// retried is how long the kubelet waits at most before it tries a mount again (2m2s), and a little.
const retried = 130 * time.Second

// answered makes history of what a driver answered before its plugin on that node was started anew: who was asked
// is gone, and with it what it had read. It may be so still, therefore it is the last word to the patient.
func (t *texts) answered(v *snapshot.Volume, c *snapshot.Consumer, said []Text) []Text {
	since := t.pluginSince(v.CSIName(), c.Node())
	before := func(x *Text) bool {
		return x.Source == "event" && x.Fresh && !x.Aged && !slices.Contains(silent, x.Code) && (x.Mounts() && x.At.Before(since) || t.repeats(v, x))
	}
	own := false
	for i := range said {
		if !before(&said[i]) {
			continue
		}
		if !own { // the list is the pod's, too
			said, own = slices.Clone(said), true
		}
		x := &said[i]
		x.Aged, x.Fresh = true, t.x.IsPatient()
		t.standing[spoken{x.Locator, x.Raw}] = x.At
	}
	return said
}

// repeats tells whether the controller manager says once more what an attacher wrote down that is gone: it reads the
// error of an attachment each time it is to attach (csi_attacher.go in pkg/volume/csi).
func (t *texts) repeats(v *snapshot.Volume, x *Text) bool {
	return x.Component == "attachdetach-controller" && slices.ContainsFunc(v.Attachments, func(va *storagev1.VolumeAttachment) bool {
		return slices.ContainsFunc([]*storagev1.VolumeError{va.Status.AttachError, va.Status.DetachError}, func(e *storagev1.VolumeError) bool {
			return e != nil && e.Message != "" && strings.Contains(x.Raw, e.Message) && t.renewed(va.Spec.Attacher, e.Time.Time)
		})
	})
}

// renewed tells whether every attacher of a driver was started later than a moment, and none of them ends each time.
func (t *texts) renewed(driver string, than time.Time) bool {
	all := t.x.SidecarPods(driver, "csi-attacher")
	return !than.IsZero() && len(all) > 0 && !slices.ContainsFunc(all, func(pod *corev1.Pod) bool {
		return !slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
			r := c.State.Running
			return c.Name == "csi-attacher" && r != nil && r.StartedAt.After(than) && (c.RestartCount == 0 || t.x.Age(r.StartedAt.Time) >= retried)
		})
	})
}

// silent are the codes with which nobody of the driver has answered, or has not done so yet; the
// kubelet's own words have none.
var silent = []string{"", "Unavailable", "DeadlineExceeded", "Canceled", "Aborted"}

// pluginSince is when all of the plugin of a driver on a node was started, if it is ready; never where a part was
// started again a moment ago, as one is that ends each time.
func (t *texts) pluginSince(driver, node string) time.Time {
	pod := t.x.DriverPodOn(driver, node)
	if pod == nil || !snapshot.PodReady(pod) {
		return time.Time{}
	}
	var since time.Time
	for _, s := range pod.Status.ContainerStatuses {
		if s.State.Running == nil || s.RestartCount > 0 && t.x.Age(s.State.Running.StartedAt.Time) < retried {
			return time.Time{}
		}
		if at := s.State.Running.StartedAt.Time; since.IsZero() || at.Before(since) {
			since = at
		}
	}
	return since
}
