package pods

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Spares asks whether the death of a pod takes nothing along but the pod: it carries
// no volumes, mounts or network of others. What it carries is told by who owns it and
// by what it is made of; a name proves nothing, and whoever poses as such a pod only
// keeps it from being deleted.
func Spares(x *snapshot.Index, p *corev1.Pod) evidence.Answer {
	for _, carries := range []func(*snapshot.Index, *corev1.Pod) (report.Evidence, bool){static, longhorns, plugins, networks, storage} {
		if ev, is := carries(x, p); is {
			if unused(x, p).Yes() {
				break
			}
			return evidence.No(ev)
		}
	}
	// Which driver a pod of a DaemonSet serves, and where storage is served, is told
	// by the sets.
	whole := evidence.Reading{}
	owner := metav1.GetControllerOf(p)
	if owner != nil && owner.Kind == "DaemonSet" || deviceOf(p) != "" {
		whole = evidence.Resource(x, "apps/daemonsets")
	}
	text := "none"
	if owner != nil {
		text = owner.Kind + " " + owner.Name
	}
	return whole.Nothing(evidence.FromPod(p, "metadata.ownerReferences", text))
}

// static pods are the kubelet's: deleting the mirror ends nothing, and they are the
// control plane (kubelet/types: config.mirror, config.source).
func static(_ *snapshot.Index, p *corev1.Pod) (report.Evidence, bool) {
	const mirror, source = "kubernetes.io/config.mirror", "kubernetes.io/config.source"
	if owner := metav1.GetControllerOf(p); owner != nil && owner.Kind == "Node" {
		return evidence.FromPod(p, "metadata.ownerReferences", "Node "+owner.Name+": a static pod"), true
	}
	if v := p.Annotations[mirror]; v != "" {
		return evidence.FromPod(p, "metadata.annotations["+mirror+"]", v), true
	}
	v := p.Annotations[source]
	return evidence.FromPod(p, "metadata.annotations["+source+"]", v), v != "" && v != "api"
}

// longhorns are the pods in which Longhorn's engines, replicas and NFS servers run;
// each is owned by the custom resource that describes it.
func longhorns(x *snapshot.Index, p *corev1.Pod) (report.Evidence, bool) {
	for _, o := range p.OwnerReferences {
		if strings.HasPrefix(o.APIVersion, "longhorn.io/") && (o.Kind == "InstanceManager" || o.Kind == "ShareManager") {
			return evidence.FromPod(p, "metadata.ownerReferences", o.Kind+" "+o.Name+": engines, replicas or an export of others run in it"), true
		}
	}
	for _, im := range x.Cluster.Longhorn.InstanceManagers {
		if im.Namespace == p.Namespace && im.Name == p.Name {
			return evidence.FromAPI("InstanceManager "+im.Name, "metadata.name", "its engines and replicas run in this pod"), true
		}
	}
	const component = "longhorn.io/component"
	if c := p.Labels[component]; c == "instance-manager" || c == "share-manager" {
		return evidence.FromPod(p, "metadata.labels["+component+"]", c), true
	}
	return report.Evidence{}, false
}

// plugins are the pods of CSI node plugins: they register a driver, or hold mounts
// that the node must see.
func plugins(x *snapshot.Index, p *corev1.Pod) (report.Evidence, bool) {
	for _, d := range driversOf(x, p) {
		return evidence.FromPod(p, "spec", "serves driver "+d+" on the node"), true
	}
	for _, m := range bidirectional(p) {
		return evidence.FromPod(p, "spec.containers[].volumeMounts["+m+"].mountPropagation", "Bidirectional: it mounts for others"), true
	}
	return report.Evidence{}, false
}

// bidirectional are the volumes of a pod into which it mounts for the host and others.
func bidirectional(p *corev1.Pod) []string {
	var out []string
	for c := range snapshot.Containers(p) {
		for _, m := range c.VolumeMounts {
			if m.MountPropagation != nil && *m.MountPropagation == corev1.MountPropagationBidirectional {
				out = append(out, m.Name)
			}
		}
	}
	return out
}

