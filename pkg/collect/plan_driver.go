package collect

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// drivers asks for the controllers of the volumes' drivers and for what is
// wrong with their node plugins.
func (c *collector) drivers(x *snapshot.Index, volumes []*snapshot.Volume, near []string) {
	var seen []string
	for _, v := range volumes {
		if d := driverOf(v); d != "" && !slices.Contains(seen, d) {
			seen = append(seen, d)
			c.driver(x, d, near)
		}
	}
	for _, name := range c.inline(x) {
		if !slices.Contains(seen, name) {
			seen = append(seen, name)
			c.driver(x, name, near)
		}
	}
	if len(seen) > 0 {
		c.want(want{res: pods, namespace: metav1.NamespaceSystem, labels: "component=" + snapshot.ControllerManager})
	}
}

// driverOf is the driver of a volume; of a claim that has none yet, who shall make it.
func driverOf(v *snapshot.Volume) string {
	if d := v.CSIName(); d != "" || v.PV != nil || v.Class == nil {
		return d
	}
	return v.Class.Provisioner
}

// inline are the drivers of the ephemeral CSI volumes of the pods in question.
func (c *collector) inline(x *snapshot.Index) []string {
	var list []*corev1.Pod
	switch c.q.Kind {
	case "pod":
		if pod := x.Pod(c.q.Namespace, c.q.Name); pod != nil {
			list = append(list, pod)
		}
	case "node":
		list = x.PodsOn(c.q.Name)
	case "cluster":
		list = x.PodsIn(c.q.Namespace)
	}
	var out []string
	for _, pod := range list {
		for i := range pod.Spec.Volumes {
			if csi := pod.Spec.Volumes[i].CSI; csi != nil && !slices.Contains(out, csi.Driver) {
				out = append(out, csi.Driver)
			}
		}
	}
	return out
}

func (c *collector) driver(x *snapshot.Index, driver string, near []string) {
	dashed := snapshot.DashedDriver(driver)
	own := append([]string{"external-attacher-leader-" + dashed, "external-resizer-" + dashed}, snapshot.ProvisionerLeases(driver)...)
	for _, lease := range own {
		c.want(want{res: leases, fields: "metadata.name=" + lease})
	}
	for _, name := range x.Speakers(driver) {
		c.want(want{res: pods, fields: "metadata.name=" + name})
	}
	for _, l := range x.Cluster.Leases {
		if l.Name == "external-attacher-leader-"+dashed && l.Spec.HolderIdentity != nil {
			c.byName(pods, l.Namespace, *l.Spec.HolderIdentity) // the attacher is called by its pod
		}
	}
	for _, ns := range c.driverNamespaces(x, driver) {
		c.want(want{res: deployments, namespace: ns})
		c.want(want{res: statefulSets, namespace: ns})
		for _, selector := range controllers(x, ns) {
			c.want(want{res: pods, namespace: ns, labels: selector})
		}
	}
	if ds := x.DriverDaemonSet(driver); ds != nil {
		c.eventsOf(ds.Namespace, ds.Name)
	}
	for _, pod := range x.DriverPods(driver) {
		if slices.Contains(near, pod.Spec.NodeName) || pod.Spec.NodeName == "" {
			c.eventsOf(pod.Namespace, pod.Name)
		}
	}
	for _, sidecar := range []string{"csi-attacher", "csi-provisioner", "csi-resizer"} {
		for _, pod := range x.SidecarPods(driver, sidecar) {
			c.eventsOf(pod.Namespace, pod.Name)
			c.owners(x, pod)
		}
		for _, w := range slices.Concat(x.SidecarWorkloads(driver, sidecar), x.SidecarUnproven(driver, sidecar)) {
			if w.Kind == "StatefulSet" { // a Deployment says itself that its pods are refused
				c.eventsOf(w.Namespace, w.Name)
			}
		}
	}
}

// driverNamespaces is where a driver lives: its node plugin or its leases.
func (c *collector) driverNamespaces(x *snapshot.Index, driver string) []string {
	var out []string
	add := func(ns string) {
		if ns != "" && !slices.Contains(out, ns) {
			out = append(out, ns)
		}
	}
	if ds := x.DriverDaemonSet(driver); ds != nil {
		add(ds.Namespace)
	}
	for _, pod := range x.DriverPods(driver) {
		add(pod.Namespace)
	}
	dashed := snapshot.DashedDriver(driver)
	for _, l := range x.Cluster.Leases {
		if l.Namespace != corev1.NamespaceNodeLease && (strings.HasSuffix(l.Name, dashed) || slices.Contains(snapshot.ProvisionerLeases(driver), l.Name)) {
			add(l.Namespace)
		}
	}
	for _, pod := range x.Cluster.Pods {
		if names(pod, driver) {
			add(pod.Namespace)
		}
	}
	return out
}

// names tells whether an argument of a pod's containers names the driver.
func names(pod *corev1.Pod, driver string) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(k corev1.Container) bool {
		return slices.ContainsFunc(slices.Concat(k.Command, k.Args), func(a string) bool {
			_, value, ok := strings.Cut(a, "=")
			return ok && (value == driver || strings.Contains(value, "/plugins/"+driver+"/"))
		})
	})
}

// controllers are the selectors of the workloads in a namespace that run a
// sidecar of a CSI controller.
func controllers(x *snapshot.Index, namespace string) []string {
	var out []string
	add := func(ns string, spec *corev1.PodSpec, selector *metav1.LabelSelector) {
		if ns != namespace || selector == nil || !runsSidecar(spec) {
			return
		}
		if s := metav1.FormatLabelSelector(selector); s != "" && s != "<none>" && s != "<error>" {
			out = append(out, s)
		}
	}
	for _, d := range x.Cluster.Deployments {
		add(d.Namespace, &d.Spec.Template.Spec, d.Spec.Selector)
	}
	for _, s := range x.Cluster.StatefulSets {
		add(s.Namespace, &s.Spec.Template.Spec, s.Spec.Selector)
	}
	return out
}

func runsSidecar(spec *corev1.PodSpec) bool {
	return slices.ContainsFunc(spec.Containers, func(k corev1.Container) bool {
		for _, part := range []string{"attacher", "provisioner", "resizer"} {
			if strings.Contains(k.Name, part) || strings.Contains(k.Image[strings.LastIndex(k.Image, "/")+1:], part) {
				return true
			}
		}
		return false
	})
}
