package risk

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// evaluate asks about node a of a snapshot with nodes a and b.
func evaluate(t *testing.T, rule *diagnosis.Rule, pods []*corev1.Pod, facts map[string]*probes.Facts) *report.Report {
	t.Helper()
	s := &snapshot.Snapshot{Nodes: map[string]*snapshot.NodeRecord{}}
	for _, n := range []string{"a", "b"} {
		s.Cluster.Nodes = append(s.Cluster.Nodes, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: n},
			Status:     corev1.NodeStatus{Addresses: []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: "localhost"}}},
		})
		if f := facts[n]; f != nil {
			s.Nodes[n] = &snapshot.NodeRecord{Name: n, Facts: f}
		}
	}
	s.Cluster.Pods = pods
	cat, err := diagnosis.NewCatalog([]*diagnosis.Rule{rule}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return cat.Evaluate(snapshot.NewIndex(s), diagnosis.Question{Kind: "node", Name: "a"})
}

func check(t *testing.T, r *report.Report, want ...string) {
	t.Helper()
	got := []string{}
	for _, c := range r.RootCauses {
		got = append(got, string(c.Certainty)+" "+c.Subject.String())
	}
	if want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("risks mismatch (-want +got):\n%s", diff)
	}
}

func TestMultipathMayClaim(t *testing.T) {
	t.Parallel()
	disk := probes.BlockDevice{Name: "sdb", Dev: probes.Dev{Major: 8, Minor: 16}, Vendor: "IET     ", Model: "VIRTUAL-DISK    "}
	section := func(vendor string) []probes.ConfigSection {
		return []probes.ConfigSection{{Name: "blacklist", Sections: []probes.ConfigSection{{Name: "device", Settings: []probes.ConfigSetting{{Key: "vendor", Value: vendor}, {Key: "product", Value: "VIRTUAL-DISK"}}}}}}
	}
	tests := []struct {
		name  string
		disks []probes.BlockDevice
		m     probes.Multipath
		want  []string
	}{
		{"active, nothing excluded", []probes.BlockDevice{disk}, probes.Multipath{DaemonPIDs: []int{5}, ConfigRead: true}, []string{"certain Node a"}},
		{"excluded by vendor and product", []probes.BlockDevice{disk}, probes.Multipath{DaemonPIDs: []int{5}, ConfigRead: true, Config: section("IET")}, nil},
		{"another vendor excluded", []probes.BlockDevice{disk}, probes.Multipath{DaemonPIDs: []int{5}, ConfigRead: true, Config: section("QEMU")}, []string{"certain Node a"}},
		{"a file of it was refused", []probes.BlockDevice{disk}, probes.Multipath{DaemonPIDs: []int{5}, ConfigRead: true}, []string{"likely Node a"}},
		{"configuration not read", []probes.BlockDevice{disk}, probes.Multipath{DaemonPIDs: []int{5}}, nil},
		{"no daemon", []probes.BlockDevice{disk}, probes.Multipath{ConfigRead: true}, nil},
		{"no disk of Longhorn", nil, probes.Multipath{DaemonPIDs: []int{5}, ConfigRead: true}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := &probes.Facts{Block: tt.disks, Multipath: tt.m}
			if tt.name == "a file of it was refused" {
				f.Problems = []probes.Problem{{Table: probes.Maps, Path: "etc/multipath/conf.d/10.conf", Text: "EACCES"}}
			}
			check(t, evaluate(t, MultipathMayClaim, nil, map[string]*probes.Facts{"a": f}), tt.want...)
		})
	}
}

func TestHostRootMountedPrivately(t *testing.T) {
	t.Parallel()
	const uid = "11111111-1111-1111-1111-111111111111"
	pod := func(host string, mode *corev1.MountPropagationMode) []*corev1.Pod {
		return []*corev1.Pod{{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "agent", UID: uid},
			Spec: corev1.PodSpec{
				NodeName:   "a",
				Volumes:    []corev1.Volume{{Name: "h", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: host}}}},
				Containers: []corev1.Container{{Name: "c", VolumeMounts: []corev1.VolumeMount{{Name: "h", MountPath: "/host", MountPropagation: mode}}}},
			},
			Status: corev1.PodStatus{Phase: corev1.PodRunning},
		}}
	}
	facts := func(m probes.Mount) map[string]*probes.Facts {
		m.Point, m.Line = "/host", 4
		return map[string]*probes.Facts{"a": {
			Processes:  []probes.Process{{PID: 7, PodUID: uid, MntNS: 2}},
			Namespaces: []probes.MountNamespace{{ID: 1, PIDs: []int{1}, TablePID: 1}, {ID: 2, PIDs: []int{7}, TablePID: 7, Mounts: []probes.Mount{m}}},
		}}
	}
	second := func(f map[string]*probes.Facts) map[string]*probes.Facts {
		f["a"].Processes = append(f["a"].Processes, probes.Process{PID: 8, PodUID: uid, MntNS: 3})
		f["a"].Namespaces = append(f["a"].Namespaces, probes.MountNamespace{ID: 3, PIDs: []int{8}, TablePID: 8, Mounts: []probes.Mount{{Point: "/host", Line: 4}}})
		return f
	}
	slave := corev1.MountPropagationHostToContainer
	tests := []struct {
		name  string
		pods  []*corev1.Pod
		facts map[string]*probes.Facts
		want  []string
	}{
		{"private in its table", pod("/", nil), facts(probes.Mount{}), []string{"certain Pod ops/agent"}},
		{"a slave in its table", pod("/", nil), facts(probes.Mount{Master: 1}), nil},
		{"a slave in one container, private in another", pod("/", nil), second(facts(probes.Mount{Master: 1})), []string{"certain Pod ops/agent"}},
		{"only the spec", pod("/var/lib", nil), nil, []string{"likely Pod ops/agent"}},
		{"HostToContainer", pod("/", &slave), nil, nil},
		{"a directory without mounts", pod("/var/log", nil), nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			check(t, evaluate(t, HostRootMountedPrivately, tt.pods, tt.facts), tt.want...)
		})
	}
}

func TestHostnameShared(t *testing.T) {
	t.Parallel()
	named := func(name, id string) *probes.Facts {
		return &probes.Facts{Identity: probes.Identity{Hostname: name}, NFS: probes.NFS{UniqueID: id}}
	}
	tests := []struct {
		name  string
		facts map[string]*probes.Facts
		want  []string
	}{
		{"two recordings agree", map[string]*probes.Facts{"a": named("ubuntu", ""), "b": named("ubuntu", "")}, []string{"certain Node a"}},
		{"two recordings differ, the API agrees", map[string]*probes.Facts{"a": named("n1", ""), "b": named("n2", "")}, nil},
		{"only the API agrees", nil, []string{"likely Node a"}},
		{"a unique id on one of them", map[string]*probes.Facts{"a": named("ubuntu", "1"), "b": named("ubuntu", "")}, nil},
		{"one was not looked at", map[string]*probes.Facts{"a": named("localhost", "")}, []string{"likely Node a"}},
		{"unique ids for NFS", map[string]*probes.Facts{"a": named("ubuntu", "1"), "b": named("ubuntu", "2")}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			check(t, evaluate(t, HostnameShared, nil, tt.facts), tt.want...)
		})
	}
}
