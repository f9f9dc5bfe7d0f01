package around

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestTaken: a complaint names a disk that another volume has mounted.
func TestTaken(t *testing.T) {
	t.Parallel()
	pv := func(name string) *corev1.PersistentVolume {
		return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{
			CSI: &corev1.CSIPersistentVolumeSource{Driver: "d.example.com", VolumeHandle: "h-" + name}}}}
	}
	at := func(point string) probes.Mount {
		return probes.Mount{ID: 31, Line: 2, Dev: probes.Dev{Major: 8, Minor: 16}, Root: "/", Point: point, FSType: "ext4", Source: "/dev/sdb", Raw: "31 21 8:16 / " + point + " rw - ext4 /dev/sdb rw"}
	}
	const pod = "/var/lib/kubelet/pods/0f1a/volumes/kubernetes.io~csi/"
	for _, c := range []struct {
		name  string
		point string
		text  evidence.Text
		want  string
	}{
		{"of another volume", pod + "pv-b/mount", evidence.Text{Raw: "mount failed: Can't open '/dev/sdb'", Fresh: true}, "/dev/sdb (8:16) is mounted for volume pv-b"},
		{"its own", pod + "pv-a/mount", evidence.Text{Raw: "mount failed: Can't open '/dev/sdb'", Fresh: true}, ""},
		{"said of another node", pod + "pv-b/mount", evidence.Text{Raw: "mount failed: Can't open '/dev/sdb'", Fresh: true, Node: "other"}, ""},
		{"said long ago", pod + "pv-b/mount", evidence.Text{Raw: "mount failed: Can't open '/dev/sdb'"}, ""},
		{"another disk", pod + "pv-b/mount", evidence.Text{Raw: "mount failed: Can't open '/dev/sdc'", Fresh: true}, ""},
	} {
		c.text.Failure = message.Parse(c.text.Raw)
		facts := &probes.Facts{Identity: probes.Identity{InitMntNS: 1}, Block: []probes.BlockDevice{{Name: "sdb", Dev: probes.Dev{Major: 8, Minor: 16}}},
			Namespaces: []probes.MountNamespace{{ID: 1, PIDs: []int{1}, TablePID: 1, Mounts: []probes.Mount{at(c.point)}}}}
		x := snapshot.NewIndex(&snapshot.Snapshot{TakenAt: time.Unix(1060, 0), Cluster: snapshot.Cluster{PVs: []*corev1.PersistentVolume{pv("pv-a"), pv("pv-b")}},
			Nodes: map[string]*snapshot.NodeRecord{"n": {Name: "n", Facts: facts}}})
		got := ""
		for _, e := range Taken(x, x.VolumeOfPV("pv-a"), "n", []evidence.Text{c.text}) {
			got += e.Text
		}
		if (c.want == "") != (got == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
