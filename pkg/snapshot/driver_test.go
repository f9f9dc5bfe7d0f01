package snapshot

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func daemonSet(name string, c corev1.Container, hostPath string) *appsv1.DaemonSet {
	ds := &appsv1.DaemonSet{ObjectMeta: meta("kube-system", name)}
	ds.Spec.Template.Spec.Containers = []corev1.Container{c}
	if hostPath != "" {
		ds.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "d", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: hostPath}}}}
	}
	return ds
}

func daemonPod(ds *appsv1.DaemonSet, node string) *corev1.Pod {
	controller := true
	p := &corev1.Pod{ObjectMeta: meta(ds.Namespace, ds.Name+"-"+node), Spec: ds.Spec.Template.Spec}
	p.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: ds.Name, Controller: &controller}}
	p.Spec.NodeName = node
	return p
}

func TestDriverDaemonSet(t *testing.T) {
	t.Parallel()
	byArg := daemonSet("by-arg", corev1.Container{Name: "registrar", Args: []string{"--kubelet-registration-path=/data/kubelet/plugins/a.io/csi.sock"}}, "/x/plugins/wrong.io")
	byPath := daemonSet("by-path", corev1.Container{Name: "r", Args: []string{"--kubelet-registration-path=$(SOCK)"}}, "/var/lib/kubelet/plugins/b.io/")
	present := daemonSet("present", corev1.Container{Name: "csi-node"}, "")
	elsewhere := daemonSet("elsewhere", corev1.Container{Name: "registrar", Args: []string{"--kubelet-registration-path=/var/lib/kubelet/plugins/csi-plugin/csi.sock"}}, "")
	named := daemonSet("named", corev1.Container{Name: "driver", Args: []string{"--drivername=f.io"}}, "/var/lib/kubelet/plugins/csi-named")
	lost := daemonSet("lost", corev1.Container{Name: "registrar"}, "/var/lib/kubelet/plugins/csi-gplugin")
	other := daemonSet("kube-proxy", corev1.Container{Name: "kube-proxy"}, "")
	node := &storagev1.CSINode{ObjectMeta: meta("", "n1")}
	node.Spec.Drivers = []storagev1.CSINodeDriver{{Name: "c.io"}}
	second := &storagev1.CSINode{ObjectMeta: meta("", "n3")}
	second.Spec.Drivers = []storagev1.CSINodeDriver{{Name: "e.io"}}
	third := &storagev1.CSINode{ObjectMeta: meta("", "n4")}
	third.Spec.Drivers = []storagev1.CSINodeDriver{{Name: "csi.gplug.io"}}
	x := NewIndex(&Snapshot{Cluster: Cluster{
		DaemonSets: []*appsv1.DaemonSet{byArg, byPath, present, elsewhere, named, lost, other},
		Pods:       []*corev1.Pod{daemonPod(byArg, "n1"), daemonPod(present, "n1"), daemonPod(elsewhere, "n3"), daemonPod(lost, "n3"), daemonPod(lost, "n4"), daemonPod(other, "n1")},
		CSINodes:   []*storagev1.CSINode{node, second, third},
	}})
	for driver, want := range map[string]string{"e.io": "elsewhere", "csi.gplug.io": "lost", "csi.other.io": "", "f.io": "named", "csi-plugin": "elsewhere", "a.io": "by-arg", "b.io": "by-path", "c.io": "present", "wrong.io": "", "d.io": ""} {
		got := ""
		if ds := x.DriverDaemonSet(driver); ds != nil {
			got = ds.Name
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", driver, got, want)
		}
	}
	if p := x.DriverPodOn("a.io", "n1"); p == nil || p.Name != "by-arg-n1" || x.DriverPodOn("a.io", "n2") != nil {
		t.Errorf("plugin pod on n1: got %v", p)
	}
}

// TestHolds: whose lease it is is told by the whole name of a pod.
func TestHolds(t *testing.T) {
	t.Parallel()
	for holder, names := range map[string]map[string]bool{
		"hcloud-csi-controller-0":                                {"hcloud-csi-controller-0": true, "hcloud-csi-controller": true, "controller-0": false, "hcloud-csi": false, "hcloud": false},
		"csi-attacher-6fbf76ff66-dx454":                          {"csi-attacher-6fbf76ff66-dx454": true, "csi-attacher": true, "csi": false, "dx454": false},
		"1700000000000-8081-ebs-csi-controller-0":                {"ebs-csi-controller-0": true, "csi-controller-0": false},
		"nfs-provisioner-0_1e9d5aa0-8bff-3c90-b00d-dcda00000000": {"nfs-provisioner-0": true, "nfs-provisioner": true, "nfs": false},
	} {
		for name, want := range names {
			if got := holds(holder, name); got != want {
				t.Errorf("%s of %s: %v", holder, name, got)
			}
		}
	}
}

