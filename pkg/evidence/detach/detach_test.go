package detach

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// scene is one volume that is attached to node n, which no pod uses there.
func scene(change func(*snapshot.Snapshot)) *snapshot.Index {
	pv := "pv"
	s := &snapshot.Snapshot{TakenAt: noon, Server: "v1.31.0", Nodes: map[string]*snapshot.NodeRecord{}}
	s.Cluster.Nodes = []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}}}}
	s.Cluster.PVs = []*corev1.PersistentVolume{{ObjectMeta: metav1.ObjectMeta{Name: pv}, Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "d.example", VolumeHandle: "h"}}}}}
	s.Cluster.Attachments = []*storagev1.VolumeAttachment{{ObjectMeta: metav1.ObjectMeta{Name: "csi-1"}, Spec: storagev1.VolumeAttachmentSpec{NodeName: "n", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &pv}}, Status: storagev1.VolumeAttachmentStatus{Attached: true}}}
	change(s)
	return snapshot.NewIndex(s)
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	free := func(x *snapshot.Index) evidence.Answer { _, free := To(x, "n"); return free.Any(x) }
	lives := func(x *snapshot.Index) evidence.Answer { _, a := Lives(x, "n"); return a }
	unneeded := func(x *snapshot.Index) evidence.Answer { a, _ := Unneeded(x); return a }
	recorded := func(off time.Duration) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.Nodes["n"] = &snapshot.NodeRecord{Name: "n", Facts: &probes.Facts{Identity: probes.Identity{Clock: noon.Add(off)}, Processes: []probes.Process{{PID: 7, Comm: "postgres", PodUID: "gone"}}}}
		}
	}
	gap := func(need string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.Gaps = []snapshot.Gap{{Need: need, Reason: snapshot.Forbidden}} }
	}
	none := func(*snapshot.Snapshot) {}
	server := func(v string) func(*snapshot.Snapshot) { return func(s *snapshot.Snapshot) { s.Server = v } }
	for name, c := range map[string]struct {
		ask    func(*snapshot.Index) evidence.Answer
		change func(*snapshot.Snapshot)
		want   string
	}{
		"attached, no pod": {free, none, "yes"},
		"being detached":   {free, func(s *snapshot.Snapshot) { s.Cluster.Attachments[0].DeletionTimestamp = &metav1.Time{Time: noon} }, "no"},
		"attachments unread": {free, func(s *snapshot.Snapshot) {
			gap("api/storage.k8s.io/volumeattachments")(s)
			s.Cluster.Attachments = nil
		}, "unseen"},
		"pods unread":          {unneeded, gap("api//pods"), "unseen"},
		"a process of a pod":   {lives, recorded(time.Minute), "yes"},
		"an old recording":     {lives, recorded(-time.Hour), "unseen"},
		"no recording":         {lives, none, "unseen"},
		"a new server":         {SparesNobody, none, "no"},
		"an old server":        {SparesNobody, server("v1.25.3+k3s1"), "yes"},
		"a server of a vendor": {SparesNobody, server("v1.27+"), "no"},
		"an unknown server":    {SparesNobody, server(""), "no"},
		"it does not report":   {func(x *snapshot.Index) evidence.Answer { return Silent(x, "n") }, none, "yes"},
		"an unknown node":      {func(x *snapshot.Index) evidence.Answer { return Silent(x, "other") }, none, "no"},
	} {
		if got := c.ask(scene(c.change)).String(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
