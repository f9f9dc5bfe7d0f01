package risk

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

var moment = time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)

// leftBehind is a snapshot with one volume attached to node a, which does not report; a
// pod of a StatefulSet waits for it on node b.
func leftBehind() *snapshot.Snapshot {
	pv, ready := "pv", func(status corev1.ConditionStatus) []corev1.NodeCondition {
		return []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, LastTransitionTime: metav1.NewTime(moment.Add(-9 * time.Minute))}}
	}
	s := &snapshot.Snapshot{TakenAt: moment, Server: "v1.31.0", Nodes: map[string]*snapshot.NodeRecord{}}
	s.Cluster.Nodes = []*corev1.Node{
		{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Status: corev1.NodeStatus{Conditions: ready(corev1.ConditionUnknown)}},
		{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Status: corev1.NodeStatus{Conditions: ready(corev1.ConditionTrue)}},
	}
	s.Cluster.PVs = []*corev1.PersistentVolume{{ObjectMeta: metav1.ObjectMeta{Name: pv}, Spec: corev1.PersistentVolumeSpec{
		AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		ClaimRef:               &corev1.ObjectReference{Namespace: "x", Name: "c", UID: "c"},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "d.example.com", VolumeHandle: "h"}}}}}
	s.Cluster.Claims = []*corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "c", UID: "c"}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: pv}, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}}}
	s.Cluster.Attachments = []*storagev1.VolumeAttachment{{ObjectMeta: metav1.ObjectMeta{Name: "csi-1"},
		Spec: storagev1.VolumeAttachmentSpec{Attacher: "d.example.com", NodeName: "a", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &pv}}, Status: storagev1.VolumeAttachmentStatus{Attached: true}}}
	s.Cluster.Pods = []*corev1.Pod{consumer("w", "b")}
	return s
}

func consumer(name, node string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: name, UID: "u", CreationTimestamp: metav1.NewTime(moment.Add(-time.Minute))},
		Spec: corev1.PodSpec{NodeName: node, Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}}}}}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
}

// alive records a pod's process on node a, at some distance from the snapshot's moment.
func alive(off time.Duration) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Nodes["a"] = &snapshot.NodeRecord{Name: "a", Facts: &probes.Facts{Identity: probes.Identity{Clock: moment.Add(off)},
			Processes: []probes.Process{{PID: 7, Comm: "postgres", PodUID: "gone"}}}}
	}
}

func taint(key string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Cluster.Nodes[0].Spec.Taints = []corev1.Taint{{Key: key}} }
}

func readyNode(s *snapshot.Snapshot) {
	s.Cluster.Nodes[0].Status.Conditions[0].Status = corev1.ConditionTrue
}

func all(changes ...func(*snapshot.Snapshot)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		for _, c := range changes {
			c(s)
		}
	}
}

