package noise

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var now = time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)

const (
	uid    = "2c5a7c9e-0000-4000-8000-000000000001"
	volume = "pvc-0a1b2c3d"
)

// machine is node n with a running pod of one Longhorn volume.
func machine() (*snapshot.Snapshot, *probes.Facts) {
	facts := &probes.Facts{
		Namespaces: []probes.MountNamespace{{ID: 1, PIDs: []int{1}, TablePID: 1}},
		Processes:  []probes.Process{{PID: 1, Comm: "systemd", MntNS: 1}},
		Kubelet:    probes.Kubelet{Root: "/var/lib/kubelet"}, Files: map[string]probes.File{},
	}
	pv := volume
	s := &snapshot.Snapshot{TakenAt: now, Nodes: map[string]*snapshot.NodeRecord{"n": {Name: "n", Facts: facts}}}
	s.Cluster.Nodes = []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n"}}}
	s.Cluster.Claims = []*corev1.PersistentVolumeClaim{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "data"},
		Spec:       corev1.PersistentVolumeClaimSpec{VolumeName: pv}, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}}}
	s.Cluster.PVs = []*corev1.PersistentVolume{{ObjectMeta: metav1.ObjectMeta{Name: pv}, Spec: corev1.PersistentVolumeSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, ClaimRef: &corev1.ObjectReference{Namespace: "shop", Name: "data"},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: snapshot.LonghornDriver, VolumeHandle: volume}}}}}
	s.Cluster.Pods = []*corev1.Pod{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db-0", UID: uid},
		Spec: corev1.PodSpec{NodeName: "n", Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning}}}
	s.Cluster.Attachments = []*storagev1.VolumeAttachment{{
		ObjectMeta: metav1.ObjectMeta{Name: snapshot.AttachmentName(volume, snapshot.LonghornDriver, "n")},
		Spec:       storagev1.VolumeAttachmentSpec{NodeName: "n", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &pv}},
		Status:     storagev1.VolumeAttachmentStatus{Attached: true}}}
	s.Cluster.Longhorn.Volumes = []*snapshot.LHVolume{{ObjectMeta: metav1.ObjectMeta{Namespace: "longhorn-system", Name: volume}, NumberOfReplicas: 2,
		Status: snapshot.LHVolumeStatus{State: "attached", CurrentNodeID: "n", Robustness: "healthy"}}}
	s.Cluster.Longhorn.Engines = []*snapshot.LHEngine{{ObjectMeta: metav1.ObjectMeta{Name: volume + "-e-0"}, Active: true,
		LHInstance: snapshot.LHInstance{VolumeName: volume, NodeID: "n", CurrentState: "running"}, ReplicaModes: map[string]string{"a": "RW", "b": "ERR"}}}
	return s, facts
}

