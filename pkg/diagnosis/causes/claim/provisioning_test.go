package claim_test

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/claim"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

const (
	annNow  = "volume.kubernetes.io/storage-provisioner"
	annBeta = "volume.beta.kubernetes.io/storage-provisioner"
)

// wanted is a claim that asks a class for a volume; the provisioner's pod is Ready and
// leads, and the PV controller says that it waits.
func wanted() *snapshot.Snapshot {
	s := scene()
	hour, class := metav1.NewTime(now.Add(-time.Hour)), "fast"
	s.Cluster.PVs, s.Cluster.Attachments = nil, nil
	s.Cluster.Claims[0].Spec = corev1.PersistentVolumeClaimSpec{StorageClassName: &class, Resources: corev1.VolumeResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}}}
	s.Cluster.Claims[0].Status.Phase = corev1.ClaimPending
	s.Cluster.Claims[0].Annotations = map[string]string{annNow: driver, annBeta: driver}
	s.Cluster.StorageClasses = []*storagev1.StorageClass{{ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: driver}}
	labels := map[string]string{"app": "ctl"}
	template := corev1.PodSpec{NodeName: "full", Containers: []corev1.Container{
		{Name: "csi-provisioner", Image: "registry.k8s.io/sig-storage/csi-provisioner:v2.1.2"}, {Name: "driver", Args: []string{"--drivername=" + driver}}}}
	s.Cluster.Pods = append(s.Cluster.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "ctl-1", Labels: labels, CreationTimestamp: hour,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "ctl", UID: "rs", Controller: new(true)}}}, Spec: template,
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: hour}}}})
	one := int32(1)
	s.Cluster.Deployments = []*appsv1.Deployment{{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "ctl"},
		Spec:   appsv1.DeploymentSpec{Replicas: &one, Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: template}},
		Status: appsv1.DeploymentStatus{ReadyReplicas: 1}}}
	holder := "ctl-1"
	s.Cluster.Leases = []*coordinationv1.Lease{{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "disk-example-com"},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: renewed(5 * time.Second)}}}
	say(s, "ExternalProvisioning", "Waiting for a volume to be created either by the external provisioner 'disk.example.com' or manually by the system administrator.", time.Minute)
	return s
}

func renewed(ago time.Duration) *metav1.MicroTime {
	at := metav1.NewMicroTime(now.Add(-ago))
	return &at
}

// say adds an event of the claim.
func say(s *snapshot.Snapshot, reason, text string, ago time.Duration) {
	s.Cluster.Events = append(s.Cluster.Events, &snapshot.Event{Kind: "PersistentVolumeClaim", ObjNamespace: "a", ObjName: "data", Reason: reason, Message: text,
		First: now.Add(-ago), Last: now.Add(-ago)})
}

// down makes the provisioner's pod not Ready for half an hour.
func down(s *snapshot.Snapshot) {
	at := metav1.NewTime(now.Add(-30 * time.Minute))
	s.Cluster.Pods[1].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: at}}
	s.Cluster.Deployments[0].Status.ReadyReplicas = 0
	s.Cluster.Leases[0].Spec.RenewTime = renewed(30 * time.Minute)
}

func nobody(s *snapshot.Snapshot) {
	s.Cluster.Pods, s.Cluster.Deployments, s.Cluster.Leases = s.Cluster.Pods[:1], nil, nil
}

// namesake adds a Ready provisioner that has a word of the asked one in its name, and serves another
// driver, which is installed, or one that nothing shows.
func namesake(serves string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		pod := *wanted().Cluster.Pods[1]
		pod.Name, pod.Spec.Containers[1].Args = "example-provisioner-1", nil
		if serves != "" {
			pod.Spec.Containers[1].Args = []string{"--drivername=" + serves}
			s.Cluster.CSIDrivers = append(s.Cluster.CSIDrivers, &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: serves}})
		}
		s.Cluster.Pods = append(s.Cluster.Pods, &pod)
	}
}

func onlyNew(s *snapshot.Snapshot) { delete(s.Cluster.Claims[0].Annotations, annBeta) }

