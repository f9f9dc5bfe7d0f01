package around

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestAwaited: whose pod it is is told by the whole name of the volume.
func TestAwaited(t *testing.T) {
	t.Parallel()
	pod := func(name string, labels map[string]string, edit func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "storage", Name: name, Labels: labels}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
		if edit != nil {
			edit(p)
		}
		return p
	}
	app := pod("web-0", nil, func(p *corev1.Pod) {
		p.Namespace = "shop"
		p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	})
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pvc-12-3456"}, Spec: corev1.PersistentVolumeSpec{
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "d.io", VolumeHandle: "pool/pvc-12-3456"}},
		ClaimRef:               &corev1.ObjectReference{Namespace: "shop", Name: "data"}}}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: pv.Name}}
	x := snapshot.NewIndex(&snapshot.Snapshot{Cluster: snapshot.Cluster{PVs: []*corev1.PersistentVolume{pv}, Claims: []*corev1.PersistentVolumeClaim{claim}, Pods: []*corev1.Pod{
		app, pod("share-pvc-12-3456", nil, nil), pod("share-pvc-12-34567", nil, nil), pod("mp-a1", map[string]string{"volume": "pvc-12-3456"}, nil),
		pod("said-by-name", nil, nil), pod("done-of-old", nil, nil), pod("done-pvc-12-3456", nil, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }),
	}}})
	v := x.VolumeOfClaim("shop", "data")
	var got []string
	for _, p := range Awaited(x, v, []evidence.Text{{Raw: "mountpod: said-by-name is not ready", Fresh: true}, {Raw: "mountpod: done-of-old of yesterday"}}) {
		got = append(got, p.Name)
	}
	if want := []string{"share-pvc-12-3456", "mp-a1", "said-by-name"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