// MountsInto are the directories of the host into which a pod mounts for the host.
func MountsInto(p *corev1.Pod) []string {
	var out []string
	for _, name := range bidirectional(p) {
		for _, v := range p.Spec.Volumes {
			if v.Name == name && v.HostPath != nil {
				out = append(out, v.HostPath.Path)
			}
		}
	}
	return out
}

func driversOf(x *snapshot.Index, p *corev1.Pod) []string {
	return evidence.Keep(x.Drivers(), func(d string) bool {
		return slices.ContainsFunc(x.DriverPods(d), func(o *corev1.Pod) bool { return o.UID == p.UID && o.Namespace == p.Namespace && o.Name == p.Name })
	})
}

// networks are the pods that make the network of a node: they write the CNI
// configuration, or program the rules of Services.
func networks(_ *snapshot.Index, p *corev1.Pod) (report.Evidence, bool) {
	for _, v := range p.Spec.Volumes {
		if v.HostPath == nil {
			continue
		}
		for _, dir := range []string{"/etc/cni", "/opt/cni", "/var/lib/cni", "/run/xtables.lock"} {
			if strings.HasPrefix(v.HostPath.Path, dir) {
				return evidence.FromPod(p, "spec.volumes["+v.Name+"].hostPath", v.HostPath.Path+": it makes the network of the node"), true
			}
		}
	}
	for _, c := range p.Spec.Containers {
		for _, w := range append(slices.Clone(c.Command), c.Args...) {
			if w == "kube-proxy" || strings.HasSuffix(w, "/kube-proxy") {
				return evidence.FromPod(p, "spec.containers["+c.Name+"].command", w), true
			}
		}
	}
	return report.Evidence{}, false
}

// storage are privileged pods of a storage system that work on the devices of the
// node: OSDs, satellites, I/O engines. They stand in the namespace of a driver.
func storage(x *snapshot.Index, p *corev1.Pod) (report.Evidence, bool) {
	device := deviceOf(p)
	if device == "" || !x.ServesStorage(p.Namespace) {
		return report.Evidence{}, false
	}
	return evidence.FromPod(p, "spec", "privileged, with "+device+" of the node, beside a CSI driver: it serves storage"), true
}

// deviceOf is the path below /dev of the node that a privileged pod works on.
func deviceOf(p *corev1.Pod) string {
	privileged := slices.ContainsFunc(p.Spec.Containers, func(c corev1.Container) bool {
		return c.SecurityContext != nil && c.SecurityContext.Privileged != nil && *c.SecurityContext.Privileged
	})
	for _, v := range p.Spec.Volumes {
		if privileged && v.HostPath != nil && (v.HostPath.Path == "/dev" || strings.HasPrefix(v.HostPath.Path, "/dev/")) {
			return v.HostPath.Path
		}
	}
	return ""
}

// unused asks whether a node plugin carries nothing at present: no pod of its node
// that has not finished uses a volume of its drivers.
func unused(x *snapshot.Index, p *corev1.Pod) evidence.Answer {
	drivers := driversOf(x, p)
	if len(drivers) == 0 || p.Spec.NodeName == "" {
		return evidence.No()
	}
	if _, is := static(x, p); is {
		return evidence.No()
	}
	if _, is := networks(x, p); is {
		return evidence.No()
	}
	for _, o := range x.PodsOn(p.Spec.NodeName) {
		if snapshot.PodFinished(o) {
			continue
		}
		for _, v := range x.VolumesOfPod(o) {
			if slices.Contains(drivers, v.CSIName()) && o.Status.Phase == corev1.PodRunning {
				return evidence.No(phase(o))
			}
		}
	}
	return read(x).And(evidence.Resource(x, "apps/daemonsets")).Nothing()
}
