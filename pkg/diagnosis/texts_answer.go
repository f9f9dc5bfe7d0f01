package diagnosis

import (
	"slices"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// retried is how long the kubelet waits at most before it tries a mount again (2m2s), and a little.
const retried = 130 * time.Second

// answered makes history of what a driver answered before its plugin on that node was started anew: who was asked
// is gone, and with it what it had read. It may be so still, therefore it is the last word to the patient.
func (t *texts) answered(v *snapshot.Volume, c *snapshot.Consumer, said []Text) []Text {
	since := t.pluginSince(v.CSIName(), c.Node())
	if since.IsZero() {
		return said
	}
	before := func(x *Text) bool {
		return x.Source == "event" && x.Mounts() && x.Fresh && !x.Aged && x.At.Before(since) && !slices.Contains(silent, x.Code)
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
