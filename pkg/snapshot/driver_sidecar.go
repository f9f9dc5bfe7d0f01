package snapshot

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// sidecars is who runs a sidecar ("csi-attacher", "csi-provisioner", "csi-resizer") for a
// driver.
type sidecars struct {
	pods      []*corev1.Pod
	workloads []Owner
	unproven  []Owner  // the workloads of the only namespace where somebody says so, without a pod, and nothing proves it
	disputed  []string // the namespaces, where somebody says so and nothing proves it
}

// SidecarPods returns the pods that run a sidecar for a driver. A pod serves the driver
// when it mounts or names the driver's socket, holds the sidecar's lease for it, or
// lives in a namespace where no other driver does.
func (x *Index) SidecarPods(driver, sidecar string) []*corev1.Pod {
	return x.sidecarsOf(driver, sidecar).pods
}

// SidecarWorkloads returns the Deployments and StatefulSets whose template runs a
// sidecar for a driver, also those that have no pod.
func (x *Index) SidecarWorkloads(driver, sidecar string) []Owner {
	return x.sidecarsOf(driver, sidecar).workloads
}

// SidecarUnproven returns the workloads that alone say that they run a sidecar for a driver, have no pod of it, and are not
// proven to: anybody can write one.
func (x *Index) SidecarUnproven(driver, sidecar string) []Owner {
	return x.sidecarsOf(driver, sidecar).unproven
}

// SidecarDisputed names the namespaces whose pods or workloads say that they run a sidecar
// for a driver, and nothing proves it; nil when it is clear whose they are.
func (x *Index) SidecarDisputed(driver, sidecar string) []string {
	return x.sidecarsOf(driver, sidecar).disputed
}

func (x *Index) sidecarsOf(driver, sidecar string) sidecars {
	return x.sidecarsOfDriver.get(sidecar+" "+driver, func(string) sidecars {
		pods, saying := x.sidecarsAmong(x.controlled(driver), driver, sidecar)
		workloads, unproven := x.sidecarWorkloads(driver, sidecar)
		s := sidecars{pods: pods, workloads: workloads}
		if len(pods)+len(workloads) > 0 { // somebody's words change nothing about what is proven
			return s
		}
		var spaces nodeList
		for _, p := range saying {
			spaces.add(p.Namespace)
		}
		for _, w := range unproven {
			spaces.add(w.Namespace)
		}
		slices.Sort(spaces)
		if s.disputed = spaces; len(spaces) == 1 && len(saying) == 0 {
			s.unproven = unproven
		}
		return s
	})
}

// controlled are the pods that may be part of a driver: those of a workload, and those
// that nothing controls where only administrators write.
func (x *Index) controlled(driver string) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(x.Cluster.Pods), func(p *corev1.Pod) bool {
		return p == nil || metav1.GetControllerOf(p) == nil && !x.ownStorage(driver, p.Namespace)
	})
}

func (x *Index) sidecarWorkloads(driver, sidecar string) (workloads, unproven []Owner) {
	var pods []*corev1.Pod
	owners := map[*corev1.Pod]Owner{}
	add := func(kind string, meta *metav1.ObjectMeta, t *corev1.PodTemplateSpec, object any) {
		p := &corev1.Pod{Spec: t.Spec}
		p.Namespace, p.Name, p.Labels = meta.Namespace, meta.Name, t.Labels
		pods = append(pods, p)
		owners[p] = Owner{Kind: kind, Namespace: meta.Namespace, Name: meta.Name, UID: string(meta.UID), Object: object}
	}
	for _, d := range x.Cluster.Deployments {
		if d != nil {
			add("Deployment", &d.ObjectMeta, &d.Spec.Template, d)
		}
	}
	for _, s := range x.Cluster.StatefulSets {
		if s != nil {
			add("StatefulSet", &s.ObjectMeta, &s.Spec.Template, s)
		}
	}
	serving, saying := x.sidecarsAmong(pods, driver, sidecar)
	for _, p := range serving {
		workloads = append(workloads, owners[p])
	}
	for _, p := range saying {
		unproven = append(unproven, owners[p])
	}
	return workloads, unproven
}

// sidecarsAmong chooses the pods that serve a driver: in the namespaces in which somebody
// who says so is believed. Where only others say it, it is open whether they do.
func (x *Index) sidecarsAmong(pods []*corev1.Pod, driver, sidecar string) (serving, saying []*corev1.Pod) {
	var sure, perhaps []*corev1.Pod
	proven := x.provenSpaces(driver)
	plugin := x.driverNamespaces(driver)
	for _, p := range pods {
		if p == nil || !runsSidecar(p, sidecar) {
			continue
		}
		switch {
		case x.servesDriver(p, driver), x.holdsLease(p, driver), slices.Contains(x.speakers[driver], p.Name):
			sure = append(sure, p)
		case x.namesOtherDriver(p, driver):
		case slices.Contains(plugin, p.Namespace) && slices.Contains(proven, p.Namespace) && !x.sharedNamespace(p.Namespace, driver):
			perhaps = append(perhaps, p)
		}
	}
	if len(sure) == 0 {
		return perhaps, nil
	}
	if near := inSpaces(sure, proven); len(near) > 0 {
		return near, nil
	}
	return nil, sure
}

func inSpaces(pods []*corev1.Pod, spaces []string) []*corev1.Pod {
	var out []*corev1.Pod
	for _, p := range pods {
		if slices.Contains(spaces, p.Namespace) {
			out = append(out, p)
		}
	}
	return out
}