func image(tag string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		onlyNew(s)
		s.Cluster.Pods[1].Spec.Containers[0].Image = tag
	}
}

func TestProvisionerNotResponding(t *testing.T) {
	t.Parallel()
	const certain, likely = "certain PersistentVolumeClaim/data", "likely PersistentVolumeClaim/data"
	both := func(a, b func(*snapshot.Snapshot)) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { a(s); b(s) }
	}
	late := func(s *snapshot.Snapshot) {
		mode := storagev1.VolumeBindingWaitForFirstConsumer
		s.Cluster.StorageClasses[0].VolumeBindingMode = &mode
	}
	try(t, claim.ProvisionerNotResponding, wanted, map[string]variant{
		"its pod is not Ready": {down, certain},
		"its Deployment has no replicas": {both(down, func(s *snapshot.Snapshot) {
			zero := int32(0)
			s.Cluster.Pods, s.Cluster.Deployments[0].Spec.Replicas = s.Cluster.Pods[:1], &zero
		}), certain},
		"the leader does not renew its lease":                          {func(s *snapshot.Snapshot) { s.Cluster.Leases[0].Spec.RenewTime = renewed(5 * time.Minute) }, likely},
		"no workload is found":                                         {nobody, likely},
		"no workload is found, one of its words serves another driver": {both(nobody, namesake("other.io")), likely},
		"no workload is found, nobody knows what its namesake serves":  {both(nobody, namesake("")), ""},
		"no workload is found, the lease is renewed": {func(s *snapshot.Snapshot) {
			leases := s.Cluster.Leases
			nobody(s)
			s.Cluster.Leases = leases
		}, ""},
		"Ready and called":                                           {unchanged, ""},
		"the other annotation names another one":                     {func(s *snapshot.Snapshot) { s.Cluster.Claims[0].Annotations[annNow] = "other.example.com" }, certain},
		"the beta annotation is missing, the provisioner is old":     {onlyNew, certain},
		"the beta annotation is missing, its version is not known":   {image("example.com/own-provisioner:stable"), likely},
		"the beta annotation is missing, the provisioner reads both": {image("registry.k8s.io/sig-storage/csi-provisioner:v5.1.0"), ""},
		"a fresh refusal": {both(down, func(s *snapshot.Snapshot) {
			say(s, "ProvisioningFailed", `failed to provision volume with StorageClass "fast": rpc error: code = Internal desc = no`, time.Minute)
		}), ""},
		"it began and is gone now": {both(down, func(s *snapshot.Snapshot) {
			say(s, "Provisioning", `External provisioner is provisioning volume for claim "a/data"`, 40*time.Minute)
		}), likely},
		"waits for its first consumer": {both(down, late), ""},
		"a node was selected": {both(both(down, late), func(s *snapshot.Snapshot) {
			s.Cluster.Claims[0].Annotations["volume.kubernetes.io/selected-node"] = "full"
		}), certain},
		"the class is missing":       {both(down, func(s *snapshot.Snapshot) { s.Cluster.StorageClasses = nil }), ""},
		"volumes are made by hand":   {both(nobody, func(s *snapshot.Snapshot) { s.Cluster.StorageClasses[0].Provisioner = "kubernetes.io/no-provisioner" }), ""},
		"made inside the controller": {both(nobody, func(s *snapshot.Snapshot) { s.Cluster.StorageClasses[0].Provisioner = "kubernetes.io/aws-ebs" }), ""},
		"a claim of this moment": {both(down, func(s *snapshot.Snapshot) {
			s.Cluster.Claims[0].CreationTimestamp = metav1.NewTime(now.Add(-20 * time.Second))
		}), ""},
		"a populator works for it": {both(down, func(s *snapshot.Snapshot) {
			s.Cluster.Claims[0].Spec.DataSourceRef = &corev1.TypedObjectReference{Kind: "VolumeImportSource"}
		}), ""},
		"events were not read": {both(down, func(s *snapshot.Snapshot) { s.Gaps = []snapshot.Gap{{Need: "api//events", Reason: snapshot.Forbidden}} }), likely},
		"the beta annotation is missing, events were not read": {both(onlyNew, func(s *snapshot.Snapshot) {
			s.Gaps, s.Cluster.Events = []snapshot.Gap{{Need: "api//events", Reason: snapshot.Forbidden}}, nil
		}), ""},
		"the beta annotation is missing, nobody says that he waits": {both(onlyNew, func(s *snapshot.Snapshot) { s.Cluster.Events = nil }), ""},
		"another one is named, nobody says that he waits": {func(s *snapshot.Snapshot) {
			s.Cluster.Claims[0].Annotations[annNow], s.Cluster.Events = "other.example.com", nil
		}, likely},
		"pods were not read": {both(nobody, func(s *snapshot.Snapshot) { s.Gaps = []snapshot.Gap{{Need: "api//pods", Reason: snapshot.Forbidden}} }), ""},
		"every node has its own, another node's is down": {both(both(down, late), func(s *snapshot.Snapshot) {
			s.Cluster.Claims[0].Annotations["volume.kubernetes.io/selected-node"] = "other"
			s.Cluster.Pods[1].Spec.Containers[0].Args = []string{"--node-deployment"}
			s.Cluster.Deployments = nil
			say(s, "ExternalProvisioning", "Waiting for a volume", 50*time.Minute)
			s.Cluster.Events = s.Cluster.Events[1:]
		}), ""},
	})
}

