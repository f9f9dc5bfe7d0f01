package remedy

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestToolbox asks that no tool of a storage system is printed as if it were at hand.
func TestToolbox(t *testing.T) {
	t.Parallel()
	volume := func(driver, cluster string) *snapshot.Volume {
		pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv"}}
		pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: "h", VolumeAttributes: map[string]string{"clusterID": cluster}}
		return snapshot.NewIndex(&snapshot.Snapshot{Cluster: snapshot.Cluster{PVs: []*corev1.PersistentVolume{pv}}}).VolumeOfPV("pv")
	}
	for driver, want := range map[string]string{
		"rook-ceph.rbd.csi.ceph.com/storage": "kubectl -n storage exec deploy/rook-ceph-tools -- ceph osd blocklist ls",
		"rook-ceph.cephfs.csi.ceph.com/":     "kubectl -n rook-ceph exec deploy/rook-ceph-tools -- ceph osd blocklist ls",
		"rbd.csi.ceph.com/0b2c":              "",
		"other.rbd.csi.ceph.com/-A":          "",
	} {
		name, cluster, _ := strings.Cut(driver, "/")
		s := CephLook(volume(name, cluster), "See who is shut out", "ceph", "osd", "blocklist", "ls")
		r, _ := s.Decide(snapshot.NewIndex(&snapshot.Snapshot{}))
		got := strings.Join(r.Commands, "\n")
		if got != want && (want != "" || strings.HasPrefix(got, "ceph")) {
			t.Errorf("%s: %q, want %q", driver, got, want)
		}
		if want == "" && len(r.Commands) == 0 && !strings.Contains(r.Title, "host of Ceph: ceph osd blocklist ls") {
			t.Errorf("%s: %q does not say where", driver, r.Title)
		}
	}
}

// TestSatellite asks that a label, which anyone writes, chooses no pod of a command: the
// satellite lives where the driver's plugin does.
func TestSatellite(t *testing.T) {
	t.Parallel()
	satellite := func(namespace string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "satellite-x", Labels: map[string]string{"app.kubernetes.io/component": "linstor-satellite"}}, Spec: corev1.PodSpec{NodeName: "n"}}
	}
	plugin := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "linstor-csi-node-x"}, Spec: corev1.PodSpec{
		NodeName: "n",
		Containers: []corev1.Container{{Name: "registrar", Args: []string{
			"--csi-address=/csi/csi.sock", "--kubelet-registration-path=/var/lib/kubelet/plugins/linstor.csi.linbit.com/csi.sock",
		}}},
	}}
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: plugin.Namespace, Name: "linstor-csi-node", UID: "u"}, Spec: appsv1.DaemonSetSpec{Template: corev1.PodTemplateSpec{Spec: plugin.Spec}}}
	yes := true
	plugin.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: set.Name, UID: set.UID, Controller: &yes}}
	for name, pods := range map[string][]*corev1.Pod{
		"none":                                {plugin},
		"a tenant's":                          {plugin, satellite("tenant")},
		"one, and no plugin known":            {satellite(metav1.NamespaceSystem)},
		"one beside the plugin":               {plugin, satellite(metav1.NamespaceSystem)},
		"one beside the plugin and another's": {satellite("a-tenant"), plugin, satellite(metav1.NamespaceSystem)},
	} {
		x := snapshot.NewIndex(&snapshot.Snapshot{Cluster: snapshot.Cluster{Pods: pods, DaemonSets: []*appsv1.DaemonSet{set}}})
		got := OnSatellite(x, "n", "drbdsetup", "status", "r0", "--verbose")
		if strings.HasPrefix(name, "one beside") {
			if want := "kubectl -n kube-system exec satellite-x -- drbdsetup status r0 --verbose"; got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
			continue
		}
		if _, _, ok := ofNode(got); !ok {
			t.Errorf("%s: %q is not the node's", name, got)
		}
	}
}