func ask(t *testing.T, rule *diagnosis.Rule, s *snapshot.Snapshot, want ...string) {
	t.Helper()
	cat, err := diagnosis.NewCatalog([]*diagnosis.Rule{rule}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	check(t, cat.Evaluate(snapshot.NewIndex(s), diagnosis.Question{Kind: "node", Name: "a"}), want...)
}

func TestForceDetachImminent(t *testing.T) {
	t.Parallel()
	gone := func(s *snapshot.Snapshot) {
		at := metav1.NewTime(moment)
		s.Cluster.Attachments[0].DeletionTimestamp = &at
	}
	inUse := func(s *snapshot.Snapshot) {
		s.Cluster.Nodes[0].Status.VolumesInUse = []corev1.UniqueVolumeName{"kubernetes.io/csi/d.example.com^h"}
	}
	certain, likely := []string{"certain Node a"}, []string{"likely Node a"}
	for name, c := range map[string]struct {
		change func(*snapshot.Snapshot)
		want   []string
	}{
		"the clock runs, the machine lives":         {alive(time.Second), certain},
		"the clock runs, the machine was not seen":  {all(), likely},
		"the clock runs, an old recording":          {alive(-time.Hour), likely},
		"a pod object is still there":               {func(s *snapshot.Snapshot) { s.Cluster.Pods = append(s.Cluster.Pods, consumer("old", "a")) }, nil},
		"detached already":                          {gone, nil},
		"shown off by the cloud":                    {taint("node.cloudprovider.kubernetes.io/shutdown"), nil},
		"shown off by the cloud, yet it lives":      {all(taint("node.cloudprovider.kubernetes.io/shutdown"), alive(0)), certain},
		"out of service and Ready":                  {all(taint("node.kubernetes.io/out-of-service"), readyNode), certain},
		"out of service and alive":                  {all(taint("node.kubernetes.io/out-of-service"), alive(0)), certain},
		"out of service, as it shall be":            {taint("node.kubernetes.io/out-of-service"), nil},
		"Ready":                                     {readyNode, nil},
		"Ready, an old server, an unmount is stuck": {all(readyNode, inUse, func(s *snapshot.Snapshot) { s.Server = "v1.24.3" }), likely},
		"Ready, a new server, an unmount is stuck":  {all(readyNode, inUse), nil},
		"Ready, an old server, nothing is mounted":  {all(readyNode, func(s *snapshot.Snapshot) { s.Server = "v1.24.3" }), nil},
		"pods were not read":                        {func(s *snapshot.Snapshot) { s.Gaps = []snapshot.Gap{{Need: "api//pods", Reason: snapshot.Forbidden}} }, nil},
		"the controller was told not to take it away": {func(s *snapshot.Snapshot) {
			s.Cluster.Pods = append(s.Cluster.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kcm"},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Command: []string{"kube-controller-manager", "--disable-force-detach-on-timeout=true"}}}}})
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := leftBehind()
			c.change(s)
			ask(t, ForceDetachImminent, s, c.want...)
		})
	}
}

func TestVolumesBehindHardNFS(t *testing.T) {
	t.Parallel()
	mounted := func(point, fs string, options ...string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.Nodes["a"] = &snapshot.NodeRecord{Name: "a", Facts: &probes.Facts{Namespaces: []probes.MountNamespace{{ID: 1, PIDs: []int{1}, TablePID: 1,
				Mounts: []probes.Mount{{Point: point, FSType: fs, Source: "10.0.0.9:/x", Super: options, Line: 3, Raw: "raw"}}}}}}
		}
	}
	longhorn := func(version, options string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.Cluster.PVs[0].Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: snapshot.LonghornDriver, VolumeHandle: "h"}
			if options != "" {
				s.Cluster.PVs[0].Spec.CSI.VolumeAttributes = map[string]string{"nfsOptions": options}
			}
			s.Cluster.PVs[0].Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
			s.Cluster.Longhorn.Settings = []*snapshot.LHSetting{{ObjectMeta: metav1.ObjectMeta{Name: "current-longhorn-version"}, Value: version}}
			s.Cluster.Pods = append(s.Cluster.Pods, consumer("c", "a"))
		}
	}
	const path = "/var/lib/kubelet/pods/11111111-1111-1111-1111-111111111111/volumes/kubernetes.io~csi/pv/mount"
	certain, likely := []string{"certain Node a"}, []string{"likely Node a"}
	for name, c := range map[string]struct {
		change func(*snapshot.Snapshot)
		want   []string
	}{
		"hard, of a volume":               {mounted(path, "nfs4", "rw", "hard"), certain},
		"softerr":                         {mounted(path, "nfs4", "rw", "softerr"), nil},
		"hard, of the host":               {mounted("/mnt/backup", "nfs4", "rw", "hard"), nil},
		"not NFS":                         {mounted(path, "ext4", "rw", "hard"), nil},
		"not seen, hard by its release":   {longhorn("v1.5.1", ""), likely},
		"not seen, hard by its options":   {longhorn("v1.7.2", "vers=4.1,hard"), likely},
		"not seen, soft by its release":   {longhorn("v1.5.2", ""), nil},
		"not seen, soft by its options":   {longhorn("v1.5.1", "vers=4.1,softerr"), nil},
		"seen soft, hard by its release":  {all(longhorn("v1.5.1", ""), mounted(path, "nfs4", "rw", "soft")), nil},
		"a volume for one node, not seen": {all(), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := leftBehind()
			c.change(s)
			ask(t, VolumesBehindHardNFS, s, c.want...)
		})
	}
}
