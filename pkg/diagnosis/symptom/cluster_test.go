package symptom_test

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var now = time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }

// cluster is one claim of one pod: db-0 waits on node new for an hour, the volume
// is bound and attached there. Each test changes what it is about.
type cluster struct {
	*snapshot.Snapshot
	pod   *corev1.Pod
	claim *corev1.PersistentVolumeClaim
	pv    *corev1.PersistentVolume
	va    *storagev1.VolumeAttachment
	class *storagev1.StorageClass
}

func newCluster() *cluster {
	driver, pv := "csi.example.com", "pvc-0a1b2c3d"
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	c := &cluster{
		pod: &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db-0", UID: types.UID("2c5a7c9e-0000-4000-8000-000000000001"), CreationTimestamp: ago(time.Hour)},
			Spec: corev1.PodSpec{NodeName: "new", Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-db-0"}}}}},
			Status: corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{Name: "db", State: corev1.ContainerState{
				Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}}}},
		},
		claim: &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "data-db-0", UID: "claim", CreationTimestamp: ago(24 * time.Hour)},
			Spec:       corev1.PersistentVolumeClaimSpec{VolumeName: pv, AccessModes: modes, Resources: corev1.VolumeResourceRequirements{Requests: size}},
			Status:     corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, Capacity: size},
		},
		pv: &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: pv},
			Spec: corev1.PersistentVolumeSpec{AccessModes: modes, ClaimRef: &corev1.ObjectReference{Namespace: "shop", Name: "data-db-0", UID: "claim"},
				PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: "vol-0a1b2c3d4e"}}},
		},
		class: &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "fast"}, Provisioner: driver},
	}
	c.va = c.attachment("new", true)
	c.Snapshot = &snapshot.Snapshot{TakenAt: now, Nodes: map[string]*snapshot.NodeRecord{}}
	c.Cluster.Pods = []*corev1.Pod{c.pod}
	c.Cluster.Claims = []*corev1.PersistentVolumeClaim{c.claim}
	c.Cluster.PVs = []*corev1.PersistentVolume{c.pv}
	c.Cluster.Attachments = []*storagev1.VolumeAttachment{c.va}
	c.Cluster.StorageClasses = []*storagev1.StorageClass{c.class}
	c.Cluster.Nodes = []*corev1.Node{readyNode("new"), readyNode("old")}
	return c
}

func readyNode(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: ago(24 * time.Hour)}}}}
}

func (c *cluster) attachment(node string, attached bool) *storagev1.VolumeAttachment {
	pv := c.pv.Name
	return &storagev1.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: snapshot.AttachmentName("vol-0a1b2c3d4e", "csi.example.com", node), CreationTimestamp: ago(50 * time.Minute)},
		Spec:       storagev1.VolumeAttachmentSpec{Attacher: "csi.example.com", NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &pv}},
		Status:     storagev1.VolumeAttachmentStatus{Attached: attached},
	}
}

// says adds an event of the pod.
func (c *cluster) says(reason, text string, age time.Duration) {
	c.Cluster.Events = append(c.Cluster.Events, &snapshot.Event{
		Kind: "Pod", ObjNamespace: "shop", ObjName: "db-0", Reason: reason, Message: text, Component: "kubelet", Host: "new",
		First: now.Add(-age), Last: now.Add(-age), Count: 1,
	})
}

// runs makes the pod run.
func (c *cluster) runs() {
	c.pod.Status.Phase = corev1.PodRunning
	c.pod.Status.ContainerStatuses[0].Ready = true
	c.pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: ago(59 * time.Minute)}}
}

// ended makes the pod one that ran and is finished.
func (c *cluster) ended() {
	c.runs()
	c.pod.Status.Phase = corev1.PodSucceeded
	c.pod.Status.ContainerStatuses[0].Ready = false
	c.pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: ago(59 * time.Minute), FinishedAt: ago(time.Minute)}}
}

// hostPath gives the pod a directory of the host, at another place.
func (c *cluster) hostPath(dir string) {
	c.pod.Spec.Volumes = append(c.pod.Spec.Volumes, corev1.Volume{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: dir}}})
	c.pod.Spec.Containers = []corev1.Container{{Name: c.pod.Status.ContainerStatuses[0].Name, VolumeMounts: []corev1.VolumeMount{{Name: "host", MountPath: "/inside"}}}}
}

const publish = "/var/lib/kubelet/pods/2c5a7c9e-0000-4000-8000-000000000001/volumes/kubernetes.io~csi/pvc-0a1b2c3d/mount"

// mounted records node new with the volume's mount on sdb.
func (c *cluster) mounted(super ...string) *probes.Facts {
	dev := probes.Dev{Major: 8, Minor: 16}
	f := &probes.Facts{
		Namespaces: []probes.MountNamespace{{ID: 1, PIDs: []int{1}, TablePID: 1, Mounts: []probes.Mount{
			{Dev: dev, Root: "/", Point: publish, Options: []string{"rw"}, FSType: "ext4", Source: "/dev/sdb", Super: super}}}},
		Processes: []probes.Process{{PID: 1, Comm: "systemd", MntNS: 1}},
		Block:     []probes.BlockDevice{{Name: "sdb", Dev: dev, Sectors: 2048, State: "running"}},
		Kubelet:   probes.Kubelet{Root: "/var/lib/kubelet"},
		Statfs:    map[string]probes.FSStat{},
	}
	c.Nodes["new"] = &snapshot.NodeRecord{Name: "new", Facts: f}
	return f
}

// saysOld lets the driver's plugin on node old say, so long ago, that it cannot unmount the volume.
func (c *cluster) saysOld(at time.Duration) {
	c.Cluster.Pods = append(c.Cluster.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "csi-node-old", UID: "plugin-old"},
		Spec: corev1.PodSpec{NodeName: "old"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}})
	c.Logs = append(c.Logs, snapshot.Log{Namespace: "kube-system", Pod: "csi-node-old", Container: "driver",
		Lines: []string{ago(at).Format(time.RFC3339) + " GRPC error: NodeUnstageVolume pvc-0a1b2c3d: umount: /g: target is busy."}})
}

// detaching lets Longhorn detach the volume, of which nobody is a pod any more, since its attachment was deleted.
func detaching(c *cluster, deleted time.Duration) {
	at := ago(deleted)
	c.pv.Spec.CSI.Driver, c.pv.Spec.CSI.VolumeHandle = snapshot.LonghornDriver, c.pv.Name
	c.va.Name, c.va.Spec.Attacher, c.va.DeletionTimestamp = snapshot.AttachmentName(c.pv.Name, snapshot.LonghornDriver, "new"), snapshot.LonghornDriver, &at
	lh := &snapshot.LHVolume{ObjectMeta: metav1.ObjectMeta{Namespace: "longhorn-system", Name: c.pv.Name}}
	lh.Status.State = "detaching"
	c.Cluster.Pods, c.Cluster.Longhorn.Volumes = nil, []*snapshot.LHVolume{lh}
}

// pulls lets the kubelet ask for the pod's image, which is what it does when the volumes are mounted.
func pulls(c *cluster) { c.says("Pulling", `Pulling image "db:16"`, 20*time.Minute) }
