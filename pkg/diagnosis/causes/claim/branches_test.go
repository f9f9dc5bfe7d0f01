package claim_test

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/claim"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

func size(s string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(s)}
}

// unclassed makes the claim ask 10Gi of a class that does not exist, beside a free
// volume of that class.
func unclassed(capacity string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		class := "fast"
		c := s.Cluster.Claims[0]
		c.Status.Phase = corev1.ClaimPending
		c.Spec = corev1.PersistentVolumeClaimSpec{StorageClassName: &class, Resources: corev1.VolumeResourceRequirements{Requests: size("10Gi")}}
		pv := s.Cluster.PVs[0]
		pv.Spec.StorageClassName, pv.Spec.Capacity, pv.Spec.ClaimRef, pv.Status.Phase = class, size(capacity), nil, corev1.VolumeAvailable
	}
}

// recreated leaves a Released volume of an earlier claim of the name; the new claim
// names none and asks for a class with this provisioner.
func recreated(provisioner string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		class := "fast"
		pending(s)
		s.Cluster.Claims[0].Spec = corev1.PersistentVolumeClaimSpec{StorageClassName: &class}
		s.Cluster.PVs[0].Spec.StorageClassName, s.Cluster.PVs[0].Status.Phase = class, corev1.VolumeReleased
		s.Cluster.StorageClasses = []*storagev1.StorageClass{{ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: provisioner}}
	}
}

// unprovisioned makes the claim wait for its first consumer, with a volume of the
// driver to come.
func unprovisioned(s *snapshot.Snapshot) {
	class, wait := "fast", storagev1.VolumeBindingWaitForFirstConsumer
	s.Cluster.Claims[0].Status.Phase = corev1.ClaimPending
	s.Cluster.Claims[0].Spec = corev1.PersistentVolumeClaimSpec{StorageClassName: &class}
	s.Cluster.PVs = nil
	s.Cluster.StorageClasses = []*storagev1.StorageClass{{ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: driver, VolumeBindingMode: &wait}}
}

// nodeNamed gives the pod of an unprovisioned claim a node and a StatefulSet whose
// template has the given nodeName.
func nodeNamed(inTemplate string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		unprovisioned(s)
		yes := true
		p := s.Cluster.Pods[0]
		p.Spec.NodeName = "full"
		p.OwnerReferences = []metav1.OwnerReference{{Kind: "StatefulSet", Name: "w", Controller: &yes}}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: p.CreationTimestamp}}
		s.Cluster.StatefulSets = []*appsv1.StatefulSet{{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "w"},
			Spec: appsv1.StatefulSetSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{NodeName: inTemplate}}}}}
	}
}

// local binds the volume to nodes with a label, and labels node full.
func local(key, value string, labels map[string]string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Cluster.Nodes[0].Labels = labels
		s.Cluster.PVs[0].Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}}}}}}
	}
}

func and(steps ...func(*snapshot.Snapshot)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		for _, step := range steps {
			step(s)
		}
	}
}

// waiter adds a Pending pod of the claim.
func waiter(node string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		p := s.Cluster.Pods[0].DeepCopy()
		p.Name, p.UID, p.Spec.NodeName, p.Status.Phase, p.OwnerReferences = "next", "next", node, corev1.PodPending, nil
		s.Cluster.Pods = append(s.Cluster.Pods, p)
	}
}

func secondVolume(s *snapshot.Snapshot) {
	pv, c := s.Cluster.PVs[0].DeepCopy(), s.Cluster.Claims[0].DeepCopy()
	pv.Name, pv.Spec.ClaimRef.Name, pv.Spec.ClaimRef.UID, pv.Spec.CSI.VolumeHandle = "pv-x", "more", "u9", "h-x"
	c.Name, c.UID, c.Spec.VolumeName = "more", "u9", "pv-x"
	s.Cluster.PVs, s.Cluster.Claims = append(s.Cluster.PVs, pv), append(s.Cluster.Claims, c)
	s.Cluster.Pods[0].Spec.Volumes = append(s.Cluster.Pods[0].Spec.Volumes, corev1.Volume{Name: "m", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "more"}}})
	s.Cluster.Attachments = s.Cluster.Attachments[:1]
}

