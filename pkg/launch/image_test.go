package launch

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var (
	sumA = "sha256:" + strings.Repeat("a", 64)
	sumB = "sha256:" + strings.Repeat("b", 64)
)

// plugin is a DaemonSet with a pod on node n that registers a driver; change makes it
// otherwise.
func plugin(namespace, name, image, driver string, change func(*appsv1.DaemonSet, *corev1.Pod)) (*appsv1.DaemonSet, *corev1.Pod) {
	ds := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-" + namespace + "-" + name)}}
	spec := &ds.Spec.Template.Spec
	spec.Containers = []corev1.Container{
		{Name: "registrar", Image: "registry.k8s.io/sig-storage/csi-node-driver-registrar:v2",
			Args: []string{"--kubelet-registration-path=/var/lib/kubelet/plugins/" + driver + "/csi.sock"}},
		{Name: "driver", Image: image, VolumeMounts: []corev1.VolumeMount{{Name: "registration"}}},
	}
	spec.Volumes = []corev1.Volume{{Name: "registration",
		VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/var/lib/kubelet/plugins_registry/"}}}}
	controller := true
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name + "-x", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "apps/v1", Kind: "DaemonSet", Name: name, UID: ds.UID, Controller: &controller}}}}
	pod.Spec = *spec.DeepCopy()
	pod.Spec.NodeName = "n"
	pod.Status.Phase = corev1.PodRunning
	for _, c := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name,
			ImageID: repository(c.Image) + "@" + sumA, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})
	}
	if change != nil {
		change(ds, pod)
	}
	return ds, pod
}

// world is a cluster of one node on which drivers are registered.
type world struct{ s snapshot.Snapshot }

func newWorld(drivers ...string) *world {
	w := &world{snapshot.Snapshot{TakenAt: now}}
	csi := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	for _, d := range drivers {
		csi.Spec.Drivers = append(csi.Spec.Drivers, storagev1.CSINodeDriver{Name: d})
	}
	w.s.Cluster.CSINodes = []*storagev1.CSINode{csi}
	w.s.Cluster.Nodes = []*corev1.Node{nodeOf("n", corev1.ConditionTrue, nil)}
	return w
}

// elsewhere registers a driver on another node.
func (w *world) elsewhere(driver string) *world {
	w.s.Cluster.CSINodes = append(w.s.Cluster.CSINodes, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "m"},
		Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: driver}}}})
	return w
}

func (w *world) with(ds *appsv1.DaemonSet, pod *corev1.Pod) *world {
	w.s.Cluster.DaemonSets = append(w.s.Cluster.DaemonSets, ds)
	w.s.Cluster.Pods = append(w.s.Cluster.Pods, pod)
	return w
}

// longhorn adds an object of Longhorn to a namespace.
func (w *world) longhorn(namespace string) *world {
	w.s.Cluster.Longhorn.Nodes = append(w.s.Cluster.Longhorn.Nodes, &snapshot.LHNode{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "n"}})
	return w
}

func (w *world) plan(o Options) Plan {
	w.s.Cluster.Sort()
	return NewPlan(snapshot.NewIndex(&w.s), Question{Kind: "node", Name: "n"}, o)
}

const (
	rbd     = "rook-ceph.rbd.csi.ceph.com"
	cephcsi = "quay.io/cephcsi/cephcsi:v3.14.2"
)

