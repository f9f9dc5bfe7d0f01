package mounts

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Copy is a directory of the host that a pod mounts without propagation: it copies the
// mounts below it when it starts and never hears of unmounts.
type Copy struct {
	Host, At string
	Held     []string        // volumes whose mounts it has now
	Spec     evidence.Answer // that the pod's spec says so
	Table    evidence.Answer // that its own mount table shows it
}

// CopyOf finds the one of a running pod on a place's node: the first that its mount table
// shows, else the first of its spec. None: an empty Host.
func CopyOf(pl *evidence.Place, pod *corev1.Pod) Copy {
	all := privateMounts(pod, rootOf(pl.X, pl.Node))
	if len(all) == 0 || pod.Status.Phase != corev1.PodRunning {
		return Copy{}
	}
	out, seen := all[0], false
	out.Table = evidence.Unseen(pl.Tables(probes.Mounts, probes.Processes).Lacks()...)
	for _, c := range all {
		ns, m, read := inTable(pl.View, pod, c.At)
		if m != nil {
			out = c
			out.Table = evidence.Yes(evidence.FromMount(pl.Node, ns, *m))
			out.Held = heldIn(pl, ns, c)
			seen = false
			break
		}
		seen = seen || read
	}
	if seen {
		out.Table = evidence.No()
	}
	out.Spec = evidence.Yes(evidence.FromPod(pod, "spec.volumes[].hostPath.path", out.Host+" at "+out.At+", mountPropagation None"))
	return out
}

// heldIn are the volumes whose mounts a namespace has below such a copy.
func heldIn(pl *evidence.Place, ns *probes.MountNamespace, c Copy) []string {
	var out []string
	for i := range ns.Mounts {
		below, ok := strings.CutPrefix(ns.Mounts[i].Point, strings.TrimSuffix(path.Clean(c.At), "/")+"/")
		if !ok {
			continue
		}
		if v := pl.X.VolumeOfPath(pl.Node, path.Join(c.Host, below)); v != nil && !slices.Contains(out, "volume "+v.PVName()) {
			out = append(out, "volume "+v.PVName())
		}
	}
	return out
}

// inTable finds a mount in the tables of the pod's containers: the line when it is
// private there, and whether any table that has it was read.
func inTable(view *snapshot.NodeView, pod *corev1.Pod, at string) (ns *probes.MountNamespace, line *probes.Mount, read bool) {
	for _, n := range view.NamespacesOfPod(string(pod.UID)) {
		i := slices.IndexFunc(n.Mounts, func(m probes.Mount) bool { return m.Point == path.Clean(at) })
		if i >= 0 && n.Mounts[i].Private() {
			return n, &n.Mounts[i], true
		}
		read = read || i >= 0
	}
	return nil, nil, read
}

// privateMounts are the hostPaths equal to or above directories in which mounts
// come and go: the kubelet's, docker's and that of network namespaces.
func privateMounts(pod *corev1.Pod, root string) []Copy {
	var out []Copy
	for _, v := range pod.Spec.Volumes {
		if v.HostPath == nil || !holdsMounts(path.Clean("/"+v.HostPath.Path), root) {
			continue
		}
		for _, c := range pod.Spec.Containers {
			for _, m := range c.VolumeMounts {
				if m.Name == v.Name && (m.MountPropagation == nil || *m.MountPropagation == corev1.MountPropagationNone) {
					out = append(out, Copy{Host: path.Clean("/" + v.HostPath.Path), At: m.MountPath})
				}
			}
		}
	}
	return out
}

func holdsMounts(host, root string) bool {
	return slices.ContainsFunc([]string{root, "/var/lib/docker", "/run/netns"}, func(dir string) bool {
		return probes.Within(dir, host)
	})
}