func TestProvisioningFailed(t *testing.T) {
	t.Parallel()
	const certain, likely = "certain PersistentVolumeClaim/data", "likely PersistentVolumeClaim/data"
	refuses := func(text string, ago time.Duration) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { say(s, "ProvisioningFailed", text, ago) }
	}
	const quota = `failed to provision volume with StorageClass "fast": rpc error: code = ResourceExhausted desc = quota`
	no := func(room string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			yes, free := true, resource.MustParse(room)
			s.Cluster.CSIDrivers = []*storagev1.CSIDriver{{ObjectMeta: metav1.ObjectMeta{Name: driver}, Spec: storagev1.CSIDriverSpec{StorageCapacity: &yes}}}
			s.Cluster.Capacities = []*storagev1.CSIStorageCapacity{{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "c"}, StorageClassName: "fast", Capacity: &free}}
			s.Cluster.Pods[0].Status.Conditions[0].Message = "0/1 nodes are available: 1 node(s) did not have enough free storage."
		}
	}
	try(t, claim.ProvisioningFailed, wanted, map[string]variant{
		"a fresh refusal":                 {refuses(quota, time.Minute), certain},
		"the class is unknown":            {refuses(`storageclass.storage.k8s.io "fast" not found`, time.Minute), ""},
		"another failure of provisioning": {refuses("no volume plugin matched name: example.com/x", time.Minute), likely},
		"volumes are made by hand": {func(s *snapshot.Snapshot) {
			s.Cluster.StorageClasses[0].Provisioner = "kubernetes.io/no-provisioner"
			refuses("no volume plugin matched name: kubernetes.io/no-provisioner", time.Minute)(s)
		}, ""},
		"an old refusal":                      {refuses(quota, 40*time.Minute), likely},
		"an old refusal, nobody is there now": {func(s *snapshot.Snapshot) { refuses(quota, 40*time.Minute)(s); down(s) }, ""},
		"nobody refused":                      {unchanged, ""},
		"a volume was made since": {func(s *snapshot.Snapshot) {
			refuses(quota, time.Minute)(s)
			s.Cluster.PVs = scene().Cluster.PVs
			s.Cluster.PVs[0].Spec.ClaimRef.UID = s.Cluster.Claims[0].UID
		}, ""},
		"no node has room":        {no("1Gi"), likely},
		"a published room fits":   {no("100Gi"), ""},
		"the driver has no quota": {func(s *snapshot.Snapshot) { no("1Gi")(s); s.Cluster.CSIDrivers = nil }, ""},
	})
}
