package attach

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var outsideNow = time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)

// refusedImage is an RBD image that a pod on node n1 waits for, while its storage names
// a watcher.
func refusedImage(address string) *snapshot.Snapshot {
	pv := "pv"
	s := &snapshot.Snapshot{TakenAt: outsideNow, Nodes: map[string]*snapshot.NodeRecord{"n1": {Name: "n1", Facts: &probes.Facts{}}}}
	s.Cluster.Nodes = []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Spec: corev1.NodeSpec{PodCIDR: "172.30.4.0/24", ProviderID: "cloud:///i-1"},
		Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "192.168.1.11"}}}}}
	s.Cluster.PVs = []*corev1.PersistentVolume{{ObjectMeta: metav1.ObjectMeta{Name: pv}, Spec: corev1.PersistentVolumeSpec{
		AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		ClaimRef:               &corev1.ObjectReference{Namespace: "x", Name: "c", UID: "c"},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "rbd.csi.ceph.com", VolumeHandle: "h"}}}}}
	s.Cluster.Claims = []*corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "c", UID: "c"}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: pv}, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}}}
	s.Cluster.Pods = []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "w", UID: "w", CreationTimestamp: metav1.NewTime(outsideNow.Add(-time.Hour))},
		Spec: corev1.PodSpec{NodeName: "n1", Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}}}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending}}}
	if address != "" {
		s.Cluster.Events = []*snapshot.Event{{Kind: "Pod", ObjNamespace: "x", ObjName: "w", Reason: "FailedMount", Component: "kubelet", Host: "n1", First: outsideNow.Add(-time.Minute), Last: outsideNow.Add(-time.Minute),
			Message: `MountVolume.MountDevice failed for volume "pv" : rpc error: code = Internal desc = rbd image k8s/img is still being used: watcher=` + address + `:0/123456 client.77 cookie=1`}}
	}
	return s
}

// leftBehind makes the volume's attachment go away from a node that is no more.
func leftBehind(id string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		at, pv := metav1.NewTime(outsideNow.Add(-time.Hour)), "pv"
		s.Cluster.Attachments = []*storagev1.VolumeAttachment{{ObjectMeta: metav1.ObjectMeta{Name: "csi-1", DeletionTimestamp: &at, Annotations: map[string]string{"csi.alpha.kubernetes.io/node-id": id}},
			Spec:   storagev1.VolumeAttachmentSpec{Attacher: "rbd.csi.ceph.com", NodeName: "lost", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &pv}},
			Status: storagev1.VolumeAttachmentStatus{Attached: true}}}
	}
}

// recorded adds a recording of the lost machine, with or without the volume's mount.
func recorded(uses bool) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		leftBehind("lost")(s)
		ns := probes.MountNamespace{ID: 1, PIDs: []int{1}, TablePID: 1}
		if uses {
			ns.Mounts = []probes.Mount{{Dev: probes.Dev{Major: 252}, FSType: "ext4", Source: "/dev/rbd0", Line: 9,
				Point: "/var/lib/kubelet/pods/11111111-1111-1111-1111-111111111111/volumes/kubernetes.io~csi/pv/mount"}}
		}
		s.Nodes["lost"] = &snapshot.NodeRecord{Name: "lost", Facts: &probes.Facts{Identity: probes.Identity{Clock: outsideNow}, Namespaces: []probes.MountNamespace{ns}}}
	}
}

func TestVolumeMappedOutsideCluster(t *testing.T) {
	t.Parallel()
	const certain, likely = "certain PersistentVolume/pv", "likely PersistentVolume/pv"
	same := func(*snapshot.Snapshot) {}
	for name, c := range map[string]struct {
		watcher string
		change  func(*snapshot.Snapshot)
		want    string
	}{
		"a foreign watcher, all nodes seen": {"192.168.1.99", same, certain},
		"a foreign watcher, a node not seen": {"192.168.1.99", func(s *snapshot.Snapshot) {
			s.Cluster.Nodes = append(s.Cluster.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n2"}})
		}, likely},
		"a foreign watcher, perhaps the machine of a lost node": {"192.168.1.99", leftBehind("lost"), likely},
		"a foreign watcher of IPv6":                             {"[2001:db8::5]", same, certain},
		"a node's address":                                      {"192.168.1.11", same, ""},
		"an address of the node's pods":                         {"172.30.4.77", same, ""},
		"an address of a usual pod pool":                        {"10.244.3.7", same, ""},
		"beside the address of a pod": {"100.64.9.3", func(s *snapshot.Snapshot) {
			s.Cluster.Pods = append(s.Cluster.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "y", Name: "p"}, Status: corev1.PodStatus{PodIP: "100.64.1.1"}})
		}, ""},
		"an old word": {"192.168.1.99", func(s *snapshot.Snapshot) { s.Cluster.Events[0].Last = outsideNow.Add(-time.Hour) }, ""},
		"a node of ours mounts it": {"192.168.1.99", func(s *snapshot.Snapshot) {
			recorded(true)(s)
			s.Nodes["n1"], s.Cluster.Attachments = s.Nodes["lost"], nil
			delete(s.Nodes, "lost")
		}, ""},
		"nodes were not read":                         {"192.168.1.99", func(s *snapshot.Snapshot) { s.Gaps = []snapshot.Gap{{Need: "api//nodes", Reason: snapshot.Forbidden}} }, ""},
		"a lost node, nothing says that it lives":     {"", leftBehind("lost"), ""},
		"a lost node, its recording shows the volume": {"", recorded(true), "likely VolumeAttachment/csi-1"},
		"a lost node, its recording is without it":    {"", recorded(false), ""},
		"a lost node, its machine has another name":   {"", leftBehind("i-1"), "possible VolumeAttachment/csi-1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := refusedImage(c.watcher)
			c.change(s)
			catalog, err := diagnosis.NewCatalog([]*diagnosis.Rule{VolumeMappedOutsideCluster}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, f := range catalog.Evaluate(snapshot.NewIndex(s), diagnosis.Question{Kind: "pvc", Namespace: "x", Name: "c"}).RootCauses {
				got += string(f.Certainty) + " " + f.Subject.Kind + "/" + f.Subject.Name
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