func TestBranches(t *testing.T) {
	t.Parallel()
	host := map[string]string{"kubernetes.io/hostname": "full"}
	select9 := func(s *snapshot.Snapshot) { s.Cluster.Pods[0].Spec.NodeSelector = map[string]string{"disk": "ssd"} }
	cordon := func(s *snapshot.Snapshot) { s.Cluster.Nodes[0].Spec.Unschedulable = true }
	placed := func(s *snapshot.Snapshot) { s.Cluster.Pods[0].Spec.NodeName = "full" }
	says := func(text string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.Cluster.Pods[0].Status.Conditions[0].Message = text }
	}
	other := func(s *snapshot.Snapshot) {
		s.Cluster.Nodes = append(s.Cluster.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "free"}})
	}
	for name, c := range map[string]struct {
		rule   *diagnosis.Rule
		change func(*snapshot.Snapshot)
		want   string
	}{
		"class: the free volume fits":                     {claim.StorageclassMissing, unclassed("10Gi"), ""},
		"class: the free volume is too small":             {claim.StorageclassMissing, unclassed("5Gi"), "certain PersistentVolumeClaim/data"},
		"class: a volume is kept for the claim":           {claim.StorageclassMissing, and(recreated("x"), func(s *snapshot.Snapshot) { s.Cluster.StorageClasses = nil }), ""},
		"claimref: the class makes a new volume":          {claim.ClaimrefStale, recreated(driver), ""},
		"claimref: volumes of the class are made by hand": {claim.ClaimrefStale, recreated("kubernetes.io/no-provisioner"), "certain PersistentVolume/pv-w"},
		"claimref: the volume failed": {claim.ClaimrefStale, func(s *snapshot.Snapshot) {
			pending(s)
			s.Cluster.PVs[0].Status.Phase = corev1.VolumeFailed
		}, ""},
		"finished pod, another finalizer": {claim.ClaimKeptByFinishedPod, and(finished(nil), func(s *snapshot.Snapshot) {
			s.Cluster.Claims[0].Finalizers = append(s.Cluster.Claims[0].Finalizers, "snapshot.storage.kubernetes.io/pvc-as-source-protection")
		}), "likely PersistentVolumeClaim/data"},
		"finished pod, which is being deleted itself": {claim.ClaimKeptByFinishedPod, and(finished(nil), func(s *snapshot.Snapshot) {
			for _, p := range s.Cluster.Pods {
				if p.Status.Phase == corev1.PodSucceeded {
					p.DeletionTimestamp = &metav1.Time{Time: now.Add(-time.Hour)}
				}
			}
		}), ""},
		"finished pod, another waits without a node": {claim.ClaimKeptByFinishedPod, and(finished(nil), waiter("")), "likely PersistentVolumeClaim/data"},
		"finished pod, another waits on a node":      {claim.ClaimKeptByFinishedPod, and(finished(nil), waiter("full")), ""},
		"nodeName in the template":                   {claim.WFFCBypassedByNodename, nodeNamed("full"), "certain Pod/w"},
		"nodeName that the template does not have":   {claim.WFFCBypassedByNodename, nodeNamed(""), ""},
		"nodeName by a late scheduler": {claim.WFFCBypassedByNodename, and(nodeNamed(""), func(s *snapshot.Snapshot) {
			s.Cluster.Pods[0].Status.Conditions[0].LastTransitionTime = metav1.NewTime(now.Add(-time.Minute))
		}), ""},
		"place: the pod's selector":            {claim.TopologyConflict, and(local("kubernetes.io/hostname", "full", host), select9), "certain Pod/w"},
		"place: the node is cordoned":          {claim.TopologyConflict, and(local("kubernetes.io/hostname", "full", host), cordon, other), "certain PersistentVolume/pv-w"},
		"place: the only node is cordoned":     {claim.TopologyConflict, and(local("kubernetes.io/hostname", "full", host), cordon), "certain Pod/w"},
		"place: the volume's node is gone":     {claim.TopologyConflict, and(local("kubernetes.io/hostname", "old", host), select9), "certain PersistentVolume/pv-w"},
		"place: the zone label's old name":     {claim.TopologyConflict, local("failure-domain.beta.kubernetes.io/zone", "a", map[string]string{"topology.kubernetes.io/zone": "a"}), ""},
		"place: put on a node past the check":  {claim.TopologyConflict, and(local("kubernetes.io/hostname", "old", host), placed), "certain PersistentVolume/pv-w"},
		"place: put on the right node":         {claim.TopologyConflict, and(local("kubernetes.io/hostname", "full", host), placed), ""},
		"limit: one slot for two volumes":      {claim.AttachLimitExceeded, secondVolume, "certain Node/full"},
		"limit: a volume that is not made yet": {claim.AttachLimitExceeded, unprovisioned, "certain Node/full"},
		"limit: another node lacks cpu": {claim.AttachLimitExceeded, and(other,
			says("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) exceed max volume count.")), "likely Node/full"},
		"limit: attachments may not be read": {claim.AttachLimitExceeded, and(secondVolume, func(s *snapshot.Snapshot) {
			s.Cluster.Attachments = nil
			s.Gaps = append(s.Gaps, snapshot.Gap{Need: "api/storage.k8s.io/volumeattachments", Reason: "Forbidden"})
		}), "likely Node/full"},
		"limit: the code alone": {claim.AttachLimitExceeded, and(refuses("no more"), func(s *snapshot.Snapshot) {
			code := int32(8)
			s.Cluster.Attachments[len(s.Cluster.Attachments)-1].Status.AttachError.ErrorCode = &code
		}), "certain Node/full"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scene()
			c.change(s)
			if got := rootsOf(t, c.rule, s, diagnosis.Question{Kind: "pvc", Namespace: "a", Name: "data"}); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestAskedByVolume: a volume that lost its claim still finds the claim that wants it, and one that is gone
// the claim that names it.
func TestAskedByVolume(t *testing.T) {
	t.Parallel()
	gone := scene()
	name := gone.Cluster.PVs[0].Name
	gone.Cluster.PVs, gone.Cluster.Claims[0].Status.Phase = nil, corev1.ClaimLost
	if got := rootsOf(t, claim.ClaimLostVolume, gone, diagnosis.Question{Kind: "volume", Name: name}); got != "certain PersistentVolumeClaim/data" {
		t.Errorf("a volume that only its claim names: %q", got)
	}
	s := scene()
	pending(s)
	s.Cluster.PVs[0].Spec.ClaimRef.Name, s.Cluster.PVs[0].Status.Phase = "old-data", corev1.VolumeReleased
	const want = "certain PersistentVolume/pv-w"
	if got := rootsOf(t, claim.ClaimrefStale, s, diagnosis.Question{Kind: "volume", Name: "pv-w"}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
