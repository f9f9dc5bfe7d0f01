package attach_test

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/attach"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// now is the moment of every snapshot in these tests.
var now = time.Date(2026, 3, 2, 3, 0, 0, 0, time.UTC)

const (
	driver = "disk.csi.example.org"
	handle = "vol-0a1b2c3d4e5f"
	pvName = "pv-data"
	unique = corev1.UniqueVolumeName("kubernetes.io/csi/" + driver + "^" + handle)
)

// cluster builds a snapshot around one claim, shop/data.
type cluster struct{ s *snapshot.Snapshot }

// newCluster has three Ready nodes, one bound ReadWriteOnce claim and a driver that
// is registered everywhere.
func newCluster() *cluster {
	c := &cluster{&snapshot.Snapshot{TakenAt: now, Server: "v1.31.2", Nodes: map[string]*snapshot.NodeRecord{}}}
	for _, n := range []string{"n1", "n2", "n3"} {
		c.s.Cluster.Nodes = append(c.s.Cluster.Nodes, &corev1.Node{
			ObjectMeta: meta("", n, 90*24*time.Hour),
			Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{ready(corev1.ConditionTrue, 24*time.Hour)}},
		})
		c.s.Cluster.CSINodes = append(c.s.Cluster.CSINodes, &storagev1.CSINode{
			ObjectMeta: meta("", n, 90*24*time.Hour),
			Spec:       storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: driver, NodeID: n}}},
		})
	}
	yes := true
	c.s.Cluster.CSIDrivers = []*storagev1.CSIDriver{{ObjectMeta: meta("", driver, 90*24*time.Hour), Spec: storagev1.CSIDriverSpec{AttachRequired: &yes}}}
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	c.s.Cluster.Claims = []*corev1.PersistentVolumeClaim{{
		ObjectMeta: meta("shop", "data", 30*24*time.Hour),
		Spec:       corev1.PersistentVolumeClaimSpec{VolumeName: pvName, AccessModes: modes},
		Status:     corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound},
	}}
	c.s.Cluster.PVs = []*corev1.PersistentVolume{{
		ObjectMeta: meta("", pvName, 30*24*time.Hour),
		Spec: corev1.PersistentVolumeSpec{
			AccessModes: modes,
			Capacity:    corev1.ResourceList{"storage": resource.MustParse("10Gi")},
			ClaimRef:    &corev1.ObjectReference{Namespace: "shop", Name: "data", UID: "uid-data"},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: handle}},
		},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound},
	}}
	return c
}

func meta(ns, name string, age time.Duration) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: ns, Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(now.Add(-age))}
}

func ready(status corev1.ConditionStatus, since time.Duration) corev1.NodeCondition {
	return corev1.NodeCondition{Type: corev1.NodeReady, Status: status, Reason: "NodeStatusUnknown", LastTransitionTime: metav1.NewTime(now.Add(-since))}
}

func (c *cluster) node(name string) *corev1.Node {
	for _, n := range c.s.Cluster.Nodes {
		if n.Name == name {
			return n
		}
	}
	return nil
}

func (c *cluster) down(name string, since time.Duration) *cluster {
	c.node(name).Status.Conditions = []corev1.NodeCondition{ready(corev1.ConditionUnknown, since)}
	return c
}

func (c *cluster) remove(name string) *cluster {
	var rest []*corev1.Node
	for _, n := range c.s.Cluster.Nodes {
		if n.Name != name {
			rest = append(rest, n)
		}
	}
	c.s.Cluster.Nodes = rest
	return c
}

// attached adds an attached VolumeAttachment and lists the volume in the node's status.
func (c *cluster) attached(node string, age time.Duration) *storagev1.VolumeAttachment {
	name := pvName
	va := &storagev1.VolumeAttachment{
		ObjectMeta: meta("", snapshot.AttachmentName(handle, driver, node), age),
		Spec:       storagev1.VolumeAttachmentSpec{Attacher: driver, NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name}},
		Status:     storagev1.VolumeAttachmentStatus{Attached: true},
	}
	va.Finalizers = []string{"external-attacher/disk-csi-example-org"}
	c.s.Cluster.Attachments = append(c.s.Cluster.Attachments, va)
	if n := c.node(node); n != nil {
		n.Status.VolumesAttached = append(n.Status.VolumesAttached, corev1.AttachedVolume{Name: unique})
	}
	return va
}

// pod adds a pod of the claim; a running one when phase says so, else one that waits.
func (c *cluster) pod(name, node string, phase corev1.PodPhase, age time.Duration) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: meta("shop", name, age), Status: corev1.PodStatus{Phase: phase}}
	p.Spec.NodeName = node
	p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	p.Spec.Containers = []corev1.Container{{Name: "app"}}
	st := corev1.ContainerStatus{Name: "app"}
	if phase == corev1.PodRunning {
		st.Ready, st.State.Running = true, &corev1.ContainerStateRunning{StartedAt: p.CreationTimestamp}
	} else {
		st.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}
	}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{st}
	c.s.Cluster.Pods = append(c.s.Cluster.Pods, p)
	return p
}

