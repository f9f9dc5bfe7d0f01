package disk

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestMountedByHost: a mount of the disk in the table of process 1 is the host's own unless
// the kubelet, the runtime, or a pod that mounts for the host made it; where pods could not
// be read, who made it stays open.
func TestMountedByHost(t *testing.T) {
	t.Parallel()
	both := corev1.MountPropagationBidirectional
	pod := func(dir string, mode *corev1.MountPropagationMode) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "p", UID: "u"}, Spec: corev1.PodSpec{
			NodeName:   "n",
			Volumes:    []corev1.Volume{{Name: "d", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: dir}}}},
			Containers: []corev1.Container{{Name: "c", VolumeMounts: []corev1.VolumeMount{{Name: "d", MountPath: "/d", MountPropagation: mode}}}},
		}}
	}
	for name, tt := range map[string]struct {
		point string
		pods  []*corev1.Pod
		gaps  []snapshot.Gap
		want  string
		alone string
	}{
		"an administrator's":             {point: "/mnt/restore", want: "yes", alone: "yes"},
		"the kubelet's":                  {point: "/var/lib/kubelet/plugins/kubernetes.io/csi/d/1/globalmount", want: "no", alone: "unseen"},
		"the runtime's":                  {point: "/run/containerd/io.containerd/rootfs", want: "no", alone: "unseen"},
		"a storage pod's":                {point: "/opt/store/mnt/1", pods: []*corev1.Pod{pod("/opt/store", &both)}, want: "no", alone: "unseen"},
		"beside a pod's directory":       {point: "/opt/store2", pods: []*corev1.Pod{pod("/opt/store", &both)}, want: "yes", alone: "yes"},
		"a pod that only reads there":    {point: "/opt/store/1", pods: []*corev1.Pod{pod("/opt/store", nil)}, want: "yes", alone: "yes"},
		"pods could not be read":         {point: "/mnt/restore", gaps: []snapshot.Gap{{Need: "api//pods", Reason: snapshot.Forbidden}}, want: "yes", alone: "unseen"},
		"below another kubelet's layout": {point: "/data/k8s/pods/1/volumes/x", want: "no", alone: "unseen"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &probes.Facts{
				Identity:   probes.Identity{InitMntNS: 1},
				Namespaces: []probes.MountNamespace{{ID: 1, PIDs: []int{1}, TablePID: 1, Mounts: []probes.Mount{{Dev: sdc, Point: tt.point, Raw: "line"}}}},
				Processes:  []probes.Process{{PID: 1, MntNS: 1}},
				Block:      []probes.BlockDevice{{Name: "sdc", Dev: sdc}},
			}
			x := snapshot.NewIndex(&snapshot.Snapshot{Cluster: snapshot.Cluster{Pods: tt.pods}, Gaps: tt.gaps, Nodes: map[string]*snapshot.NodeRecord{"n": {Name: "n", Facts: f}}})
			pl := &evidence.Place{X: x, Node: "n", View: x.View("n"), Volume: &snapshot.Volume{}}
			tower := &Tower{pl: pl, Device: snapshot.VolumeDevice{Node: "n", View: pl.View, Dev: sdc, Block: pl.View.Device(sdc)}}
			m := tower.mountedByHost()
			if got := m.Is.String(); got != tt.want {
				t.Errorf("mounted by the host: %s, want %s", got, tt.want)
			}
			if got := m.Alone.String(); got != tt.alone {
				t.Errorf("no pod mounts there: %s, want %s", got, tt.alone)
			}
		})
	}
}
