package snapshot

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const longhornPlugin = "longhorn-csi-plugin"

// driverWorkload is who serves a driver on the nodes: DaemonSets of one namespace with
// their pods. What a pod says of itself (labels, arguments, paths) anybody can write in
// a namespace of his own, so a pod that nothing controls counts only where the cluster's
// own storage lives, and two namespaces that both say it, with equal right, leave it open.
type driverWorkload struct {
	sets     []*appsv1.DaemonSet
	pods     []*corev1.Pod
	podOn    map[string]*corev1.Pod // the one on a node: one that lives before one that goes, and before one that has ended
	disputed []string               // the namespaces, when it is open whose the driver is
}

// spaces are the namespaces of what was found.
func (w *driverWorkload) spaces() []string {
	var out nodeList
	for _, ds := range w.sets {
		out.add(ds.Namespace)
	}
	for _, p := range w.pods {
		out.add(p.Namespace)
	}
	return out
}

func (x *Index) workloadOf(driver string) *driverWorkload {
	return x.workloadOfDriver.get(driver, x.findWorkload)
}

func (x *Index) findWorkload(driver string) *driverWorkload {
	sets, pods := x.claimants(driver)
	var spaces nodeList
	for _, ds := range sets {
		spaces.add(ds.Namespace)
	}
	for _, p := range pods {
		spaces.add(p.Namespace)
	}
	home, open := x.homeOf(driver, spaces, sets, pods)
	if home == "" {
		return &driverWorkload{disputed: open}
	}
	w := &driverWorkload{disputed: open, podOn: map[string]*corev1.Pod{}}
	for _, ds := range sets {
		if ds.Namespace == home {
			w.sets = append(w.sets, ds)
		}
	}
	for _, p := range pods {
		if p.Namespace != home {
			continue
		}
		w.pods = append(w.pods, p)
		if o := w.podOn[p.Spec.NodeName]; o == nil || life(p) > life(o) {
			w.podOn[p.Spec.NodeName] = p
		}
	}
	return w
}

// claimants are the DaemonSets and pods that could be a driver's node plugin.
func (x *Index) claimants(driver string) ([]*appsv1.DaemonSet, []*corev1.Pod) {
	sets := x.driverSets[driver]
	if len(sets) == 0 {
		if ds := x.setByPresence(driver); ds != nil {
			sets = []*appsv1.DaemonSet{ds}
		}
	}
	var pods []*corev1.Pod
	for _, p := range x.Cluster.Pods {
		if p != nil && x.servesOnNode(p, driver, sets) {
			pods = append(pods, p)
		}
	}
	if len(sets) == 0 {
		sets = x.controlling(pods)
	}
	return sets, pods
}

// controlling are the DaemonSets that control pods, by the UID that their controller
// wrote: whose template does not name the driver, what was made of it may.
func (x *Index) controlling(pods []*corev1.Pod) []*appsv1.DaemonSet {
	var out []*appsv1.DaemonSet
	for _, p := range pods {
		ref := metav1.GetControllerOf(p)
		if ref == nil {
			continue
		}
		ds := x.daemonSets[key{p.Namespace, ref.Name}]
		if ds != nil && ds.UID != "" && ds.UID == ref.UID && !slices.Contains(out, ds) {
			out = append(out, ds)
		}
	}
	return out
}

func (x *Index) servesOnNode(p *corev1.Pod, driver string, sets []*appsv1.DaemonSet) bool {
	ref := metav1.GetControllerOf(p)
	if ref == nil {
		return registers(p, driver) && x.ownStorage(driver, p.Namespace) ||
			driver == LonghornDriver && p.Labels["app"] == longhornPlugin && p.Namespace == x.longhornNS
	}
	if ref.Kind != "DaemonSet" {
		return false
	}
	if ds := x.daemonSets[key{p.Namespace, ref.Name}]; ds != nil && ds.UID != "" && ref.UID != "" && ds.UID != ref.UID {
		return false // anybody can write an owner down; the controller writes its UID
	}
	return slices.ContainsFunc(sets, func(ds *appsv1.DaemonSet) bool { return ds.Namespace == p.Namespace && ds.Name == ref.Name }) ||
		registers(p, driver) || driver == LonghornDriver && ref.Name == longhornPlugin && p.Namespace == x.longhornNS
}

