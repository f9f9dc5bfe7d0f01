package launch

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

const tenantSpace = "aaa-tenant"

func load(t *testing.T, dir string) (*snapshot.Snapshot, Question) {
	t.Helper()
	ask, err := os.ReadFile(filepath.Join(dir, "ask.txt"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := corpus.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s, questionOf(string(ask))
}

// TestHostile: the snapshots in which a tenant offers an image or a namespace.
func TestHostile(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"image-of-a-tenant", "namespace-of-a-tenant"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, q := load(t, filepath.Join("..", "..", "testdata", "hostile", name))
			plan := NewPlan(snapshot.NewIndex(s), q, Options{})
			if plan.Place != (Place{"longhorn-system", OfLonghorn}) || len(plan.Targets) == 0 {
				t.Errorf("place %+v, %d targets", plan.Place, len(plan.Targets))
			}
			if text := fmt.Sprintf("%+v", plan); strings.Contains(text, "tenant") {
				t.Errorf("the tenant is in the plan: %s", text)
			}
		})
	}
}

// TestTenantsChangeNothing: over the whole corpus the plan is the same, byte for byte,
// when tenants add pods, DaemonSets, labels, owners and images of every kind that
// could be taken for the cluster's own. What they cannot have is a pod that the node
// runs with the kubelet's registration directory.
func TestTenantsChangeNothing(t *testing.T) {
	t.Parallel()
	dirs, err := filepath.Glob(filepath.Join("..", "..", "testdata", "cases", "*"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			s, q := load(t, dir)
			runKnownImages(s)
			want := NewPlan(snapshot.NewIndex(s), q, Options{})
			hostile, _ := load(t, dir)
			runKnownImages(hostile)
			addTenants(hostile)
			got := NewPlan(snapshot.NewIndex(hostile), q, Options{})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the plan without and with tenants (-without +with):\n%s", diff)
			}
		})
	}
}

// runKnownImages gives every container of every pod that runs a digest, so that
// there is something to choose from in cases that were written by hand.
func runKnownImages(s *snapshot.Snapshot) {
	for _, p := range s.Cluster.Pods {
		p.Status.ContainerStatuses = nil
		for _, c := range p.Spec.Containers {
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, Image: c.Image,
				ImageID: repository(c.Image) + "@sha256:" + strings.Repeat("a", 64),
				State:   corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})
		}
	}
}

// addTenants adds to a cluster what a tenant can write in a namespace of his own,
// and on nodes what he can make a kubelet pull.
func addTenants(s *snapshot.Snapshot) {
	imitated := map[string]string{snapshot.LonghornDriver: "longhorn-csi-plugin"}
	for _, n := range s.Cluster.CSINodes {
		for _, d := range n.Spec.Drivers {
			imitated[d.Name] = d.Name
		}
	}
	for _, ds := range slices.Clone(s.Cluster.DaemonSets) {
		copied := ds.DeepCopy()
		copied.Namespace, copied.UID = tenantSpace, types.UID("tenant-"+ds.Name)
		s.Cluster.DaemonSets = append(s.Cluster.DaemonSets, copied)
	}
	s.Cluster.DaemonSets = append(s.Cluster.DaemonSets, tenantSet("longhorn-manager", ""))
	for _, driver := range slices.Sorted(maps.Keys(imitated)) {
		s.Cluster.DaemonSets = append(s.Cluster.DaemonSets, tenantSet("plugin-"+driver, driver))
	}
	for _, n := range s.Cluster.Nodes {
		n.Status.Images = append([]corev1.ContainerImage{{Names: []string{"registry.tenant.example/longhorn-manager:v9", "busybox:1"}}}, n.Status.Images...)
		for _, ds := range slices.Clone(s.Cluster.DaemonSets) {
			s.Cluster.Pods = append(s.Cluster.Pods, tenantPod(ds, n.Name))
		}
	}
	s.Cluster.Sort()
}

// tenantSet wears everything that a DaemonSet can wear.
func tenantSet(name, driver string) *appsv1.DaemonSet {
	ds := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: tenantSpace, Name: name, UID: types.UID("tenant-" + name),
		Labels: map[string]string{"app": "longhorn-manager", "app.kubernetes.io/name": "longhorn"}}}
	privileged := true
	ds.Spec.Template.Spec.Containers = []corev1.Container{{Name: "longhorn-manager", Image: "registry.tenant.example/longhornio/longhorn-manager:v9",
		Args:            []string{"--kubelet-registration-path=/var/lib/kubelet/plugins/" + driver + "/csi.sock", "--drivername=" + driver},
		SecurityContext: &corev1.SecurityContext{Privileged: &privileged},
		VolumeMounts:    []corev1.VolumeMount{{Name: "registration", MountPath: "/registration"}}}}
	// Nothing stops a template from asking for it; admission stops its pods.
	ds.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "registration",
		VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/var/lib/kubelet/plugins_registry"}}}}
	return ds
}

// tenantPod is a pod of the tenant's namespace that calls a DaemonSet, his own or
// the true one, its owner.
func tenantPod(ds *appsv1.DaemonSet, node string) *corev1.Pod {
	controller := true
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: tenantSpace, Name: "0-" + ds.Namespace + "-" + ds.Name + "-" + node,
		Labels: map[string]string{"app": "longhorn-manager", "longhorn.io/component": "instance-manager"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: ds.Name, UID: ds.UID,
			Controller: &controller}}}}
	p.Spec = *ds.Spec.Template.Spec.DeepCopy()
	p.Spec.NodeName, p.Spec.Volumes = node, nil
	p.Status.Phase = corev1.PodRunning
	for _, c := range p.Spec.Containers {
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, Image: c.Image, Ready: true,
			ImageID: "docker.io/longhornio/longhorn-manager@sha256:" + strings.Repeat("e", 64),
			State:   corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})
	}
	return p
}
