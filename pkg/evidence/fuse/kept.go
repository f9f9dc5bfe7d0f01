package fuse

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Kept is a running pod whose container has a FUSE mount that the node has no more: the driver mounted the
// volume anew at the pod's path, and without mountPropagation a container keeps what it got at its start.
type Kept struct {
	Pod   *corev1.Pod
	Mount probes.Mount
	Is    evidence.Answer
}

// Name is the pod's.
func (k Kept) Name() string { return k.Pod.Namespace + "/" + k.Pod.Name }

// Answers is never seen: nobody asks a mount inside a container whether the process behind it still lives.
func (k Kept) Answers(node string) evidence.Answer {
	return evidence.Unseen(evidence.Lack{Need: "node/" + node + "/" + string(probes.Contents), Node: node, Why: "the mount at " + k.Mount.Point + " in the container of pod " + k.Name() + " was not asked"})
}

// Kept are those pods.
func (f Mounts) Kept() []Kept {
	var out []Kept
	if f.pl.View == nil || f.pl.View.Init == nil || f.pl.Volume == nil {
		return nil
	}
	for _, c := range f.pl.Volume.LiveConsumersOn(f.pl.Node) {
		now := evidence.Last(f.All, func(m snapshot.VolumeMount) bool {
			return m.Path.Kind == snapshot.Publish && snapshot.SameUID(m.Path.PodUID, string(c.Pod.UID))
		})
		if now == nil || c.Pod.Status.Phase != corev1.PodRunning {
			continue
		}
		for _, ns := range f.pl.View.NamespacesOfPod(string(c.Pod.UID)) {
			if m := f.inside(c, ns); m != nil {
				out = append(out, Kept{c.Pod, *m, evidence.Yes(evidence.FromMount(f.pl.Node, ns, *m), evidence.FromMount(f.pl.Node, nil, now.Mount))})
				break
			}
		}
	}
	return out
}

// inside is the mount that covers the volume's place in a container, when it is a FUSE mount and none that the node
// has, be it of another volume, which another container has at that place. What a container mounts by itself over
// the present one is its own.
func (f Mounts) inside(c *snapshot.Consumer, ns *probes.MountNamespace) *probes.Mount {
	places := map[string]bool{}
	for _, k := range c.Pod.Spec.Containers {
		for _, vm := range k.VolumeMounts {
			places[vm.MountPath] = places[vm.MountPath] || vm.Name == c.Volume && vm.SubPath == "" && vm.SubPathExpr == ""
		}
	}
	for i, m := range ns.Mounts {
		over := slices.ContainsFunc(ns.Mounts[i+1:], func(o probes.Mount) bool { return o.Point == m.Point })
		known := slices.ContainsFunc(f.pl.View.Init.Mounts, func(o probes.Mount) bool { return o.Dev == m.Dev })
		own := slices.ContainsFunc(ns.Mounts[:i], func(o probes.Mount) bool {
			return o.Point == m.Point && slices.ContainsFunc(f.All, func(v snapshot.VolumeMount) bool { return v.Mount.Dev == o.Dev })
		})
		if places[m.Point] && is(m.FSType) && !over && !known && !own {
			return &ns.Mounts[i]
		}
	}
	return nil
}