func registers(p *corev1.Pod, driver string) bool {
	return slices.Contains(driversOf(&p.Spec), driver)
}

// helmNamespace is where Helm says that it installed an object.
const helmNamespace = "meta.helm.sh/release-namespace"

// ownStorage tells whether a namespace is one of the cluster's own storage as far as
// a driver is concerned: kube-system, that of Longhorn's objects, or the one into which
// the CSIDriver was installed. Only who administers the cluster writes there.
func (x *Index) ownStorage(driver, namespace string) bool {
	if driver == LonghornDriver && len(x.LonghornNamespaces()) > 0 {
		return slices.Contains(x.LonghornNamespaces(), namespace)
	}
	if namespace == metav1.NamespaceSystem {
		return true
	}
	d := x.CSIDriver(driver)
	return d != nil && d.Annotations[helmNamespace] == namespace
}

// homeOf chooses the namespace that a driver's node plugin lives in among those that say
// so, or says between which it is open. Those of the cluster's own storage come first,
// then those whose pods a node runs with kubelet's directories. A DaemonSet without any
// pod may be one that nothing admits or schedules, or a tenant's words: the only one is
// looked at, and stays unproven. One with pods that lack the directories is no node plugin.
func (x *Index) homeOf(driver string, spaces []string, sets []*appsv1.DaemonSet, pods []*corev1.Pod) (home string, open []string) {
	own := slices.DeleteFunc(slices.Clone(spaces), func(ns string) bool { return !x.ownStorage(driver, ns) })
	if driver == LonghornDriver && len(x.LonghornNamespaces()) > 0 {
		spaces = own
	}
	for _, proven := range [][]string{own, x.pluggedSpaces(driver, spaces, sets, pods)} {
		if len(proven) == 1 {
			return proven[0], nil
		}
		if len(proven) > 1 {
			spaces = proven
			break
		}
	}
	open = slices.Clone(spaces)
	slices.Sort(open)
	if len(spaces) == 1 && len(pods) == 0 {
		return spaces[0], open
	}
	return "", open
}

// DriverDisputed names the namespaces of which each has a workload that says that it
// serves a driver, or the only one that nothing proves; nil when it is clear whose the
// driver is.
func (x *Index) DriverDisputed(driver string) []string { return x.workloadOf(driver).disputed }

// DriverDaemonSet returns the DaemonSet of a driver's node plugin, or nil. Of
// several (one per operating system) it is the first with pods, then by name.
func (x *Index) DriverDaemonSet(driver string) *appsv1.DaemonSet {
	sets := x.workloadOf(driver).sets
	for _, ds := range sets {
		if len(x.podsOfSet(ds)) > 0 {
			return ds
		}
	}
	if len(sets) > 0 {
		return sets[0]
	}
	return nil
}

// DriverDaemonSets returns all DaemonSets of a driver's node plugin: one for each
// operating system, mostly.
func (x *Index) DriverDaemonSets(driver string) []*appsv1.DaemonSet { return x.workloadOf(driver).sets }

// podsOfSet are the pods that a DaemonSet controls.
func (x *Index) podsOfSet(ds *appsv1.DaemonSet) []*corev1.Pod {
	return x.podsBySet[key{ds.Namespace, ds.Name}]
}

// DriverPods returns the pods of a driver's node plugin.
func (x *Index) DriverPods(driver string) []*corev1.Pod { return x.workloadOf(driver).pods }

// DriverPodOn returns the driver's plugin pod on a node, or nil.
func (x *Index) DriverPodOn(driver, node string) *corev1.Pod {
	return x.workloadOf(driver).podOn[node]
}

// life orders pods: ended, being deleted, alive.
func life(p *corev1.Pod) int {
	switch {
	case PodFinished(p):
		return 0
	case p.DeletionTimestamp != nil:
		return 1
	}
	return 2
}
