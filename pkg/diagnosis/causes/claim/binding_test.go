package claim_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/claim"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// verdicts runs one rule over a scene and says what it found of claim a/data.
func verdicts(t *testing.T, rule *diagnosis.Rule, s *snapshot.Snapshot) string {
	t.Helper()
	catalog, err := diagnosis.NewCatalog([]*diagnosis.Rule{rule}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	r := catalog.Evaluate(snapshot.NewIndex(s), diagnosis.Question{Kind: "pvc", Namespace: "a", Name: "data"})
	for _, f := range r.RootCauses {
		if got != "" {
			got += ", "
		}
		got += string(f.Certainty) + " " + f.Subject.Kind + "/" + f.Subject.Name
		if f.Waiting {
			got += " waiting"
		}
	}
	return got
}

type variant struct {
	change func(*snapshot.Snapshot)
	want   string
}

func try(t *testing.T, rule *diagnosis.Rule, start func() *snapshot.Snapshot, variants map[string]variant) {
	t.Helper()
	for name, c := range variants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start()
			c.change(s)
			if got := verdicts(t, rule, s); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func unchanged(*snapshot.Snapshot) {}

func TestClaimLostVolume(t *testing.T) {
	t.Parallel()
	lost := func() *snapshot.Snapshot {
		s := scene()
		s.Cluster.PVs = nil
		s.Cluster.Claims[0].Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
		return s
	}
	phase := func(s *snapshot.Snapshot) { s.Cluster.Claims[0].Status.Phase = corev1.ClaimLost }
	unread := func(s *snapshot.Snapshot) {
		s.Gaps = []snapshot.Gap{{Need: "api//persistentvolumes", Reason: snapshot.Forbidden}}
	}
	const certain = "certain PersistentVolumeClaim/data"
	try(t, claim.ClaimLostVolume, lost, map[string]variant{
		"bound, the volume is absent": {unchanged, certain},
		"phase Lost":                  {phase, certain},
		"phase Lost, volumes not read": {func(s *snapshot.Snapshot) { phase(s); unread(s) },
			"likely PersistentVolumeClaim/data"},
		"volumes not read": {unread, ""},
		"binding not completed: the volume is still to be made": {func(s *snapshot.Snapshot) {
			s.Cluster.Claims[0].Annotations, s.Cluster.Claims[0].Status.Phase = nil, corev1.ClaimPending
		}, ""},
		"the volume exists": {func(s *snapshot.Snapshot) { phase(s); s.Cluster.PVs = scene().Cluster.PVs }, ""},
		"the volume is Terminating": {func(s *snapshot.Snapshot) {
			s.Cluster.PVs = scene().Cluster.PVs
			at := metav1.NewTime(now.Add(-time.Hour))
			s.Cluster.PVs[0].DeletionTimestamp = &at
		}, ""},
	})
}

func TestClaimInUseRWOP(t *testing.T) {
	t.Parallel()
	holder := func(s *snapshot.Snapshot) *corev1.Pod { return s.Cluster.Pods[1] }
	shared := func() *snapshot.Snapshot {
		s := scene()
		s.Cluster.Claims[0].Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
		h := s.Cluster.Pods[0].DeepCopy()
		h.Name, h.UID, h.Spec.NodeName = "h", "h", "full"
		h.Status = corev1.PodStatus{Phase: corev1.PodRunning}
		s.Cluster.Pods = append(s.Cluster.Pods, h)
		return s
	}
	placed := func(s *snapshot.Snapshot) {
		holder(s).Status.Phase = corev1.PodPending
		s.Cluster.Pods[0].Spec.NodeName = "full"
	}
	const certain = "certain PersistentVolumeClaim/data"
	try(t, claim.ClaimInUseRWOP, shared, map[string]variant{
		"another pod runs with it": {unchanged, certain},
		"another pod is Terminating": {func(s *snapshot.Snapshot) {
			at := metav1.NewTime(now.Add(-time.Hour))
			holder(s).DeletionTimestamp = &at
		}, certain},
		"another pod was placed and starts":   {func(s *snapshot.Snapshot) { holder(s).Status.Phase = corev1.PodPending }, certain},
		"both are placed, none runs, no word": {placed, ""},
		"both are placed, the kubelet refuses": {func(s *snapshot.Snapshot) {
			placed(s)
			s.Cluster.Events = []*snapshot.Event{{Kind: "Pod", ObjNamespace: "a", ObjName: "w", Reason: "FailedMount", Last: now.Add(-time.Minute), First: now.Add(-time.Minute),
				Message: `MountVolume.SetUp failed for volume "pv-w" : volume uses the ReadWriteOncePod access mode and is already in use by another pod`}}
		}, certain},
		"another pod has no node":  {func(s *snapshot.Snapshot) { holder(s).Spec.NodeName, holder(s).Status.Phase = "", corev1.PodPending }, ""},
		"another pod has finished": {func(s *snapshot.Snapshot) { holder(s).Status.Phase = corev1.PodSucceeded }, ""},
		"ReadWriteOnce": {func(s *snapshot.Snapshot) {
			s.Cluster.Claims[0].Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
		}, ""},
		"pods not read": {func(s *snapshot.Snapshot) { s.Gaps = []snapshot.Gap{{Need: "api//pods", Reason: snapshot.Forbidden}} }, "certain PersistentVolumeClaim/data"},
	})
}
