package claim_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/claim"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var now = time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)

const driver = "disk.example.com"

// scene is a claim whose pod waits: node full holds two volumes of the driver and
// publishes a limit of two.
func scene() *snapshot.Snapshot {
	hour := metav1.NewTime(now.Add(-time.Hour))
	pv := func(name, claim string, phase corev1.PersistentVolumePhase, uid types.UID) *corev1.PersistentVolume {
		return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.PersistentVolumeStatus{Phase: phase},
			Spec: corev1.PersistentVolumeSpec{ClaimRef: &corev1.ObjectReference{Namespace: "a", Name: claim, UID: uid},
				PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: "h-" + name}}}}
	}
	two := int32(2)
	s := &snapshot.Snapshot{TakenAt: now}
	s.Cluster.PVs = []*corev1.PersistentVolume{pv("pv-w", "data", corev1.VolumeBound, "u1")}
	s.Cluster.Claims = []*corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "data", UID: "u1", CreationTimestamp: hour},
		Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv-w"}, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}}}
	s.Cluster.Pods = []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "w", CreationTimestamp: hour},
		Spec: corev1.PodSpec{Volumes: []corev1.Volume{{Name: "d", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse,
			Message: "0/1 nodes are available: 1 node(s) exceed max volume count."}}}}}
	s.Cluster.Nodes = []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "full"}}}
	s.Cluster.CSINodes = []*storagev1.CSINode{{ObjectMeta: metav1.ObjectMeta{Name: "full"}, Spec: storagev1.CSINodeSpec{
		Drivers: []storagev1.CSINodeDriver{{Name: driver, Allocatable: &storagev1.VolumeNodeResources{Count: &two}}}}}}
	for _, name := range []string{"pv-1", "pv-2"} {
		s.Cluster.Attachments = append(s.Cluster.Attachments, attachment(name, true))
	}
	return s
}

func attachment(pv string, attached bool) *storagev1.VolumeAttachment {
	return &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "csi-" + pv, CreationTimestamp: metav1.NewTime(now.Add(-time.Hour))},
		Spec:   storagev1.VolumeAttachmentSpec{Attacher: driver, NodeName: "full", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &pv}},
		Status: storagev1.VolumeAttachmentStatus{Attached: attached}}
}

func refuses(message string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Cluster.CSINodes[0].Spec.Drivers[0].Allocatable = nil
		s.Cluster.Pods[0].Spec.NodeName = "full"
		va := attachment("pv-w", false)
		va.Status.AttachError = &storagev1.VolumeError{Time: metav1.NewTime(now.Add(-time.Minute)), Message: message}
		s.Cluster.Attachments = append(s.Cluster.Attachments, va)
	}
}

func pending(s *snapshot.Snapshot) {
	s.Cluster.Claims[0].Status.Phase = corev1.ClaimPending
	s.Cluster.Claims[0].UID = "u2"
}

var hours = int32(7200)

// finished makes the claim go away while the pod of a Job has ended.
func finished(ttl *int32) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		at, yes := metav1.NewTime(now.Add(-time.Hour)), true
		s.Cluster.Claims[0].DeletionTimestamp, s.Cluster.Claims[0].Finalizers = &at, []string{"kubernetes.io/pvc-protection"}
		s.Cluster.Pods[0].Status.Phase = corev1.PodSucceeded
		s.Cluster.Pods[0].OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "j", UID: "j", Controller: &yes}}
		s.Cluster.Jobs = []*batchv1.Job{{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "j", UID: "j"},
			Spec: batchv1.JobSpec{TTLSecondsAfterFinished: ttl}, Status: batchv1.JobStatus{CompletionTime: &at}}}
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rule   *diagnosis.Rule
		change func(*snapshot.Snapshot)
		want   string
	}{
		"limit: no node has room": {claim.AttachLimitExceeded, func(*snapshot.Snapshot) {}, "certain Node/full"},
		"limit: a slot is free":   {claim.AttachLimitExceeded, func(s *snapshot.Snapshot) { s.Cluster.Attachments = s.Cluster.Attachments[:1] }, ""},
		"limit: another filter":   {claim.AttachLimitExceeded, func(s *snapshot.Snapshot) { s.Cluster.Pods[0].Status.Conditions[0].Message = "Insufficient cpu" }, ""},
		"limit: the other node has room": {claim.AttachLimitExceeded, func(s *snapshot.Snapshot) {
			s.Cluster.Nodes = append(s.Cluster.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "free"}})
		}, ""},
		"limit: the backend refuses":     {claim.AttachLimitExceeded, refuses("rpc error: code = ResourceExhausted desc = server has the maximum number of volumes"), "certain Node/full"},
		"limit: a message too large":     {claim.AttachLimitExceeded, refuses("rpc error: code = ResourceExhausted desc = grpc: received message larger than max"), ""},
		"claimref: same name, other uid": {claim.ClaimrefStale, func(s *snapshot.Snapshot) { pending(s) }, "certain PersistentVolume/pv-w"},
		"claimref: released from a claim of another name": {claim.ClaimrefStale, func(s *snapshot.Snapshot) {
			pending(s)
			s.Cluster.PVs[0].Spec.ClaimRef.Name, s.Cluster.PVs[0].Status.Phase = "old-data", corev1.VolumeReleased
		}, "certain PersistentVolume/pv-w"},
		"finished pod": {claim.ClaimKeptByFinishedPod, finished(nil), "certain PersistentVolumeClaim/data"},
		"finished pod of a Job that will be removed": {claim.ClaimKeptByFinishedPod, finished(&hours), "certain PersistentVolumeClaim/data waiting"},
		"finished pod, another runs": {claim.ClaimKeptByFinishedPod, func(s *snapshot.Snapshot) {
			finished(nil)(s)
			other := s.Cluster.Pods[0].DeepCopy()
			other.Name, other.UID, other.Status.Phase = "x", "x", corev1.PodRunning
			s.Cluster.Pods = append(s.Cluster.Pods, other)
		}, ""},
		"claimref: the other claim exists": {claim.ClaimrefStale, func(s *snapshot.Snapshot) {
			pending(s)
			s.Cluster.Claims = append(s.Cluster.Claims, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "x", UID: "u1"}})
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scene()
			c.change(s)
			got := rootsOf(t, c.rule, s, diagnosis.Question{Kind: "pvc", Namespace: "a", Name: "data"})
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// rootsOf runs one rule and prints what it found.
func rootsOf(t *testing.T, rule *diagnosis.Rule, s *snapshot.Snapshot, q diagnosis.Question) string {
	t.Helper()
	catalog, err := diagnosis.NewCatalog([]*diagnosis.Rule{rule}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, f := range catalog.Evaluate(snapshot.NewIndex(s), q).RootCauses {
		got += string(f.Certainty) + " " + f.Subject.Kind + "/" + f.Subject.Name
		if f.Waiting {
			got += " waiting"
		}
	}
	return got
}