func TestNoise(t *testing.T) {
	t.Parallel()
	const denied = `audit: type=1400 audit(1.2:3): apparmor="DENIED" operation="`
	kernel := func(kind, text string) func(*snapshot.Snapshot, *probes.Facts) {
		return func(_ *snapshot.Snapshot, f *probes.Facts) { f.Kernel = []probes.KernelLine{{Kind: kind, Text: text}} }
	}
	session := func(ip string) func(*snapshot.Snapshot, *probes.Facts) {
		return func(s *snapshot.Snapshot, f *probes.Facts) {
			s.Cluster.Longhorn.Volumes[0].Status.CurrentNodeID = "other"
			s.Cluster.Longhorn.InstanceManagers = []*snapshot.LHInstanceManager{{ObjectMeta: metav1.ObjectMeta{Name: "im"}, NodeID: "n", IP: "10.42.0.9"}}
			f.ISCSI.Sessions = []probes.ISCSISession{{Name: "session3", Target: longhornTarget + volume, State: "FAILED",
				Connections: []probes.ISCSIConnection{{PersistentAddress: ip}}}}
		}
	}
	refused := func(at time.Duration) func(*snapshot.Snapshot, *probes.Facts) {
		return func(s *snapshot.Snapshot, _ *probes.Facts) {
			s.Cluster.Events = []*snapshot.Event{{Kind: "Pod", ObjNamespace: "shop", ObjName: "db-0", Reason: "FailedAttachVolume", Last: now.Add(-at),
				Message: `Multi-Attach error for volume "pvc-0a1b2c3d" Volume is already exclusively attached to one node and can't be attached to another`}}
		}
	}
	leftover := func(mounted bool) func(*snapshot.Snapshot, *probes.Facts) {
		return func(_ *snapshot.Snapshot, f *probes.Facts) {
			const gone = "99999999-0000-4000-8000-000000000009"
			f.Kubelet.PodDirs = []probes.PodDir{{UID: gone, Volumes: []probes.PodVolumeDir{{Plugin: "kubernetes.io~csi", Name: "pvc-x"}}}}
			if mounted {
				f.Namespaces[0].Mounts = []probes.Mount{{Dev: probes.Dev{Major: 8}, Point: "/var/lib/kubelet/pods/" + gone + "/volumes/kubernetes.io~csi/pvc-x/mount"}}
			}
		}
	}
	for _, tt := range []struct {
		name string
		make func(*snapshot.Snapshot, *probes.Facts)
		want []string
	}{
		{"nothing", func(*snapshot.Snapshot, *probes.Facts) {}, nil},
		{"ptrace denied to a monitor", kernel("apparmor-denied", denied+`ptrace" profile="p" comm="node_exporter"`), []string{"apparmor-denial-unrelated"}},
		{"mount denied to iscsid", kernel("apparmor-denied", denied+`mount" profile="p" comm="iscsid"`), nil},
		{"SELinux denies another program", kernel("selinux-denied", `avc:  denied  { read } for  pid=1 comm="chronyd" tclass=file permissive=0`), []string{"selinux-denial-unrelated"}},
		{"SELinux denies iscsiadm", kernel("selinux-denied", `avc:  denied  { read } for  pid=1 comm="iscsiadm" tclass=file permissive=0`), nil},
		{"SELinux would deny iscsiadm", kernel("selinux-denied", `avc:  denied  { read } for  pid=1 comm="iscsiadm" tclass=file permissive=1`), []string{"selinux-denial-unrelated"}},
		{"a session to an instance manager that is gone", session("10.42.0.7"), []string{"iscsi-orphan-session-log"}},
		{"AppArmor denies a mount on a volume", kernel("apparmor-denied", denied+`mount" profile="cri-containerd.apparmor.d" name="/var/lib/kubelet/pods/u/volumes/kubernetes.io~csi/pvc-x/mount/" comm="java"`), nil},
		{"AppArmor denies under the profile of iscsid", kernel("apparmor-denied", denied+`open" profile="/usr/sbin/iscsid" name="/etc/iscsi/x" comm="worker"`), nil},
		{"a log of an address that nobody has", func(_ *snapshot.Snapshot, f *probes.Facts) {
			f.Files["var/log/syslog"] = probes.File{Content: "May  4 09:59:00 n iscsid: connect to 10.42.0.7:3260 failed (No route to host)\nMay  4 09:59:09 n iscsid: connect to 10.42.0.7:3260 failed (No route to host)"}
		}, []string{"iscsi-orphan-session-log"}},
		{"a log of the address of an instance manager", func(s *snapshot.Snapshot, f *probes.Facts) {
			s.Cluster.Longhorn.InstanceManagers = []*snapshot.LHInstanceManager{{ObjectMeta: metav1.ObjectMeta{Name: "im"}, NodeID: "n", IP: "10.42.0.7"}}
			f.Files["var/log/syslog"] = probes.File{Content: "May  4 09:59:00 n iscsid: cannot make a connection to 10.42.0.7:3260 (-1,113)"}
		}, nil},
		{"a replica without a disk", func(s *snapshot.Snapshot, _ *probes.Facts) {
			s.Cluster.Longhorn.Volumes[0].Status.Conditions = snapshot.Conditions{{Type: "Scheduled", Status: "False"}}
		}, []string{"volume-degraded-harmless"}},
		{"a session to a current instance manager", session("10.42.0.9"), nil},
		{"an old Multi-Attach event", refused(30 * time.Minute), []string{"multi-attach-text-old"}},
		{"an empty directory of a pod that is gone", leftover(false), []string{"orphaned-pod-log"}},
		{"a mount of a pod that is gone", leftover(true), nil},
		{"a mount of a pod that is gone, the kubelet's directory is a link", func(s *snapshot.Snapshot, f *probes.Facts) {
			leftover(true)(s, f)
			f.Kubelet.Root, f.Kubelet.RealRoot = "/srv/kubelet", "/var/lib/kubelet"
		}, nil},
		{"degraded and working", func(s *snapshot.Snapshot, _ *probes.Facts) {
			s.Cluster.Longhorn.Volumes[0].Status.Robustness = "degraded"
		}, []string{"volume-degraded-harmless"}},
		{"degraded while it migrates", func(s *snapshot.Snapshot, _ *probes.Facts) {
			s.Cluster.Longhorn.Volumes[0].Status.Robustness = "degraded"
			s.Cluster.Longhorn.Volumes[0].MigrationNodeID = "m"
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			catalog, err := diagnosis.NewCatalog(nil, nil, Rules)
			if err != nil {
				t.Fatal(err)
			}
			s, f := machine()
			tt.make(s, f)
			r := catalog.Evaluate(snapshot.NewIndex(s), diagnosis.Question{Kind: "pvc", Namespace: "shop", Name: "data"})
			var got []string
			for _, n := range r.Noise {
				got = append(got, n.Name)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("noise %v, want %v", got, tt.want)
			}
		})
	}
}

