package snapshot

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const provenDriver = "a.io"

// controllerIn is a Deployment that says that it is the driver's attacher, with a pod.
func controllerIn(namespace string, args ...string) (*appsv1.Deployment, *corev1.Pod) {
	d := &appsv1.Deployment{ObjectMeta: meta(namespace, "controller")}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "csi-attacher", Image: "registry.k8s.io/sig-storage/csi-attacher:v4", Args: args}}
	yes := true
	p := &corev1.Pod{ObjectMeta: meta(namespace, "controller-0"), Spec: d.Spec.Template.Spec}
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "controller-5", UID: "r", Controller: &yes}}
	return d, p
}

// pluginIn is a DaemonSet that registers the driver, with its pod on a node.
func pluginIn(namespace, hostPath string, uid types.UID) (*appsv1.DaemonSet, *corev1.Pod) {
	ds := daemonSet("node", corev1.Container{Name: "registrar", Args: []string{"--kubelet-registration-path=/var/lib/kubelet/plugins/a.io/csi.sock"}}, hostPath)
	ds.Namespace, ds.UID = namespace, "set-"+types.UID(namespace)
	p := daemonPod(ds, "n1")
	p.OwnerReferences[0].UID = uid
	return ds, p
}

// TestSidecarIsProven: only in a namespace that the driver's node plugin, Helm or the
// cluster's own storage proves is a workload taken for the driver's controller.
func TestSidecarIsProven(t *testing.T) {
	t.Parallel()
	const registry = "/var/lib/kubelet/plugins_registry"
	named := []string{"--drivername=a.io"}
	helm := &storagev1.CSIDriver{ObjectMeta: meta("", provenDriver)}
	helm.Annotations = map[string]string{helmNamespace: "storage"}
	for name, tt := range map[string]struct {
		add      func(c *Cluster)
		args     []string
		in       string
		taken    bool
		disputed []string
	}{
		"beside the node plugin":                {func(c *Cluster) { addPlugin(c, "storage", registry, "set-storage") }, named, "storage", true, nil},
		"by its socket, beside the node plugin": {func(c *Cluster) { addPlugin(c, "storage", registry, "set-storage") }, []string{"--csi-address=/var/lib/kubelet/plugins/a.io/csi.sock"}, "storage", true, nil},
		"in kube-system":                        {func(*Cluster) {}, named, "kube-system", true, nil},
		"where Helm installed the driver":       {func(c *Cluster) { c.CSIDrivers = append(c.CSIDrivers, helm) }, named, "storage", true, nil},
		"a tenant beside nothing":               {func(*Cluster) {}, named, "tenant", false, []string{"tenant"}},
		"a tenant beside the node plugin":       {func(c *Cluster) { addPlugin(c, "storage", registry, "set-storage") }, named, "tenant", false, []string{"tenant"}},
		"a tenant with a DaemonSet of words":    {func(c *Cluster) { addPlugin(c, "tenant", "", "set-tenant") }, named, "tenant", false, []string{"tenant"}},
		"a tenant with a foreign owner's UID":   {func(c *Cluster) { addPlugin(c, "tenant", registry, "other") }, named, "tenant", false, []string{"tenant"}},
		"a tenant who names nothing":            {func(*Cluster) {}, nil, "tenant", false, nil},
		"two that disagree": {func(c *Cluster) {
			d, p := controllerIn("second", named...)
			c.Deployments, c.Pods = append(c.Deployments, d), append(c.Pods, p)
		}, named, "tenant", false, []string{"second", "tenant"}},
	} {
		for _, podless := range []bool{false, true} {
			s := &Snapshot{}
			tt.add(&s.Cluster)
			d, p := controllerIn(tt.in, tt.args...)
			s.Cluster.Deployments = append(s.Cluster.Deployments, d)
			if !podless {
				s.Cluster.Pods = append(s.Cluster.Pods, p)
			}
			x := NewIndex(s)
			pods, workloads := x.SidecarPods(provenDriver, "csi-attacher"), x.SidecarWorkloads(provenDriver, "csi-attacher")
			if got := len(workloads) > 0; got != tt.taken || !podless && len(pods) > 0 != tt.taken {
				t.Errorf("%s (no pod %v): taken %v, %v, want %v", name, podless, len(pods) > 0, got, tt.taken)
			}
			if got := x.SidecarDisputed(provenDriver, "csi-attacher"); !slices.Equal(got, tt.disputed) {
				t.Errorf("%s (no pod %v): disputed %v, want %v", name, podless, got, tt.disputed)
			}
		}
	}
}

func addPlugin(c *Cluster, namespace, hostPath string, uid types.UID) {
	ds, p := pluginIn(namespace, hostPath, uid)
	c.DaemonSets, c.Pods = append(c.DaemonSets, ds), append(c.Pods, p)
}

