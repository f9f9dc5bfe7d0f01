package around

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

// TestUnstaged: a disk that is attached and published without having been staged.
func TestUnstaged(t *testing.T) {
	t.Parallel()
	stage := func(handle string) string {
		return "/var/lib/kubelet/plugins/kubernetes.io/csi/d.example.com/" + handle + "/globalmount"
	}
	name := "pv-a"
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{
		CSI: &corev1.CSIPersistentVolumeSource{Driver: "d.example.com", VolumeHandle: "h"}}}}
	// sha256 of "h", and one of another volume
	own, other := stage("aaa9402664f1a41f40ebbc52c9993eb66aeb366602958fdfaa283b71e64db123"), stage("0000000000000000000000000000000000000000000000000000000000000000")
	said := []evidence.Text{{Raw: "volume does not appear staged", Fresh: true}}
	for what, c := range map[string]struct {
		step, point string
		attached    bool
		texts       []evidence.Text
		want        bool
	}{
		"its driver stages others":        {"publish", other, true, nil, true},
		"its driver says so":              {"publish", "/mnt", true, said, true},
		"nobody knows whether it stages":  {"publish", "/mnt", true, nil, false},
		"it is staged":                    {"publish", own, true, said, false},
		"it is not attached":              {"publish", other, false, said, false},
		"staging is the step which fails": {"stage", other, true, said, false},
	} {
		mount := probes.Mount{ID: 31, Line: 2, Dev: probes.Dev{Major: 8, Minor: 16}, Root: "/", Point: c.point, FSType: "ext4", Source: "/dev/sdb", Raw: "31 21 8:16 / " + c.point + " rw - ext4 /dev/sdb rw"}
		facts := &probes.Facts{Identity: probes.Identity{InitMntNS: 1}, Namespaces: []probes.MountNamespace{{ID: 1, PIDs: []int{1}, TablePID: 1, Mounts: []probes.Mount{mount}}}}
		x := snapshot.NewIndex(&snapshot.Snapshot{TakenAt: time.Unix(1060, 0), Nodes: map[string]*snapshot.NodeRecord{"n": {Name: "n", Facts: facts}}, Cluster: snapshot.Cluster{PVs: []*corev1.PersistentVolume{pv},
			Attachments: []*storagev1.VolumeAttachment{{ObjectMeta: metav1.ObjectMeta{Name: "va"}, Spec: storagev1.VolumeAttachmentSpec{Attacher: "d.example.com", NodeName: "n",
				Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name}}, Status: storagev1.VolumeAttachmentStatus{Attached: c.attached}}}}})
		if got := len(Unstaged(x, x.VolumeOfPV(name), "n", c.step, c.texts)) > 0; got != c.want {
			t.Errorf("%s: %t", what, got)
		}
	}
}
