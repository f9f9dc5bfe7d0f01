package disk

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestPassing: a name makes nobody a scanner whom a pod carries.
func TestPassing(t *testing.T) {
	t.Parallel()
	x := snapshot.NewIndex(&snapshot.Snapshot{})
	v := &snapshot.Volume{PV: &corev1.PersistentVolume{}}
	for name, c := range map[string]struct {
		process probes.Process
		want    bool
	}{
		"udev's scan":         {probes.Process{Comm: "(udev-worker)", Standing: probes.OfHost}, true},
		"not judged":          {probes.Process{Comm: "blkid"}, true},
		"in a pod":            {probes.Process{Comm: "blkid", Standing: probes.OfPod, PodUID: "p1"}, false},
		"a user's":            {probes.Process{Comm: "smartd", Standing: probes.OfOther}, false},
		"the kernel's":        {probes.Process{Comm: "jbd2/sdb-8", Kthread: true}, true},
		"called like it":      {probes.Process{Comm: "jbd2/sdb-8", Standing: probes.OfPod}, false},
		"something else":      {probes.Process{Comm: "postgres", Standing: probes.OfHost}, false},
		"multipathd's daemon": {probes.Process{Comm: "multipathd", Standing: probes.OfHost}, true},
	} {
		if got := Passing(x, v, "n1", &c.process); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