func terminating(p *corev1.Pod, since time.Duration) {
	at, grace := metav1.NewTime(now.Add(-since)), int64(30)
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &at, &grace
}

func owned(p *corev1.Pod, kind, name string) *corev1.Pod {
	yes := true
	p.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: name, UID: types.UID("uid-" + name), Controller: &yes}}
	return p
}

// deployment adds a Deployment with two ReplicaSets, NAME-old and NAME-new.
func (c *cluster) deployment(name string, strategy appsv1.DeploymentStrategy) {
	one, yes := int32(1), true
	c.s.Cluster.Deployments = append(c.s.Cluster.Deployments, &appsv1.Deployment{
		ObjectMeta: meta("shop", name, 60*24*time.Hour), Spec: appsv1.DeploymentSpec{Replicas: &one, Strategy: strategy}})
	for _, rs := range []string{name + "-old", name + "-new"} {
		m := meta("shop", rs, 24*time.Hour)
		m.OwnerReferences = []metav1.OwnerReference{{Kind: "Deployment", Name: name, UID: types.UID("uid-" + name), Controller: &yes}}
		c.s.Cluster.ReplicaSets = append(c.s.Cluster.ReplicaSets, &appsv1.ReplicaSet{ObjectMeta: m})
	}
}

// plugin adds the driver's DaemonSet and its pod on each node.
func (c *cluster) plugin(root string, age time.Duration, nodes ...string) *cluster {
	spec := corev1.PodSpec{Containers: []corev1.Container{{Name: "registrar", Args: []string{"--kubelet-registration-path=" + root + "/plugins/" + driver + "/csi.sock"}}}}
	c.s.Cluster.DaemonSets = append(c.s.Cluster.DaemonSets, &appsv1.DaemonSet{
		ObjectMeta: meta("kube-system", "disk-node", 90*24*time.Hour),
		Spec:       appsv1.DaemonSetSpec{Template: corev1.PodTemplateSpec{Spec: spec}}})
	for _, n := range nodes {
		p := owned(&corev1.Pod{ObjectMeta: meta("kube-system", "disk-node-"+n, age), Spec: spec}, "DaemonSet", "disk-node")
		p.Spec.NodeName = n
		p.Status.Phase = corev1.PodRunning
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "registrar", Ready: true,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now.Add(-age))}}}}
		c.s.Cluster.Pods = append(c.s.Cluster.Pods, p)
	}
	return c
}

func (c *cluster) unregister(node string) *cluster {
	for _, n := range c.s.Cluster.CSINodes {
		if n.Name == node {
			n.Spec.Drivers = nil
		}
	}
	return c
}

// probed adds a node's facts with a readable mount table.
func (c *cluster) probed(node string, change func(*probes.Facts)) *cluster {
	f := &probes.Facts{Identity: probes.Identity{Clock: now, InitMntNS: 1},
		Namespaces: []probes.MountNamespace{{ID: 1, PIDs: []int{1}, TablePID: 1, Mounts: []probes.Mount{{ID: 1, Dev: probes.Dev{Major: 8}, Root: "/", Point: "/", FSType: "ext4"}}}},
		Processes:  []probes.Process{{PID: 1, Comm: "systemd", MntNS: 1}},
		Block:      []probes.BlockDevice{{Name: "sda", Dev: probes.Dev{Major: 8}, Sectors: 1 << 21, Serial: "systemdisk"}}}
	if change != nil {
		change(f)
	}
	c.s.Nodes[node] = &snapshot.NodeRecord{Name: node, Facts: f}
	return c
}

// diagnose asks for the claim with the rules of this layer only.
func (c *cluster) diagnose(t *testing.T) *report.Report {
	t.Helper()
	catalog, err := diagnosis.NewCatalog([]*diagnosis.Rule{
		attach.AttachStateOutOfStep, attach.AttachedInAPIMissingOnNode, attach.AttacherNotWorking, attach.AttachmentStaleInBackend,
		attach.CSICredentialsWrong, attach.CSIPluginHostPathMissing, attach.DeviceLinkMissing, attach.DeviceRenumbered, attach.HostpathTypeMismatch, attach.CSIDriverObjectWrong, attach.CSIPluginNotOnNode, attach.CSIPluginNotRegistered,
		attach.KubeletRootDirWrong, attach.NodeDown, attach.NodeKubeletDownWorkloadAlive, attach.NodeRemoved,
		attach.RWORollingUpdate, attach.RWOSharedByWorkloads, attach.VolumeAttachmentStale, attach.VolumeAttachmentVolumeGone,
	}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return catalog.Evaluate(snapshot.NewIndex(c.s), diagnosis.Question{Kind: "pvc", Namespace: "shop", Name: "data"})
}
