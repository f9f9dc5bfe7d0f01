package launch

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// placeOf is where probe pods run: where the user wants them, where Longhorn's own
// objects are, else kube-system. It depends on nothing that a tenant can write.
func placeOf(x *snapshot.Index, o Options) (Place, *Disagreement) {
	if o.Namespace != "" {
		return Place{Namespace: o.Namespace, Basis: OfUser}, nil
	}
	space, d := longhornSpace(x, o)
	switch {
	case d != nil:
		return Place{}, d
	case space != "":
		return Place{Namespace: space, Basis: OfLonghorn}, nil
	}
	return Place{Namespace: metav1.NamespaceSystem, Basis: OfSystem}, nil
}

// longhornSpace is the namespace of Longhorn's objects, empty where none was
// read. Who may create such objects in a namespace of their own could pretend to
// be Longhorn, so two namespaces are a disagreement, and so is a namespace that
// does not run the driver while another one does.
func longhornSpace(x *snapshot.Index, o Options) (string, *Disagreement) {
	spaces := x.LonghornNamespaces()
	if len(spaces) > 1 && slices.Contains(spaces, o.Namespace) {
		spaces = []string{o.Namespace}
	}
	if len(spaces) == 0 {
		return "", nil
	}
	if len(spaces) > 1 {
		return "", &Disagreement{About: "objects of Longhorn lie in more than one namespace", Candidates: spaces, Flag: "--probe-namespace"}
	}
	serving := namespacesOf(claimants(x, "", snapshot.LonghornDriver))
	if len(serving) > 0 && !slices.Contains(serving, spaces[0]) && o.Namespace != spaces[0] {
		all := append(slices.Clone(spaces), serving...)
		slices.Sort(all)
		return "", &Disagreement{About: "objects of Longhorn lie in another namespace than the pods that serve " + snapshot.LonghornDriver,
			Candidates: all, Flag: "--probe-namespace"}
	}
	return spaces[0], nil
}

// workload is a DaemonSet of the cluster's own storage with its pod on a node.
type workload struct {
	set    *appsv1.DaemonSet
	pod    *corev1.Pod
	reason Reason
}

// workloads are those on a node whose images may be used, best first, and the
// disagreements that kept others away.
func workloads(x *snapshot.Index, node string, o Options) ([]workload, *Disagreement) {
	space, refused := longhornSpace(x, o)
	out := longhornsOwn(x, node, space)
	decided := space != "" || refused != nil // about Longhorn
	for _, d := range registered(x, node) {
		if d == snapshot.LonghornDriver && decided {
			continue
		}
		some, no := serving(x, node, d)
		out = append(out, some...)
		if refused == nil {
			refused = no
		}
	}
	return out, refused
}

// registered are the drivers that kubelets know: first those of the node, then those of other
// nodes, whose plugin may run on this one and be no longer known.
func registered(x *snapshot.Index, node string) []string {
	var own, others []string
	for _, n := range x.Cluster.CSINodes {
		if n == nil {
			continue
		}
		for _, d := range n.Spec.Drivers {
			if n.Name == node {
				own = append(own, d.Name)
			} else {
				others = append(others, d.Name)
			}
		}
	}
	slices.Sort(own)
	slices.Sort(others)
	return append(own, slices.DeleteFunc(slices.Compact(others), func(d string) bool { return slices.Contains(own, d) })...)
}

// longhornsOwn are the manager and the CSI plugin in the proven namespace.
func longhornsOwn(x *snapshot.Index, node, space string) []workload {
	var out []workload
	for _, ds := range x.Cluster.DaemonSets {
		if ds == nil || space == "" || ds.Namespace != space {
			continue
		}
		manager := ds.Name == "longhorn-manager"
		if !manager && !slices.Contains(snapshot.DriversRegistered(&ds.Spec.Template.Spec), snapshot.LonghornDriver) {
			continue
		}
		for _, pod := range podsOf(x, ds, node) {
			out = append(out, workload{set: ds, pod: pod, reason: reasonOf(OfLonghorn, snapshot.LonghornDriver, ds, pod)})
		}
	}
	slices.SortStableFunc(out, func(a, b workload) int {
		return cmp.Compare(b2i(a.set.Name != "longhorn-manager"), b2i(b.set.Name != "longhorn-manager"))
	})
	return out
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// serving are the workloads that serve a driver on a node. Those of kube-system
// decide alone; elsewhere they must all be of one namespace.
func serving(x *snapshot.Index, node, driver string) ([]workload, *Disagreement) {
	all := claimants(x, node, driver)
	system := slices.DeleteFunc(slices.Clone(all), func(w workload) bool { return w.set.Namespace != metav1.NamespaceSystem })
	if len(system) > 0 {
		return system, nil
	}
	if spaces := namespacesOf(all); len(spaces) > 1 {
		var names []string
		for _, w := range all {
			names = append(names, "DaemonSet "+w.set.Namespace+"/"+w.set.Name)
		}
		slices.Sort(names)
		return nil, &Disagreement{About: fmt.Sprintf("more than one namespace serves CSI driver %s on node %s", driver, node),
			Candidates: slices.Compact(names), Flag: "--probe-image"}
	}
	return all, nil
}

// claimants are the workloads whose pods on a node ("" is any) register a driver
// with the kubelet. What they say of themselves anybody can say; what counts is
// that the node runs them with the kubelet's registration directory, by which
// they could own the node already.
func claimants(x *snapshot.Index, node, driver string) []workload {
	var out []workload
	for _, ds := range x.Cluster.DaemonSets {
		if ds == nil {
			continue
		}
		for _, pod := range podsOf(x, ds, node) {
			if registers(pod) && slices.Contains(snapshot.DriversRegistered(&pod.Spec), driver) {
				out = append(out, workload{set: ds, pod: pod, reason: reasonOf(OfDriver, driver, ds, pod)})
			}
		}
	}
	return out
}

func reasonOf(b Basis, driver string, ds *appsv1.DaemonSet, pod *corev1.Pod) Reason {
	return Reason{Basis: b, Driver: driver, DaemonSet: ds.Namespace + "/" + ds.Name, Pod: pod.Name}
}

func namespacesOf(list []workload) []string {
	var out []string
	for _, w := range list {
		out = append(out, w.set.Namespace)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// podsOf are the running pods of a DaemonSet on a node ("" is any): owned by its
// UID, in its namespace. The garbage collector and the API server know no owner
// in another namespace, but they let anybody write one down.
func podsOf(x *snapshot.Index, ds *appsv1.DaemonSet, node string) []*corev1.Pod {
	pods := x.Cluster.Pods
	if node != "" {
		pods = x.PodsOn(node)
	}
	var out []*corev1.Pod
	for _, p := range pods {
		if p == nil || p.Namespace != ds.Namespace || p.Status.Phase != corev1.PodRunning || p.DeletionTimestamp != nil {
			continue
		}
		ref := metav1.GetControllerOf(p)
		if ref != nil && ref.Kind == "DaemonSet" && strings.HasPrefix(ref.APIVersion, "apps/") &&
			ref.UID != "" && ref.UID == ds.UID && ref.Name == ds.Name {
			out = append(out, p)
		}
	}
	return out
}

// registers tells whether a container of the pod has the kubelet's registration
// directory, plugins_registry (pkg/kubelet/config/defaults.go of Kubernetes).
func registers(p *corev1.Pod) bool {
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i]
		if v.HostPath == nil || path.Base(path.Clean(v.HostPath.Path)) != "plugins_registry" {
			continue
		}
		for _, c := range p.Spec.Containers {
			if slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == v.Name }) {
				return true
			}
		}
	}
	return false
}