// TestChoice: what proves an image, and what does not.
func TestChoice(t *testing.T) {
	t.Parallel()
	const manager = "registry.example.com:5000/rancher/mirrored-longhornio-longhorn-manager:v1.8.1"
	secret := func(_ *appsv1.DaemonSet, p *corev1.Pod) {
		p.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
	}
	pinnedManager := Image{Ref: "registry.example.com:5000/rancher/mirrored-longhornio-longhorn-manager@" + sumA, Name: manager, Secrets: []string{"registry"},
		Reason: Reason{Basis: OfLonghorn, Driver: snapshot.LonghornDriver, DaemonSet: "storage/longhorn-manager", Pod: "longhorn-manager-x"}}
	pinnedCeph := Image{Ref: "quay.io/cephcsi/cephcsi@" + sumA, Name: cephcsi,
		Reason: Reason{Basis: OfDriver, Driver: rbd, DaemonSet: "rook-ceph/csi-rbdplugin", Pod: "csi-rbdplugin-x"}}
	fallback := Image{Ref: DefaultImage, Name: DefaultImage, Reason: Reason{Basis: OfDefault}}
	for _, test := range []struct {
		name  string
		world *world
		o     Options
		want  []Image
	}{
		{"nothing is proven", newWorld(), Options{}, []Image{fallback}},
		{"the user's", newWorld(rbd).with(plugin("rook-ceph", "csi-rbdplugin", cephcsi, rbd, nil)), Options{Image: "own:1"},
			[]Image{{Ref: "own:1", Name: "own:1", Reason: Reason{Basis: OfUser}}}},
		{"Longhorn's own first", newWorld(rbd).longhorn("storage").with(plugin("storage", "longhorn-manager", manager, "none", secret)).
			with(plugin("rook-ceph", "csi-rbdplugin", cephcsi, rbd, nil)), Options{}, []Image{pinnedManager, pinnedCeph, fallback}},
		{"a manager where Longhorn has no object", newWorld().with(plugin("storage", "longhorn-manager", manager, "none", nil)), Options{}, []Image{fallback}},
		{"a driver that is registered", newWorld(rbd).with(plugin("rook-ceph", "csi-rbdplugin", cephcsi, rbd, nil)), Options{}, []Image{pinnedCeph, fallback}},
		{"a driver that only another node's kubelet still knows", newWorld().elsewhere(rbd).with(plugin("rook-ceph", "csi-rbdplugin", cephcsi, rbd, nil)), Options{}, []Image{pinnedCeph, fallback}},
		{"a driver that is not", newWorld().with(plugin("rook-ceph", "csi-rbdplugin", cephcsi, rbd, nil)), Options{}, []Image{fallback}},
		{"a pod without the kubelet's directory", newWorld(rbd).with(plugin("rook-ceph", "csi-rbdplugin", cephcsi, rbd, func(_ *appsv1.DaemonSet, p *corev1.Pod) {
			p.Spec.Volumes = nil
		})), Options{}, []Image{fallback}},
		{"a volume that no container has", newWorld(rbd).with(plugin("rook-ceph", "csi-rbdplugin", cephcsi, rbd, func(_ *appsv1.DaemonSet, p *corev1.Pod) {
			p.Spec.Containers[1].VolumeMounts = nil
		})), Options{}, []Image{fallback}},
		{"a pod of another owner of that name", newWorld(rbd).with(plugin("rook-ceph", "csi-rbdplugin", cephcsi, rbd, func(_ *appsv1.DaemonSet, p *corev1.Pod) {
			p.OwnerReferences[0].UID = "other"
		})), Options{}, []Image{fallback}},
		{"a pod that names an owner elsewhere", newWorld(rbd).with(plugin("rook-ceph", "csi-rbdplugin", cephcsi, rbd, func(_ *appsv1.DaemonSet, p *corev1.Pod) {
			p.Namespace = "tenant"
		})), Options{}, []Image{fallback}},
		{"an image that the DaemonSet does not name", newWorld(rbd).with(plugin("rook-ceph", "csi-rbdplugin", cephcsi, rbd, func(_ *appsv1.DaemonSet, p *corev1.Pod) {
			p.Spec.Containers[1].Image = "registry.tenant.example/cephcsi/cephcsi:v3.14.2"
		})), Options{}, []Image{fallback}},
		{"a DaemonSet that is being updated", newWorld(rbd).with(plugin("rook-ceph", "csi-rbdplugin", cephcsi, rbd, func(ds *appsv1.DaemonSet, _ *corev1.Pod) {
			ds.Spec.Template.Spec.Containers[1].Image = "quay.io/cephcsi/cephcsi:v3.15.0"
		})), Options{}, []Image{pinnedCeph, fallback}},
		{"an image whose digest nobody knows", newWorld(rbd).with(plugin("rook-ceph", "csi-rbdplugin", cephcsi, rbd, func(_ *appsv1.DaemonSet, p *corev1.Pod) {
			p.Status.ContainerStatuses = nil
		})), Options{}, []Image{fallback}},
		{"an image that was loaded by hand", newWorld(rbd).with(plugin("rook-ceph", "csi-rbdplugin", cephcsi, rbd, func(_ *appsv1.DaemonSet, p *corev1.Pod) {
			p.Status.ContainerStatuses[1].ImageID = sumB
		})), Options{}, []Image{{Ref: sumB, Name: cephcsi, Reason: pinnedCeph.Reason}, fallback}},
		{"a container that does not run", newWorld(rbd).with(plugin("rook-ceph", "csi-rbdplugin", cephcsi, rbd, func(_ *appsv1.DaemonSet, p *corev1.Pod) {
			p.Status.ContainerStatuses[1].State.Running = nil
		})), Options{}, []Image{fallback}},
		{"a pod on another node", newWorld(rbd).with(plugin("rook-ceph", "csi-rbdplugin", cephcsi, rbd, func(_ *appsv1.DaemonSet, p *corev1.Pod) {
			p.Spec.NodeName = "m"
		})), Options{}, []Image{fallback}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			plan := test.world.plan(test.o)
			if len(plan.Targets) != 1 {
				t.Fatalf("gaps: %+v", plan.Gaps)
			}
			if diff := cmp.Diff(test.want, plan.Targets[0].Images); diff != "" {
				t.Errorf("mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDisagreement: of two that are equally good none is taken, and both are named.
func TestDisagreement(t *testing.T) {
	t.Parallel()
	const lh = snapshot.LonghornDriver
	for _, test := range []struct {
		name  string
		world *world
		o     Options
		place Place    // zero: no pod is made
		says  []string // of the gap, or of the image's reason
	}{
		{"Longhorn in two namespaces", newWorld().longhorn("longhorn-system").longhorn("aaa"), Options{}, Place{},
			[]string{"aaa and longhorn-system", "--probe-namespace"}},
		{"and the user decides", newWorld().longhorn("longhorn-system").longhorn("aaa"), Options{Namespace: "longhorn-system"},
			Place{"longhorn-system", OfUser}, []string{"it is the default"}},
		{"Longhorn's objects where its driver is not", newWorld(lh).longhorn("aaa").with(plugin("longhorn-system", "longhorn-csi-plugin", "i:1", lh, nil)), Options{},
			Place{}, []string{"aaa and longhorn-system"}},
		{"two namespaces serve one driver", newWorld(rbd).with(plugin("rook-ceph", "csi", cephcsi, rbd, nil)).with(plugin("aaa", "csi", "evil:1", rbd, nil)), Options{},
			Place{"kube-system", OfSystem}, []string{"DaemonSet aaa/csi and DaemonSet rook-ceph/csi", "--probe-image", "it is the default"}},
		{"kube-system decides alone", newWorld(rbd).with(plugin("kube-system", "csi", cephcsi, rbd, nil)).with(plugin("aaa", "csi", "evil:1", rbd, nil)), Options{},
			Place{"kube-system", OfSystem}, []string{"DaemonSet kube-system/csi"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			plan := test.world.plan(test.o)
			var text string
			if len(plan.Targets) > 0 {
				text = plan.Targets[0].Images[0].Reason.String()
			} else {
				text = plan.Gaps[0].Detail
			}
			if plan.Place != test.place || (len(plan.Targets) == 0) != (test.place == Place{}) {
				t.Errorf("place %+v, %d targets, want %+v", plan.Place, len(plan.Targets), test.place)
			}
			for _, s := range test.says {
				if !strings.Contains(text, s) {
					t.Errorf("%q does not say %q", text, s)
				}
			}
		})
	}
}

func TestPin(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ image, id, want string }{
		{"longhornio/longhorn-manager:v1", "docker.io/longhornio/longhorn-manager@" + sumA, "longhornio/longhorn-manager@" + sumA},
		{"host:5000/a/b", "docker-pullable://host:5000/a/b@" + sumA, "host:5000/a/b@" + sumA},
		{"a:1@" + sumB, "a@" + sumA, "a@" + sumA},
		{"a:1", "docker://" + sumA, sumA},
		{"a:1", sumA, sumA},
		{sumB, "a@" + sumA, ""},
		{"a:1", strings.TrimPrefix(sumA, "sha256:"), ""},
		{"a:1", "a@sha256:abc", ""},
		{"a:1", "x", ""},
		{"a:1", "", ""},
	} {
		got, ok := pin(test.image, test.id)
		if !ok {
			got = ""
		}
		if got != test.want {
			t.Errorf("pin(%q, %q) = %q, want %q", test.image, test.id, got, test.want)
		}
		if got != "" && !Pinned(got) {
			t.Errorf("%q is not pinned", got)
		}
	}
}

// TestDefaultImage: what a build names must mean one image, and is not used otherwise.
func TestDefaultImage(t *testing.T) {
	t.Parallel()
	for image, used := range map[string]bool{"registry.example/tools@" + sumA: true, "registry.example/tools:1": false, "busybox@sha256:1": false, "": false} {
		if got := len(fallback(image, nil)) == 1; got != used {
			t.Errorf("default image %q is used: %v, want %v", image, got, used)
		}
	}
	if !Pinned(DefaultImage) || byID(DefaultImage) {
		t.Errorf("the default image %q is not pinned by the digest of a registry", DefaultImage)
	}
	text, err := os.ReadFile("../../docs/security.md")
	_, sum, _ := strings.Cut(DefaultImage, "@")
	if err != nil || !strings.Contains(string(text), sum) {
		t.Errorf("docs/security.md does not say where %s comes from (%v)", sum, err)
	}
}
