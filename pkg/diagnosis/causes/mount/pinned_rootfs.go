package mount

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// pinnedRootfs looks for pods that cannot end because the root filesystem of a
// stopped container is still mounted in a foreign namespace: the runtime then gets
// EBUSY when it removes the directory.
func pinnedRootfs(p *diagnosis.Pass) {
	for _, pod := range stuckPods(p) {
		if view, ok := p.Probed(pod.Spec.NodeName); ok && view.Init != nil {
			rootfsOf(p, pod, view)
		}
	}
}

// stuckPods are the pods of the question that are over their grace period and
// whose containers have ended.
func stuckPods(p *diagnosis.Pass) []*corev1.Pod {
	var all []*corev1.Pod
	switch {
	case p.Question.Kind == "pod":
		if pod := p.Pod(p.Question.Namespace, p.Question.Name); pod != nil {
			all = append(all, pod)
		}
	case p.Sweep():
		for _, n := range p.Nodes() {
			all = append(all, p.PodsOn(n)...)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(pod *corev1.Pod) bool {
		return pod.Spec.NodeName == "" || !overdue(p, pod) || runs(pod) || len(endedContainers(pod)) == 0
	})
}

// rootfsOf finds copies of container roots that only foreign namespaces mount, and
// judges whether one of them belongs to the pod.
func rootfsOf(p *diagnosis.Pass, pod *corev1.Pod, view *snapshot.NodeView) {
	copies := strayRoots(view)
	layers := layersOf(view, pod)
	for _, u := range copies {
		name := rootName(u.Mount.Point)
		ours := slices.ContainsFunc(layers, func(l string) bool { return strings.Contains(u.Mount.Point, l) })
		certainty := report.Likely
		if !ours {
			if len(layers) > 0 && knownLayer(view, name) || strayNames(copies) > 1 {
				continue // it belongs to another container, or cannot be told apart
			}
			certainty = report.Possible
		}
		said := busyText(p, pod, name)
		if ours && said.Raw != "" {
			certainty = report.Certain
		}
		reportRootfs(p, pod, view, u, certainty, said)
	}
}

func reportRootfs(p *diagnosis.Pass, pod *corev1.Pod, view *snapshot.NodeView, u snapshot.Use, certainty report.Certainty, said diagnosis.Text) {
	proc := keeper(view, u.NS)
	if proc == nil {
		return
	}
	who := p.WhoIs(view, proc)
	f := p.Find(certainty, holderSubject(view.Name, proc, who)).Located(view.Name)
	f.Pod(pod)
	f.Pod(who.Pod)
	f.Sayf("The containers of pod %s on node %s have ended, but process %d (%s%s) still has the root filesystem of one of them mounted at %s in a mount namespace of its own (%s). "+
		"Process 1 does not mount it any more. The container runtime cannot remove the directory while any namespace mounts it, so the pod stays Terminating.",
		podName(pod), view.Name, proc.PID, proc.Comm, belongsTo(p, who), u.Mount.Point, tag(u.Mount))
	pinnedFacts(f, view, u, proc)
	if said.Raw != "" {
		f.Fact(said.Evidence())
	} else {
		f.Missing("the runtime's own error about this directory")
	}
	f.Unless("a line of " + u.Mount.Point + " in proc/1/mountinfo, or a running container of this pod")
	advisePinned(p, f, &snapshot.Volume{}, view, proc, who)
	p.Report(f)
}

// strayRoots are mounts of container roots in foreign namespaces that process 1
// does not have, except each container's own root.
func strayRoots(view *snapshot.NodeView) []snapshot.Use {
	mounted := map[string]bool{}
	for _, m := range view.Init.Mounts {
		mounted[m.Point] = true
	}
	running := map[probes.Dev]bool{} // roots of running containers
	for _, ns := range view.Facts.Namespaces {
		for _, m := range ns.Mounts {
			if m.Point == "/" {
				running[m.Dev] = true
			}
		}
	}
	var out []snapshot.Use
	for i := range view.Facts.Namespaces {
		ns := &view.Facts.Namespaces[i]
		if ns == view.Init {
			continue
		}
		for _, m := range ns.Mounts {
			if !containerRoot(m.Point) || mounted[m.Point] || running[m.Dev] {
				continue
			}
			if prefixed(m.Point, mounted) {
				continue
			}
			out = append(out, snapshot.Use{NS: ns, Mount: m})
		}
	}
	return out
}

// prefixed tells whether the host has the same path without a pod's prefix.
func prefixed(point string, mounted map[string]bool) bool {
	for i := 1; i < len(point); i++ {
		if point[i] == '/' && mounted[point[i:]] {
			return true
		}
	}
	return false
}

// containerRoot recognises where runtimes mount the root of a container: overlay2
// and devicemapper of docker, containerd's bundles, CRI-O's storage.
func containerRoot(point string) bool {
	return strings.HasSuffix(point, "/merged") && strings.Contains(point, "/overlay") ||
		strings.HasSuffix(point, "/rootfs") && strings.Contains(point, "/io.containerd.") ||
		strings.Contains(point, "/devicemapper/mnt/") || strings.Contains(point, "/docker/aufs/mnt/") ||
		strings.HasSuffix(point, "/shm") && (strings.Contains(point, "/containers/") || strings.Contains(point, "/sandboxes/"))
}

// rootName is the directory that names the container or its layer.
func rootName(point string) string {
	parts := strings.Split(point, "/")
	for _, s := range parts {
		if len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" {
			return s
		}
	}
	return ""
}

func strayNames(copies []snapshot.Use) int {
	names := map[string]bool{}
	for _, u := range copies {
		names[rootName(u.Mount.Point)] = true
	}
	return len(names)
}

// layersOf are the directory names of the pod's ended containers: their ids, and
// with docker the layer that the image store maps each to
// (image/<driver>/layerdb/mounts/<id>/mount-id).
func layersOf(view *snapshot.NodeView, pod *corev1.Pod) []string {
	out := endedContainers(pod)
	for _, id := range slices.Clone(out) {
		for name, file := range view.Facts.Files {
			if strings.HasSuffix(name, "/layerdb/mounts/"+id+"/mount-id") {
				out = append(out, strings.TrimSpace(file.Content))
			}
		}
	}
	slices.Sort(out)
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// knownLayer tells whether the image store maps the layer to some container.
func knownLayer(view *snapshot.NodeView, layer string) bool {
	for name, file := range view.Facts.Files {
		if strings.HasSuffix(name, "/mount-id") && strings.TrimSpace(file.Content) == layer {
			return true
		}
	}
	return false
}

// busyText finds a word of the runtime or kubelet about exactly this directory.
func busyText(p *diagnosis.Pass, pod *corev1.Pod, name string) diagnosis.Text {
	if name == "" {
		return diagnosis.Text{}
	}
	for _, e := range p.Events("Pod", pod.Namespace, pod.Name) {
		if strings.Contains(e.Message, name) && strings.Contains(strings.ToLower(e.Message), "busy") && p.Fresh(e, pod.CreationTimestamp.Time) {
			return diagnosis.Text{Source: "event", Locator: fmt.Sprintf("Event Pod %s %s", podName(pod), e.Reason), Raw: e.Message}
		}
	}
	return diagnosis.Text{}
}
