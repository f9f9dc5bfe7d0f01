package claim_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/claim"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// unread says that something could not be read; what was read of it stays.
func unread(needs ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		for _, n := range needs {
			s.Gaps = append(s.Gaps, snapshot.Gap{Need: "api/" + n, Reason: snapshot.Forbidden})
		}
	}
}

// TestUnread takes one thing away from an answer that is certain: it is likely then, or not
// given at all.
func TestUnread(t *testing.T) {
	t.Parallel()
	byHand := recreated("kubernetes.io/no-provisioner")
	try(t, claim.ClaimrefStale, scene, map[string]variant{
		"claimref":                              {byHand, "certain PersistentVolume/pv-w"},
		"claimref, claims":                      {and(byHand, unread("/persistentvolumeclaims")), "likely PersistentVolume/pv-w"},
		"claimref, claims of another namespace": {and(byHand, unread("/persistentvolumeclaims/b")), "certain PersistentVolume/pv-w"},
		"claimref, classes":                     {and(byHand, unread("storage.k8s.io/storageclasses")), "likely PersistentVolume/pv-w"},
	})
	try(t, claim.WFFCBypassedByNodename, scene, map[string]variant{
		"nodeName, pods":    {and(nodeNamed("full"), unread("/pods/a")), "likely Pod/w"},
		"nodeName, classes": {and(nodeNamed("full"), unread("storage.k8s.io/storageclasses"), func(s *snapshot.Snapshot) { s.Cluster.StorageClasses = nil }), ""},
	})
	gone := local("kubernetes.io/hostname", "old", map[string]string{"kubernetes.io/hostname": "full"})
	try(t, claim.TopologyConflict, scene, map[string]variant{
		"place":            {gone, "certain PersistentVolume/pv-w"},
		"place, nodes":     {and(gone, unread("/nodes")), "likely PersistentVolume/pv-w"},
		"place, CSI nodes": {and(gone, unread("storage.k8s.io/csinodes")), "likely PersistentVolume/pv-w"},
	})
	refused := func(s *snapshot.Snapshot) {
		say(s, "ProvisioningFailed", `failed to provision volume with StorageClass "fast": rpc error: code = ResourceExhausted desc = quota`, time.Minute)
	}
	full := func(s *snapshot.Snapshot) {
		yes, free := true, resource.MustParse("1Gi")
		s.Cluster.CSIDrivers = []*storagev1.CSIDriver{{ObjectMeta: metav1.ObjectMeta{Name: driver}, Spec: storagev1.CSIDriverSpec{StorageCapacity: &yes}}}
		s.Cluster.Capacities = []*storagev1.CSIStorageCapacity{{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "c"}, StorageClassName: "fast", Capacity: &free}}
		s.Cluster.Pods[0].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/1 nodes are available: 1 node(s) did not have enough free storage."}}
	}
	try(t, claim.ProvisioningFailed, wanted, map[string]variant{
		"refused, volumes":    {and(refused, unread("/persistentvolumes")), "likely PersistentVolumeClaim/data"},
		"no room":             {full, "likely PersistentVolumeClaim/data"},
		"no room, drivers":    {and(full, unread("storage.k8s.io/csidrivers"), func(s *snapshot.Snapshot) { s.Cluster.CSIDrivers = nil }), ""},
		"no room, capacities": {and(full, unread("storage.k8s.io/csistoragecapacities"), func(s *snapshot.Snapshot) { s.Cluster.Capacities = nil }), "likely PersistentVolumeClaim/data"},
	})
	try(t, claim.ProvisionerNotResponding, wanted, map[string]variant{
		"provisioner":                            {down, "certain PersistentVolumeClaim/data"},
		"provisioner, pods of another namespace": {and(down, unread("/pods/b")), ""},
		"provisioner, classes":                   {and(down, unread("storage.k8s.io/storageclasses"), func(s *snapshot.Snapshot) { s.Cluster.StorageClasses = nil }), ""},
	})
	try(t, claim.StorageclassParameterWrong, shared(map[string]string{"migratable": "true"}), map[string]variant{
		"migratable, share managers": {unread("longhorn.io/sharemanagers"), "likely StorageClass/vm"},
		"migratable, volumes":        {unread("longhorn.io/volumes"), "likely StorageClass/vm"},
	})
}
