package corpus

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Twinned is a snapshot in which each volume of a claim in a namespace has a second
// PersistentVolume of the same source, whose claim a pod uses on a node that nobody looked
// at: somebody else may write to each of these disks. Not ok: there is no such volume.
func Twinned(s *snapshot.Snapshot, namespace string) (*snapshot.Snapshot, bool) {
	l := copied(s)
	c := &l.Cluster
	c.PVs, c.Claims, c.Pods, c.Nodes = slices.Clone(c.PVs), slices.Clone(c.Claims), slices.Clone(c.Pods), slices.Clone(c.Nodes)
	for _, claim := range s.Cluster.Claims {
		i := slices.IndexFunc(c.PVs, func(pv *corev1.PersistentVolume) bool { return pv.Name == claim.Spec.VolumeName })
		if i < 0 || claim.Namespace != namespace || c.PVs[i].Spec.ClaimRef == nil {
			continue
		}
		const twin = "twin-of-"
		pv, other := c.PVs[i].DeepCopy(), claim.DeepCopy()
		other.Name, other.UID, other.Spec.VolumeName = twin+claim.Name, types.UID(twin+claim.UID), twin+pv.Name
		pv.Name, pv.UID = other.Spec.VolumeName, types.UID(twin+pv.UID)
		pv.Spec.ClaimRef.Name, pv.Spec.ClaimRef.UID = other.Name, other.UID
		c.PVs, c.Claims = append(c.PVs, pv), append(c.Claims, other)
		c.Pods = append(c.Pods, writer(other, s.TakenAt.Add(-time.Minute)))
	}
	if len(c.PVs) == len(s.Cluster.PVs) {
		return nil, false
	}
	c.Nodes = append(c.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: twinNode, UID: twinNode}, Status: corev1.NodeStatus{
		Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}})
	c.Sort()
	return l, true
}

const twinNode = "node-of-twins"

// writer is a pod that uses a claim, and works.
func writer(claim *corev1.PersistentVolumeClaim, began time.Time) *corev1.Pod {
	yes, at := true, metav1.NewTime(began)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: claim.Namespace, Name: "rival-" + claim.Name, UID: "rival-" + claim.UID, CreationTimestamp: at,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "writer", UID: "writer", Controller: &yes}}},
		Spec: corev1.PodSpec{NodeName: twinNode, Containers: []corev1.Container{{Name: "writer", Image: "writer", VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}}},
			Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name}}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &at, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: at}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "writer", Ready: true, Started: &yes, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}}}}},
	}
}
