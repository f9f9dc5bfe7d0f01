package volume

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestReach asks about a volume that is attached to node a and was attached to node b.
func TestReach(t *testing.T) {
	t.Parallel()
	node := func() *probes.Facts {
		return &probes.Facts{
			Identity: probes.Identity{InitMntNS: 1}, Namespaces: []probes.MountNamespace{{ID: 1, PIDs: []int{1}, TablePID: 1}}, Processes: []probes.Process{{PID: 1, MntNS: 1}},
			Block: []probes.BlockDevice{{Name: "sdb", Dev: probes.Dev{Major: 8, Minor: 16}, Serial: "vol0123456789abcdef"}},
		}
	}
	staged := probes.Mount{Dev: probes.Dev{Major: 8, Minor: 16}, Point: "/var/lib/kubelet/pods/11111111-1111-1111-1111-111111111111/volumes/kubernetes.io~csi/pv/mount", Root: "/", FSType: "ext4", Source: "/dev/sdb", Raw: "line"}
	for name, tt := range map[string]struct {
		change                        func(*snapshot.Snapshot)
		everywhere, unused, unmounted string
	}{
		"both read, nothing there": {func(*snapshot.Snapshot) {}, "yes", "yes", "yes"},
		"mounted on b":             {func(s *snapshot.Snapshot) { s.Nodes["b"].Facts.Namespaces[0].Mounts = []probes.Mount{staged} }, "yes", "no", "no"},
		"mounted on a":             {func(s *snapshot.Snapshot) { s.Nodes["a"].Facts.Namespaces[0].Mounts = []probes.Mount{staged} }, "yes", "yes", "no"},
		"b not probed":             {func(s *snapshot.Snapshot) { delete(s.Nodes, "b") }, "unseen", "unseen", "unseen"},
		"a not probed":             {func(s *snapshot.Snapshot) { delete(s.Nodes, "a") }, "unseen", "yes", "unseen"},
		"files of b unread": {func(s *snapshot.Snapshot) {
			s.Nodes["b"].Facts.Problems = []probes.Problem{{Table: probes.Descriptors, Text: "EACCES"}}
		}, "unseen", "unseen", "unseen"},
		"attachments unread": {func(s *snapshot.Snapshot) {
			s.Gaps = []snapshot.Gap{{Need: "api/storage.k8s.io/volumeattachments", Reason: "Forbidden"}}
		}, "unseen", "yes", "unseen"},
	} {
		pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv"}, Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{
			CSI: &corev1.CSIPersistentVolumeSource{Driver: "ebs.csi.aws.com", VolumeHandle: "vol-0123456789abcdef"},
		}}}
		name1 := "pv"
		va := func(node string) *storagev1.VolumeAttachment {
			return &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "csi-" + node}, Spec: storagev1.VolumeAttachmentSpec{NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name1}}, Status: storagev1.VolumeAttachmentStatus{Attached: node == "a"}}
		}
		s := &snapshot.Snapshot{
			Cluster: snapshot.Cluster{PVs: []*corev1.PersistentVolume{pv}, Attachments: []*storagev1.VolumeAttachment{va("a"), va("b")}},
			Nodes:   map[string]*snapshot.NodeRecord{"a": {Facts: node()}, "b": {Facts: node()}},
		}
		tt.change(s)
		x := snapshot.NewIndex(s)
		v := x.VolumeOfPV("pv")
		got := [3]string{Everywhere(x, v).String(), UnusedOn(x, v, "b").String(), UnmountedEverywhere(x, v).String()}
		if want := [3]string{tt.everywhere, tt.unused, tt.unmounted}; got != want {
			t.Errorf("%s: everywhere, unused on b, unmounted are %v, want %v", name, got, want)
		}
	}
}

