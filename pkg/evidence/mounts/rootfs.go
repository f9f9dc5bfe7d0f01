package mounts

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// StrayRoot is the root filesystem of a stopped container that only a foreign namespace
// still mounts: the runtime then gets EBUSY when it removes the directory.
type StrayRoot struct {
	Pinned
	Says string // which sentence of the document tells it
	ours bool
	said evidence.Answer // the runtime's own error about this directory
}

// Lingers tells whether a pod is over its grace period with all its containers ended.
func Lingers(x *snapshot.Index, pod *corev1.Pod) bool {
	return pod.Spec.NodeName != "" && pods.Overdue(x, pod) && !pods.Runs(pod) && len(pods.EndedContainers(pod)) > 0
}

// StrayRootsOf are those that are of the place's pod, or may be.
func StrayRootsOf(pl *evidence.Place) []StrayRoot {
	if pl.View == nil || pl.View.Init == nil {
		return nil
	}
	copies, names := strayRoots(pl.View), map[string]bool{}
	for _, u := range copies {
		names[rootName(u.Mount.Point)] = true
	}
	layers := layersOf(pl.View, pl.Pod)
	var out []StrayRoot
	for _, u := range copies {
		name := rootName(u.Mount.Point)
		ours := evidence.ContainsAny(u.Mount.Point, layers...)
		if !ours && (len(layers) > 0 && knownLayer(pl.View, name) || len(names) > 1) {
			continue // it belongs to another container, or cannot be told apart
		}
		if p, ok := pinnedBy(pl, u); ok {
			out = append(out, StrayRoot{p, "root", ours, saidBusy(pl, name)})
		}
	}
	return append(out, strayDirsOf(pl)...)
}

// strayDirsOf are directories of the pod's own Secrets, ConfigMaps and the like, of which the kubelet says that they are busy,
// and which only foreign namespaces still mount. Without its word such a copy is none: kernels since 3.18 remove
// the directory all the same (d_invalidate, detach_mounts in fs/namespace.c). (rancher/rancher issue 19850)
func strayDirsOf(pl *evidence.Place) []StrayRoot {
	var out []StrayRoot
	of := "/pods/" + string(pl.Pod.UID) + "/volumes/"
	for _, ns := range pl.View.Namespaces() {
		for _, m := range ns.Mounts {
			_, name, ours := strings.Cut(m.Point, of)
			if !ours || ns == pl.View.Init || ofKubelet(pl.View, ns) || pl.X.VolumeOfPath(pl.Node, hostSide(pl.View, m.Point)) != nil ||
				len(pl.View.MountsAt(hostSide(pl.View, m.Point))) > 0 {
				continue
			}
			said := saidBusy(pl, name)
			if !said.Yes() {
				continue
			}
			if p, ok := pinnedBy(pl, snapshot.Use{NS: ns, Mount: m}); ok {
				out = append(out, StrayRoot{p, "directory", true, said})
			}
		}
	}
	return out
}

// Said asks whether the runtime complains of exactly this directory.
func (r StrayRoot) Said() evidence.Answer { return r.said }

// Ceiling is how far it carries: one that nothing ties to the pod is only possible.
func (r StrayRoot) Ceiling() report.Certainty {
	if r.ours {
		return ""
	}
	return report.Possible
}

// strayRoots are mounts of container roots in foreign namespaces that process 1 does not
// have, except each container's own root.
func strayRoots(view *snapshot.NodeView) []snapshot.Use {
	mounted, running := map[string]bool{}, map[probes.Dev]bool{}
	for _, m := range view.Init.Mounts {
		mounted[m.Point] = true
	}
	for _, ns := range view.Facts.Namespaces {
		for _, m := range ns.Mounts {
			running[m.Dev] = running[m.Dev] || m.Point == "/"
		}
	}
	var out []snapshot.Use
	for _, ns := range view.Namespaces() {
		if ns == view.Init {
			continue
		}
		for _, m := range ns.Mounts {
			if containerRoot(m.Point) && !mounted[m.Point] && !running[m.Dev] && !prefixed(m.Point, mounted) {
				out = append(out, snapshot.Use{NS: ns, Mount: m})
			}
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

// containerRoot recognises where runtimes mount the root of a container: overlay2 and
// devicemapper of docker, containerd's bundles, CRI-O's storage.
func containerRoot(point string) bool {
	return strings.HasSuffix(point, "/merged") && strings.Contains(point, "/overlay") ||
		strings.HasSuffix(point, "/rootfs") && strings.Contains(point, "/io.containerd.") ||
		strings.Contains(point, "/devicemapper/mnt/") || strings.Contains(point, "/docker/aufs/mnt/") ||
		strings.HasSuffix(point, "/shm") && (strings.Contains(point, "/containers/") || strings.Contains(point, "/sandboxes/"))
}

// rootName is the directory that names the container or its layer.
func rootName(point string) string {
	for _, s := range strings.Split(point, "/") {
		if len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" {
			return s
		}
	}
	return ""
}

// layersOf are the directory names of the pod's ended containers: their ids, and with
// docker the layer that the image store maps each to
// (image/<driver>/layerdb/mounts/<id>/mount-id).
func layersOf(view *snapshot.NodeView, pod *corev1.Pod) []string {
	out := pods.EndedContainers(pod)
	for _, id := range slices.Clone(out) {
		for name, file := range view.Facts.Files {
			if strings.HasSuffix(name, "/layerdb/mounts/"+id+"/mount-id") {
				out = append(out, strings.TrimSpace(file.Content))
			}
		}
	}
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

// saidBusy finds a word of the runtime or kubelet about exactly this directory.
func saidBusy(pl *evidence.Place, name string) evidence.Answer {
	return evidence.Any(evidence.Texts(Said(pl.X, pl.Pod)).Say(func(t evidence.Text) bool {
		return name != "" && t.Source == "event" && t.Fresh && strings.Contains(t.Raw, name) && strings.Contains(strings.ToLower(t.Raw), "busy")
	}), evidence.Unseen(evidence.Lack{Need: "the runtime's own error about the directory of a container of pod " + pods.Name(pl.Pod), Node: pl.Node, Why: "no fresh event has it"}))
}