func TestSidecarPods(t *testing.T) {
	t.Parallel()
	controller := func(name string, args ...string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: meta("kube-system", name)}
		p.Spec.Containers = []corev1.Container{{Name: "attacher", Image: "registry.k8s.io/sig-storage/csi-attacher:v4", Args: args}}
		return p
	}
	holder, held := "held-0", controller("held-0")
	held.Spec.Containers = append(held.Spec.Containers, corev1.Container{Name: "csi-resizer"}) // it never came up, and has no lease
	lease := &coordinationv1.Lease{ObjectMeta: meta("kube-system", "external-attacher-leader-b-io")}
	lease.Spec.HolderIdentity = &holder
	plugin := daemonSet("plugin", corev1.Container{Name: "registrar"}, "/var/lib/kubelet/plugins/csi-socket")
	beside := controller("beside-0")
	beside.Spec.Volumes = plugin.Spec.Template.Spec.Volumes
	node := &storagev1.CSINode{ObjectMeta: meta("", "n1")}
	node.Spec.Drivers = []storagev1.CSINodeDriver{{Name: "d.io"}}
	x := NewIndex(&Snapshot{Cluster: Cluster{
		Pods:       []*corev1.Pod{controller("named-0", "--csi-address=/var/lib/kubelet/plugins/a.io/csi.sock"), held, beside, daemonPod(plugin, "n1")},
		Leases:     []*coordinationv1.Lease{lease},
		DaemonSets: []*appsv1.DaemonSet{plugin}, CSINodes: []*storagev1.CSINode{node},
	}})
	for driver, want := range map[string]string{"d.io": "beside-0", "a.io": "named-0", "b.io": "held-0", "c.io": ""} {
		got := ""
		for _, p := range x.SidecarPods(driver, "csi-attacher") {
			got += p.Name
		}
		if got != want {
			t.Errorf("attacher of %s: got %q, want %q", driver, got, want)
		}
	}
	if got := x.SidecarPods("a.io", "csi-resizer"); len(got) != 0 {
		t.Errorf("resizer: got %v", got)
	}
	if got := x.SidecarPods("b.io", "csi-resizer"); !slices.Contains(got, held) {
		t.Errorf("resizer beside an attacher that leads: got %v", got)
	}
}

func TestWhyNotScheduled(t *testing.T) {
	t.Parallel()
	node := &corev1.Node{ObjectMeta: meta("", "n")}
	node.Labels = map[string]string{"arch": "arm64"}
	tests := map[string]struct {
		taint corev1.Taint
		spec  corev1.PodSpec
		want  string
	}{
		"fits":                   {corev1.Taint{}, corev1.PodSpec{}, ""},
		"taint":                  {corev1.Taint{Key: "db", Value: "yes", Effect: "NoSchedule"}, corev1.PodSpec{}, "taint db=yes:NoSchedule of node n is not tolerated"},
		"tolerated":              {corev1.Taint{Key: "db", Effect: "NoExecute"}, corev1.PodSpec{Tolerations: []corev1.Toleration{{Operator: "Exists"}}}, ""},
		"tolerates one effect":   {corev1.Taint{Key: "db", Effect: "NoExecute"}, corev1.PodSpec{Tolerations: []corev1.Toleration{{Operator: "Exists", Effect: "NoSchedule"}}}, "taint db:NoExecute of node n is not tolerated"},
		"cordoned":               {corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: "NoSchedule"}, corev1.PodSpec{}, ""},
		"selector, other value":  {corev1.Taint{}, corev1.PodSpec{NodeSelector: map[string]string{"arch": "amd64"}}, "label arch of node n is arm64, nodeSelector wants amd64"},
		"selector, label absent": {corev1.Taint{}, corev1.PodSpec{NodeSelector: map[string]string{"disk": "ssd"}}, "node n has no label disk, nodeSelector wants ssd"},
	}
	for name, tt := range tests {
		n := node.DeepCopy()
		if tt.taint.Key != "" {
			n.Spec.Taints = []corev1.Taint{tt.taint}
		}
		ds := &appsv1.DaemonSet{}
		ds.Spec.Template.Spec = tt.spec
		got, ok := NewIndex(&Snapshot{Cluster: Cluster{Nodes: []*corev1.Node{n}}}).WhyNotScheduled(ds, "n")
		if got != tt.want || ok != (tt.want != "") {
			t.Errorf("%s: got %q, %v, want %q", name, got, ok, tt.want)
		}
	}
}