// TestNotInUse believes the kubelet of a node that was read.
func TestNotInUse(t *testing.T) {
	t.Parallel()
	v := &snapshot.Volume{Driver: "d", Handle: "h", PV: &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{
		CSI: &corev1.CSIPersistentVolumeSource{Driver: "d", VolumeHandle: "h"},
	}}}}
	node := func(inUse ...corev1.UniqueVolumeName) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{VolumesInUse: inUse}}
	}
	for name, tt := range map[string]struct {
		nodes []*corev1.Node
		want  string
	}{
		"not listed": {[]*corev1.Node{node("kubernetes.io/csi/d^other")}, "yes"},
		"listed":     {[]*corev1.Node{node("kubernetes.io/csi/d^h")}, "no"},
		"no node":    {nil, "unseen"},
	} {
		x := snapshot.NewIndex(&snapshot.Snapshot{Cluster: snapshot.Cluster{Nodes: tt.nodes}})
		if got := NotInUse(x, v, "n").String(); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// TestOneDiskOfTwoObjects asks about a disk that two PVs stand for: node a has the one, and
// node c has a pod of the other.
func TestOneDiskOfTwoObjects(t *testing.T) {
	t.Parallel()
	facts := func() *probes.Facts {
		return &probes.Facts{
			Identity: probes.Identity{InitMntNS: 1}, Namespaces: []probes.MountNamespace{{ID: 1, PIDs: []int{1}, TablePID: 1}}, Processes: []probes.Process{{PID: 1, MntNS: 1}},
			Block: []probes.BlockDevice{{Name: "sdb", Dev: probes.Dev{Major: 8, Minor: 16}, Serial: "vol0123456789abcdef"}},
		}
	}
	published := probes.Mount{Dev: probes.Dev{Major: 8, Minor: 16}, Point: "/var/lib/kubelet/pods/11111111-1111-1111-1111-111111111111/volumes/kubernetes.io~csi/twin/mount", Root: "/", FSType: "ext4", Source: "/dev/sdb", Raw: "line"}
	for name, tt := range map[string]struct {
		mode                           corev1.PersistentVolumeAccessMode
		change                         func(*snapshot.Snapshot)
		onlyA, everywhere, unusedThere string
	}{
		"both nodes read, nothing on c":   {corev1.ReadWriteOnce, func(*snapshot.Snapshot) {}, "yes", "yes", "yes"},
		"c mounts it as the other object": {corev1.ReadWriteOnce, func(s *snapshot.Snapshot) { s.Nodes["c"].Facts.Namespaces[0].Mounts = []probes.Mount{published} }, "no", "yes", "no"},
		"c was not looked at":             {corev1.ReadWriteOnce, func(s *snapshot.Snapshot) { delete(s.Nodes, "c") }, "unseen", "unseen", "unseen"},
		"a disk that is called shared":    {corev1.ReadWriteMany, func(s *snapshot.Snapshot) { delete(s.Nodes, "c") }, "unseen", "unseen", "unseen"},
		"shared, and no disk": {corev1.ReadWriteMany, func(s *snapshot.Snapshot) {
			delete(s.Nodes, "c")
			s.Nodes["a"].Facts.Block = nil
		}, "yes", "unseen", "unseen"},
	} {
		s := &snapshot.Snapshot{Nodes: map[string]*snapshot.NodeRecord{"a": {Facts: facts()}, "c": {Facts: facts()}}}
		for pv, node := range map[string]string{"pv": "a", "twin": "c"} {
			s.Cluster.PVs = append(s.Cluster.PVs, &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: pv}, Spec: corev1.PersistentVolumeSpec{
				AccessModes:            []corev1.PersistentVolumeAccessMode{tt.mode},
				PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "ebs.csi.aws.com", VolumeHandle: "vol-0123456789abcdef"}},
			}})
			s.Cluster.Attachments = append(s.Cluster.Attachments, &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "csi-" + node},
				Spec: storagev1.VolumeAttachmentSpec{NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &pv}}, Status: storagev1.VolumeAttachmentStatus{Attached: true}})
		}
		tt.change(s)
		x := snapshot.NewIndex(s)
		v := x.VolumeOfPV("pv")
		got := [3]string{OnlyHere(x, v, "a").String(), Everywhere(x, v).String(), UnusedOn(x, v, "c").String()}
		if want := [3]string{tt.onlyA, tt.everywhere, tt.unusedThere}; got != want {
			t.Errorf("%s: only on a, everywhere, unused on c are %v, want %v", name, got, want)
		}
	}
}

// TestLeftMount: a mount on a node of which the API knows nothing is one, too.
func TestLeftMount(t *testing.T) {
	t.Parallel()
	left := probes.Mount{Dev: probes.Dev{Major: 8, Minor: 16}, Point: "/var/lib/kubelet/pods/11111111-1111-1111-1111-111111111111/volumes/kubernetes.io~csi/pv/mount", Root: "/", FSType: "ext4", Source: "/dev/sdb", Raw: "line"}
	for want, mounts := range map[string][]probes.Mount{"no": {left}, "yes": nil} {
		s := &snapshot.Snapshot{Nodes: map[string]*snapshot.NodeRecord{"d": {Facts: &probes.Facts{Identity: probes.Identity{InitMntNS: 1},
			Namespaces: []probes.MountNamespace{{ID: 1, PIDs: []int{1}, TablePID: 1, Mounts: mounts}}, Processes: []probes.Process{{PID: 1, MntNS: 1}}}}}}
		s.Cluster.PVs = []*corev1.PersistentVolume{{ObjectMeta: metav1.ObjectMeta{Name: "pv"}, Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "ebs.csi.aws.com", VolumeHandle: "vol-0123456789abcdef"}}}}}
		x := snapshot.NewIndex(s)
		if got := UnmountedEverywhere(x, x.VolumeOfPV("pv")).String(); got != want {
			t.Errorf("with %d mounts left unmounted everywhere is %s, want %s", len(mounts), got, want)
		}
	}
}

// TestMadeFor: a node that is younger than the attachment is another machine, or may be.
func TestMadeFor(t *testing.T) {
	t.Parallel()
	at := func(hour int) metav1.Time { return metav1.Date(2026, 1, 2, hour, 0, 0, 0, time.UTC) }
	va := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: at(10)}, Spec: storagev1.VolumeAttachmentSpec{NodeName: "a"}}
	for want, nodes := range map[string][]*corev1.Node{
		"yes":    {{ObjectMeta: metav1.ObjectMeta{Name: "a", CreationTimestamp: at(9)}}},
		"no":     {{ObjectMeta: metav1.ObjectMeta{Name: "a", CreationTimestamp: at(11)}}},
		"unseen": nil,
	} {
		x := snapshot.NewIndex(&snapshot.Snapshot{Cluster: snapshot.Cluster{Nodes: nodes}})
		if got := MadeFor(x, va).String(); got != want {
			t.Errorf("with %v it is %s, want %s", nodes, got, want)
		}
	}
}
