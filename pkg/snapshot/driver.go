package snapshot

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// indexDrivers finds the DaemonSets of the node plugins, by driver.
func (x *Index) indexDrivers() {
	x.driverSets = map[string][]*appsv1.DaemonSet{}
	for _, ds := range x.Cluster.DaemonSets {
		if ds == nil {
			continue
		}
		for _, d := range driversOf(&ds.Spec.Template.Spec) {
			x.driverSets[d] = append(x.driverSets[d], ds)
		}
		if ds.Name == "longhorn-csi-plugin" && !slices.Contains(x.driverSets[LonghornDriver], ds) {
			x.driverSets[LonghornDriver] = append(x.driverSets[LonghornDriver], ds)
		}
	}
}

// driversOf are the CSI drivers that a node plugin registers: what the registrar
// is told, else the directories below plugins/ that it mounts from the host.
func driversOf(spec *corev1.PodSpec) []string {
	var byArg, byPath []string
	for _, c := range spec.Containers {
		for _, a := range append(slices.Clone(c.Command), c.Args...) {
			if d := pluginDir(flagValue(a, "kubelet-registration-path")); d != "" && !slices.Contains(byArg, d) {
				byArg = append(byArg, d)
			}
		}
	}
	if len(byArg) > 0 {
		return byArg
	}
	for i := range spec.Volumes {
		if h := spec.Volumes[i].HostPath; h != nil {
			if d := pluginDir(h.Path); d != "" && !slices.Contains(byPath, d) {
				byPath = append(byPath, d)
			}
		}
	}
	return byPath
}

// flagValue reads "--name=value" or "-name=value".
func flagValue(arg, name string) string {
	arg = strings.TrimLeft(arg, "-")
	value, ok := strings.CutPrefix(arg, name+"=")
	if !ok {
		return ""
	}
	return strings.Trim(value, `"'`)
}

// pluginDir is the driver in "…/plugins/<driver>/csi.sock"; kubelet's own
// directory plugins/kubernetes.io is none.
func pluginDir(p string) string {
	_, rest, ok := strings.Cut(p, "/plugins/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	if name == "kubernetes.io" || strings.ContainsAny(name, "$(") {
		return ""
	}
	return name
}

// DriverDaemonSet returns the DaemonSet of a driver's node plugin, or nil. Of
// several (one per operating system) it is the first with pods, then by name.
func (x *Index) DriverDaemonSet(driver string) *appsv1.DaemonSet {
	sets := x.driverSets[driver]
	for _, ds := range sets {
		if len(x.podsOfSet(ds)) > 0 {
			return ds
		}
	}
	if len(sets) > 0 {
		return sets[0]
	}
	return x.setByPresence(driver)
}

// DriverDaemonSets returns all DaemonSets of a driver's node plugin: one for each
// operating system, mostly.
func (x *Index) DriverDaemonSets(driver string) []*appsv1.DaemonSet {
	if sets := x.driverSets[driver]; len(sets) > 0 {
		return sets
	}
	if ds := x.setByPresence(driver); ds != nil {
		return []*appsv1.DaemonSet{ds}
	}
	return nil
}

// DriverNodes returns the nodes whose CSINode lists a driver, sorted.
func (x *Index) DriverNodes(driver string) []string { return x.nodesOfDriver[driver] }

// indexDriverNodes turns the drivers of all CSINodes around.
func (x *Index) indexDriverNodes() {
	x.nodesOfDriver = map[string][]string{}
	for _, n := range x.Cluster.CSINodes {
		if n == nil {
			continue
		}
		for _, d := range n.Spec.Drivers {
			x.nodesOfDriver[d.Name] = append(x.nodesOfDriver[d.Name], n.Name)
		}
	}
	for driver, nodes := range x.nodesOfDriver {
		slices.Sort(nodes)
		x.nodesOfDriver[driver] = slices.Compact(nodes)
	}
}

// setByPresence finds the only DaemonSet with a CSI look whose pods exist
// exactly where CSINode lists the driver.
func (x *Index) setByPresence(driver string) *appsv1.DaemonSet {
	return x.setOfDriver.get(driver, x.findSetByPresence)
}

func (x *Index) findSetByPresence(driver string) *appsv1.DaemonSet {
	want := x.DriverNodes(driver)
	if len(want) == 0 {
		return nil
	}
	var found *appsv1.DaemonSet
	for _, ds := range x.Cluster.DaemonSets {
		if ds == nil {
			continue
		}
		var nodes []string
		specs := []*corev1.PodSpec{&ds.Spec.Template.Spec}
		for _, p := range x.podsOfSet(ds) {
			if n := p.Spec.NodeName; n != "" {
				nodes = append(nodes, n)
			}
			specs = append(specs, &p.Spec)
		}
		if !looksCSI(specs) {
			continue
		}
		slices.Sort(nodes)
		if !slices.Equal(slices.Compact(nodes), want) {
			continue
		}
		if found != nil {
			return nil
		}
		found = ds
	}
	return found
}

// looksCSI judges a DaemonSet by its template and its pods.
func looksCSI(specs []*corev1.PodSpec) bool {
	found := false
	for _, s := range specs {
		if len(driversOf(s)) > 0 {
			return false // it registers another driver
		}
		found = found || slices.ContainsFunc(s.Containers, func(c corev1.Container) bool {
			return strings.Contains(c.Image, "registrar") || strings.Contains(c.Name, "registrar") || strings.Contains(c.Name, "csi")
		})
	}
	return found
}

// podsOfSet are the pods that a DaemonSet controls.
func (x *Index) podsOfSet(ds *appsv1.DaemonSet) []*corev1.Pod {
	return x.podsBySet[key{ds.Namespace, ds.Name}]
}

// DriverPods returns the pods of a driver's node plugin.
func (x *Index) DriverPods(driver string) []*corev1.Pod {
	return x.podsOfDriver.get(driver, x.findDriverPods)
}

func (x *Index) findDriverPods(driver string) []*corev1.Pod {
	sets := x.driverSets[driver]
	if len(sets) == 0 {
		if ds := x.setByPresence(driver); ds != nil {
			sets = []*appsv1.DaemonSet{ds}
		}
	}
	var out []*corev1.Pod
	for _, p := range x.Cluster.Pods {
		if p == nil {
			continue
		}
		ref := metav1.GetControllerOf(p)
		ofSet := ref != nil && ref.Kind == "DaemonSet"
		listed := ofSet && slices.ContainsFunc(sets, func(ds *appsv1.DaemonSet) bool {
			return ds.Namespace == p.Namespace && ds.Name == ref.Name
		})
		named := driver == LonghornDriver && (p.Labels["app"] == "longhorn-csi-plugin" || (ofSet && ref.Name == "longhorn-csi-plugin"))
		if listed || named || (ref == nil || ofSet) && registers(p, driver) {
			out = append(out, p)
		}
	}
	return out
}

func registers(p *corev1.Pod, driver string) bool {
	return slices.Contains(driversOf(&p.Spec), driver)
}

// DriverPodOn returns the driver's plugin pod on a node, or nil: one that lives
// before one that goes, and before one that has ended.
func (x *Index) DriverPodOn(driver, node string) *corev1.Pod {
	var found *corev1.Pod
	for _, p := range x.DriverPods(driver) {
		if p.Spec.NodeName != node {
			continue
		}
		if found == nil || life(p) > life(found) {
			found = p
		}
	}
	return found
}

// life orders pods: ended, being deleted, alive.
func life(p *corev1.Pod) int {
	switch {
	case p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed:
		return 0
	case p.DeletionTimestamp != nil:
		return 1
	}
	return 2
}
