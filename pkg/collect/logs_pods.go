package collect

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// logPods are the pods that work on a volume: its driver on the nodes in question,
// the driver's attacher, and Longhorn's parts.
func logPods(x *snapshot.Index, v *snapshot.Volume, near []string) []*corev1.Pod {
	var out []*corev1.Pod
	driver := v.CSIName()
	for _, n := range near {
		if driver != "" {
			out = append(out, x.DriverPodOn(driver, n))
		}
	}
	if driver != "" {
		out = append(out, x.SidecarPods(driver, "csi-attacher")...)
	}
	if driver != "" && grows(v) {
		out = append(out, x.SidecarPods(driver, "csi-resizer")...) // who says why nothing grows
	}
	if v.PV == nil && v.Class != nil {
		out = append(out, x.SidecarPods(v.Class.Provisioner, "csi-provisioner")...) // who says why nothing is provisioned
	}
	if !v.IsLonghorn() {
		return out
	}
	ns := x.LonghornNamespace()
	out = append(out, x.ShareManagerPod(v))
	for _, pod := range x.Cluster.Pods {
		if pod.Namespace == ns && slices.Contains(near, pod.Spec.NodeName) &&
			(pod.Labels["app"] == "longhorn-manager" || strings.HasPrefix(pod.Name, "instance-manager-")) {
			out = append(out, pod)
		}
	}
	return out
}

// agents are the other pods on the nodes in question that work on its disks: a
// driver's storage agent often is a DaemonSet of its own, and a plugin that names
// its driver nowhere is known by its looks only.
func (c *collector) agents(x *snapshot.Index, v *snapshot.Volume, near []string) []*corev1.Pod {
	driver := v.CSIName()
	if driver == "" || v.IsLonghorn() {
		return nil
	}
	var out []*corev1.Pod
	spaces := c.driverNamespaces(x, driver)
	for _, pod := range x.Cluster.Pods {
		if !slices.Contains(near, pod.Spec.NodeName) {
			continue
		}
		ours := slices.Contains(spaces, pod.Namespace) && pod.Namespace != metav1.NamespaceSystem
		if ours && reachesHost(pod) || len(x.DriverPods(driver)) == 0 && looksCSI(pod) {
			out = append(out, pod)
		}
	}
	return out
}

func looksCSI(pod *corev1.Pod) bool {
	return strings.Contains(pod.Name, "csi") || slices.ContainsFunc(pod.Spec.Containers, func(k corev1.Container) bool {
		return strings.Contains(k.Name, "csi") || strings.Contains(k.Image, "csi")
	})
}

// workers are the pods that somebody runs by hand beside a volume's device, a
// repair for example: they reach the host's devices and no DaemonSet makes them.
func workers(x *snapshot.Index, v *snapshot.Volume) []*corev1.Pod {
	var out []*corev1.Pod
	for _, n := range x.DeviceNodes(v) {
		for _, pod := range x.PodsOn(n) {
			if !ofDaemonSet(pod) && pod.Namespace != x.LonghornNamespace() && slices.ContainsFunc(pod.Spec.Volumes, ofDevices) {
				out = append(out, pod)
			}
		}
	}
	return out
}

// ofDevices tells whether a pod's volume shows the devices of its host.
func ofDevices(v corev1.Volume) bool {
	return v.HostPath != nil && (v.HostPath.Path == "/" || v.HostPath.Path == "/dev" || strings.HasPrefix(v.HostPath.Path, "/dev/"))
}

// servers are the pods in the cluster that a volume is mounted from.
func servers(x *snapshot.Index, v *snapshot.Volume) []*corev1.Pod {
	host := serverOf(v)
	if host == "" {
		return nil
	}
	var out []*corev1.Pod
	for _, pod := range x.Cluster.Pods {
		behind := slices.ContainsFunc(x.Cluster.Services, func(s *corev1.Service) bool {
			return s.Namespace == pod.Namespace && answersTo(s, host) && len(s.Spec.Selector) > 0 &&
				labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(pod.Labels))
		})
		if behind || pod.Status.PodIP == host {
			out = append(out, pod)
		}
	}
	return out
}

// containers are the containers of a pod that have a log; of one that was
// restarted also the log of its last run.
func containers(pod *corev1.Pod) []tail {
	var out []tail
	for k := range snapshot.Containers(pod) {
		if strings.Contains(k.Name, "liveness") {
			continue
		}
		t := tail{namespace: pod.Namespace, pod: pod.Name, container: k.Name}
		out = append(out, t)
		if restarted(pod, k.Name) {
			t.previous = true
			out = append(out, t)
		}
	}
	return out
}

func restarted(pod *corev1.Pod, container string) bool {
	return slices.ContainsFunc(snapshot.Statuses(pod), func(s corev1.ContainerStatus) bool {
		return s.Name == container && s.RestartCount > 0
	})
}

// helpers are the pods in which a provisioner works at a volume: they are called after it,
// and a volume that is not there yet after the UID of its claim.
func helpers(x *snapshot.Index, v *snapshot.Volume) []*corev1.Pod {
	name := v.Called()
	var out []*corev1.Pod
	for _, pod := range x.Cluster.Pods {
		if name != "" && strings.HasSuffix(pod.Name, "-"+name) {
			out = append(out, pod)
		}
	}
	return out
}