// TestNodePluginIsProven: the only DaemonSet that names a driver serves it where a node
// runs it with kubelet's directories; without a pod it stays unproven.
func TestNodePluginIsProven(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		hostPath string
		uid      types.UID
		podless  bool
		taken    bool
		disputed []string
	}{
		"with the registration directory": {"/var/lib/kubelet/plugins_registry/", "set-storage", false, true, nil},
		"with the plugins' directory":     {"/var/lib/k0s/kubelet/plugins", "set-storage", false, true, nil},
		"with the driver's socket":        {"/var/lib/kubelet/plugins/a.io", "set-storage", false, true, nil},
		"with another path":               {"/var/lib/kubelet/pods", "set-storage", false, false, []string{"storage"}},
		"with words alone":                {"", "set-storage", false, false, []string{"storage"}},
		"without a pod":                   {"", "", true, true, []string{"storage"}},
	} {
		c := Cluster{}
		addPlugin(&c, "storage", tt.hostPath, tt.uid)
		if tt.podless {
			c.Pods = nil
		}
		x := NewIndex(&Snapshot{Cluster: c})
		if got := x.DriverDaemonSet(provenDriver) != nil; got != tt.taken {
			t.Errorf("%s: taken %v, want %v", name, got, tt.taken)
		}
		if got := x.DriverDisputed(provenDriver); !slices.Equal(got, tt.disputed) {
			t.Errorf("%s: disputed %v, want %v", name, got, tt.disputed)
		}
	}

	// Pods that were not read are counted by the controller's status.
	for name, tt := range map[string]struct {
		status   appsv1.DaemonSetStatus
		disputed []string
	}{
		"counted":              {appsv1.DaemonSetStatus{ObservedGeneration: 2, CurrentNumberScheduled: 3, UpdatedNumberScheduled: 1}, nil},
		"written by hand":      {appsv1.DaemonSetStatus{CurrentNumberScheduled: 3}, nil},
		"of an older template": {appsv1.DaemonSetStatus{ObservedGeneration: 2, CurrentNumberScheduled: 3}, []string{"storage"}},
		"nothing runs":         {appsv1.DaemonSetStatus{ObservedGeneration: 2}, []string{"storage"}},
	} {
		c := Cluster{}
		addPlugin(&c, "storage", "/var/lib/kubelet/plugins_registry", "set-storage")
		c.Pods, c.DaemonSets[0].Status, c.DaemonSets[0].Generation = nil, tt.status, 2
		if got := NewIndex(&Snapshot{Cluster: c}).DriverDisputed(provenDriver); !slices.Equal(got, tt.disputed) {
			t.Errorf("%s: disputed %v, want %v", name, got, tt.disputed)
		}
	}
	// Who has only words does not dispute what is proven; two that are proven do.
	for hostPath, disputed := range map[string][]string{"": nil, "/var/lib/kubelet/plugins_registry": {"storage", "tenant"}} {
		c := Cluster{}
		addPlugin(&c, "storage", "/var/lib/kubelet/plugins_registry", "set-storage")
		addPlugin(&c, "tenant", hostPath, "set-tenant")
		x := NewIndex(&Snapshot{Cluster: c})
		if got := x.DriverDisputed(provenDriver); !slices.Equal(got, disputed) {
			t.Errorf("a second one with %q: disputed %v, want %v", hostPath, got, disputed)
		}
		if ds := x.DriverDaemonSet(provenDriver); ds != nil && ds.Namespace != "storage" {
			t.Errorf("a second one with %q: %s is taken", hostPath, ds.Namespace)
		}
	}
}

// TestLeaseIsProven: who edits a namespace writes leases of any name there; only one in a
// proven namespace speaks for the driver's leader.
func TestLeaseIsProven(t *testing.T) {
	t.Parallel()
	lease := func(namespace string) *coordinationv1.Lease {
		l := &coordinationv1.Lease{ObjectMeta: meta(namespace, "external-attacher-leader-a-io")}
		l.Spec.RenewTime = &metav1.MicroTime{}
		return l
	}
	for name, tt := range map[string]struct {
		in     []string
		want   string
		proven bool
	}{
		"none":                   {nil, "", false},
		"beside the node plugin": {[]string{"storage"}, "storage", true},
		"a tenant's":             {[]string{"tenant"}, "tenant", false},
		"both":                   {[]string{"storage", "tenant"}, "storage", true},
		"both, the other way":    {[]string{"tenant", "storage"}, "storage", true},
	} {
		c := Cluster{}
		addPlugin(&c, "storage", "/var/lib/kubelet/plugins_registry", "set-storage")
		for _, ns := range tt.in {
			c.Leases = append(c.Leases, lease(ns))
		}
		l, proven := NewIndex(&Snapshot{Cluster: c}).LeaderLease(provenDriver, "external-attacher-leader-a-io")
		got := ""
		if l != nil {
			got = l.Namespace
		}
		if got != tt.want || proven != tt.proven {
			t.Errorf("%s: got %q, proven %v, want %q, %v", name, got, proven, tt.want, tt.proven)
		}
	}
}