// runsSidecar looks at names and images: Longhorn runs each sidecar in a pod of
// its own, others beside the controller; "external-attacher" is the old name.
func runsSidecar(p *corev1.Pod, sidecar string) bool {
	short := strings.TrimPrefix(sidecar, "csi-")
	return slices.ContainsFunc(p.Spec.Containers, func(c corev1.Container) bool {
		base := c.Image[strings.LastIndex(c.Image, "/")+1:]
		return c.Name == short || strings.Contains(c.Name, sidecar) || strings.Contains(c.Name, "external-"+short) ||
			strings.Contains(base, sidecar) || strings.Contains(base, "external-"+short)
	})
}

// Speakers are the names of the pods whose provisioner spoke of a driver's claims: the
// component of its events is "<driver>_<host name of its pod>_<a UUID>"
// (sig-storage-lib-external-provisioner, controller.go). So they are found even where
// nothing of the pod names the driver.
func (x *Index) Speakers(driver string) []string { return x.speakers[driver] }

func (x *Index) indexSpeakers() {
	x.speakers = map[string][]string{}
	for _, e := range x.Cluster.Events {
		if e == nil {
			continue
		}
		part := strings.Split(e.Component, "_")
		if len(part) == 3 && part[1] != "" && !slices.Contains(x.speakers[part[0]], part[1]) {
			x.speakers[part[0]] = append(x.speakers[part[0]], part[1])
		}
	}
}

func (x *Index) servesDriver(p *corev1.Pod, driver string) bool {
	if slices.Contains(driversNamed(p), driver) || x.sharesSocket(p, driver) {
		return true
	}
	return driver == LonghornDriver && p.Namespace == x.longhornNS && strings.HasPrefix(p.Labels["app"], "csi-")
}

// sharesSocket tells whether a pod mounts the directory in which the driver's node plugin serves.
func (x *Index) sharesSocket(p *corev1.Pod, driver string) bool {
	dirs := socketDirs(&p.Spec)
	return slices.ContainsFunc(x.DriverPods(driver), func(plugin *corev1.Pod) bool {
		return slices.ContainsFunc(socketDirs(&plugin.Spec), func(d string) bool { return slices.Contains(dirs, d) })
	})
}

func (x *Index) namesOtherDriver(p *corev1.Pod, driver string) bool {
	named := slices.DeleteFunc(driversNamed(p), func(d string) bool { return !x.isDriver(d) })
	return len(named) > 0 && !slices.Contains(named, driver)
}

// driversNamed are the drivers that a pod's host paths and arguments name.
func driversNamed(p *corev1.Pod) []string {
	out := driversOf(&p.Spec)
	for _, c := range p.Spec.Containers {
		for _, a := range append(slices.Clone(c.Command), c.Args...) {
			for _, flag := range []string{"drivername", "driver-name", "csi-driver-name"} {
				if d := flagValue(a, flag); d != "" && !strings.ContainsAny(d, "$(") {
					out = append(out, d)
				}
			}
			if d := pluginDir(flagValue(a, "csi-address")); d != "" {
				out = append(out, d)
			}
		}
	}
	return out
}

// holdsLease tells whether the lease of a sidecar for the driver names the pod. The names are
// those of each sidecar's leader election. The sidecars of one pod speak to one driver: what
// one of them has proves whom another serves that never came up.
func (x *Index) holdsLease(p *corev1.Pod, driver string) bool {
	dashed := DashedDriver(driver)
	return slices.ContainsFunc([]string{"external-attacher-leader-" + dashed, dashed, "external-resizer-" + dashed}, func(name string) bool {
		l := x.leases[key{p.Namespace, name}]
		return l != nil && l.Spec.HolderIdentity != nil && holds(*l.Spec.HolderIdentity, p.Name)
	})
}

var (
	ofWorkload = pattern.MustCompile(`^(?:[0-9a-z]{1,10}-[0-9a-z]{5}|\d+)$`) // what follows the name of a Deployment or StatefulSet in that of a pod
	dated      = pattern.MustCompile(`^\d+-\d+-$`)                           // what older provisioners put before it
)

// holds tells whether the holder of a lease is a pod, or a pod of a workload, by name: its host name,
// which a UUID may follow.
func holds(holder, name string) bool {
	host, _, _ := strings.Cut(holder, "_")
	before, rest, ok := strings.Cut(host, name)
	return ok && (before == "" || dated.MatchString(before)) && (rest == "" || rest[0] == '-' && ofWorkload.MatchString(rest[1:]))
}

// DashedDriver is a driver's name as it stands in leases and finalizers: every
// character that is no letter or digit becomes "-".
func DashedDriver(driver string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, driver)
}

// ProvisionerLeases are the names of the lease by which a provisioner elects its leader:
// csi-provisioner dashes everything, provisioners of their own only the slash
// (sig-storage-lib-external-provisioner).
func ProvisionerLeases(provisioner string) []string {
	out := []string{DashedDriver(provisioner)}
	if own := strings.ReplaceAll(provisioner, "/", "-"); own != out[0] && strings.Contains(provisioner, "/") {
		out = append(out, own)
	}
	return out
}

// driverNamespaces are the namespaces of the driver's node plugin.
func (x *Index) driverNamespaces(driver string) []string {
	var out nodeList
	if driver == LonghornDriver {
		out.add(x.longhornNS)
	}
	if ds := x.DriverDaemonSet(driver); ds != nil {
		out.add(ds.Namespace)
	}
	for _, p := range x.DriverPods(driver) {
		out.add(p.Namespace)
	}
	return out
}

// sharedNamespace tells whether another driver's node plugin lives there, too.
func (x *Index) sharedNamespace(namespace, driver string) bool {
	for other, sets := range x.driverSets {
		if other == driver {
			continue
		}
		for _, ds := range sets {
			if ds.Namespace == namespace && !slices.Contains(x.driverSets[driver], ds) {
				return true
			}
		}
	}
	return false
}