// TestNoiseQuotes: what no log said is not told as if it had.
func TestNoiseQuotes(t *testing.T) {
	t.Parallel()
	const gone = "99999999-0000-4000-8000-000000000009"
	for name, c := range map[string]struct{ log, want string }{
		"no log was read": {want: "Node n keeps the directory of pod " + gone + ", which the API does not know."},
		"the kubelet's log was read": {log: `kubelet: orphaned pod "` + gone + `" found, but volume paths are still present on disk`,
			want: "Node n keeps the directory of pod " + gone + ", which the API does not know. Its kubelet logs: " +
				`kubelet: orphaned pod "` + gone + `" found, but volume paths are still present on disk`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			catalog, err := diagnosis.NewCatalog(nil, nil, Rules)
			if err != nil {
				t.Fatal(err)
			}
			s, f := machine()
			f.Kubelet.PodDirs = []probes.PodDir{{UID: gone, Volumes: []probes.PodVolumeDir{{Plugin: "kubernetes.io~csi", Name: "pvc-x"}}}}
			f.Files["var/log/syslog"] = probes.File{Content: c.log}
			r := catalog.Evaluate(snapshot.NewIndex(s), diagnosis.Question{Kind: "node", Name: "n"})
			if len(r.Noise) != 1 || r.Noise[0].Message != c.want {
				t.Errorf("noise %+v, want %q", r.Noise, c.want)
			}
		})
	}
}

// TestNoiseOfFiles: files in the directory of a pod that is gone are not called an empty directory.
func TestNoiseOfFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files []string
		want  string
	}{
		"nothing but what the kubelet made":     {[]string{"mount", "vol_data.json"}, "only empty directories"},
		"a pod wrote where nothing was mounted": {[]string{"mount", "mount/log", "vol_data.json"}, "may exist nowhere else: pvc-x/mount/log"},
	} {
		catalog, err := diagnosis.NewCatalog(nil, nil, Rules)
		if err != nil {
			t.Fatal(err)
		}
		s, f := machine()
		f.Kubelet.PodDirs = []probes.PodDir{{UID: "99999999-0000-4000-8000-000000000009", Volumes: []probes.PodVolumeDir{{Plugin: "kubernetes.io~csi", Name: "pvc-x", Files: c.files}}}}
		r := catalog.Evaluate(snapshot.NewIndex(s), diagnosis.Question{Kind: "node", Name: "n"})
		if len(r.Noise) != 1 || !strings.Contains(r.Noise[0].Because, c.want) {
			t.Errorf("%s: noise %+v, want %q", name, r.Noise, c.want)
		}
	}
}
