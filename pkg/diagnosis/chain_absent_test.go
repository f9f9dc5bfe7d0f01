package diagnosis

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestChainAbsent: in the chain an object that could not be read is not missing.
func TestChainAbsent(t *testing.T) {
	t.Parallel()
	class := "fast"
	for name, c := range map[string]struct {
		gaps                []string
		pv, class, nodeWord string
	}{
		"everything was read": {nil, "missing", "missing", "no Node object"},
		"nothing was read": {[]string{"api//persistentvolumes", "api/storage.k8s.io/storageclasses", "api//nodes"},
			"not read", "not read", "not read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &snapshot.Snapshot{}
			s.Cluster.Claims = []*corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "data"},
				Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv1", StorageClassName: &class}}}
			s.Cluster.Pods = []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db"}, Spec: corev1.PodSpec{NodeName: "n",
				Volumes: []corev1.Volume{{Name: "d", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}}}}
			for _, need := range c.gaps {
				s.Gaps = append(s.Gaps, snapshot.Gap{Need: need, Reason: snapshot.Forbidden})
			}
			catalog, err := NewCatalog(nil, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, l := range catalog.Evaluate(snapshot.NewIndex(s), Question{Kind: "pvc", Namespace: "shop", Name: "data"}).Chain {
				got[l.Kind] = l.State
			}
			if got["PersistentVolume"] != c.pv || got["StorageClass"] != c.class || got["Node"] != c.nodeWord {
				t.Errorf("chain %v", got)
			}
		})
	}
}
