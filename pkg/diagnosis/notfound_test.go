package diagnosis

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestNotFound says what is near an object that is not there.
func TestNotFound(t *testing.T) {
	t.Parallel()
	claim := func(namespace, name string) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	pv := func(name, namespace, bound string, phase corev1.PersistentVolumePhase) *corev1.PersistentVolume {
		return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{ClaimRef: &corev1.ObjectReference{Namespace: namespace, Name: bound}}, Status: corev1.PersistentVolumeStatus{Phase: phase}}
	}
	refused := func(message string) snapshot.Cluster {
		return snapshot.Cluster{Events: []*snapshot.Event{{Kind: "StatefulSet", ObjNamespace: "shop", ObjName: "db", Reason: "FailedCreate", Message: message}}}
	}
	for name, c := range map[string]struct {
		cluster snapshot.Cluster
		want    string
	}{
		"nothing is near":     {snapshot.Cluster{}, "pvc shop/data does not exist"},
		"another name":        {snapshot.Cluster{Claims: []*corev1.PersistentVolumeClaim{claim("shop", "dat")}}, "pvc shop/data does not exist; namespace shop has dat"},
		"another namespace":   {snapshot.Cluster{Claims: []*corev1.PersistentVolumeClaim{claim("prod", "data")}}, "pvc shop/data does not exist; there is one in namespace prod"},
		"a quota forbids it":  {refused(`create Claim data for Pod db-0 in StatefulSet db failed error: persistentvolumeclaims "data" is forbidden: exceeded quota: q`), "pvc shop/data does not exist; StatefulSet db could not make it 0s ago: create Claim data for Pod db-0 in StatefulSet db failed error: persistentvolumeclaims \"data\" is forbidden: exceeded quota: q"},
		"it forbids another":  {refused(`create Claim data-1 for Pod db-1 in StatefulSet db failed`), "pvc shop/data does not exist"},
		"its volume remained": {snapshot.Cluster{PVs: []*corev1.PersistentVolume{pv("pv-1", "shop", "data", corev1.VolumeReleased), pv("pv-2", "shop", "other", corev1.VolumeBound)}}, "pvc shop/data does not exist; what was bound to a claim of this name is asked for as volume pv-1 (Released)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &Pass{Index: snapshot.NewIndex(&snapshot.Snapshot{Cluster: c.cluster}), Question: Question{Kind: "pvc", Namespace: "shop", Name: "data"}}
			if got := p.notFound(); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
