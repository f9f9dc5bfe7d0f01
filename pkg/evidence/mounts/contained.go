package mounts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Contained is a kubelet with a mount namespace of its own, in a container.
type Contained struct {
	pl   *evidence.Place
	Proc *probes.Process
	ns   *probes.MountNamespace
}

// ContainedOf finds the kubelet of the place's node when it runs in a container: another
// mount namespace, whose table was read, and a container's control group.
func ContainedOf(pl *evidence.Place) (Contained, bool) {
	view := pl.View
	if view == nil || view.Init == nil {
		return Contained{}, false
	}
	id, proc := view.Facts.Kubelet.MntNS, view.Process(view.Facts.Kubelet.PID)
	if id == 0 || id == view.Init.ID || proc == nil || !inContainer(proc) {
		return Contained{}, false
	}
	ns := evidence.First(view.Namespaces(), func(ns *probes.MountNamespace) bool { return ns.ID == id && ns.TablePID != 0 })
	return Contained{pl, proc, ns}, ns != nil
}

func inContainer(proc *probes.Process) bool {
	return proc.ContainerID != "" || slices.ContainsFunc([]string{"docker", "libpod", "crio-", "cri-containerd", "kubepods", "machine.slice", "snap.", "rkt", "podruntime"}, func(word string) bool {
		return strings.Contains(proc.Cgroup, word)
	})
}

// Doubled is a volume that the kubelet's own table shows twice.
type Doubled struct {
	Host          probes.Mount // as process 1 has it
	Plain, Second *probes.Mount
	Is            evidence.Answer
}

// Doubled finds the volume's staging mount of a living device in the kubelet's table twice:
// at the host's path and at the same path below a prefix such as /rootfs. The kubelet
// counts references there, and the count never becomes one (kubernetes/kubernetes#32336).
// As long as a pod has the volume mounted that is normal.
func (k Contained) Doubled() (Doubled, bool) {
	list := k.pl.X.VolumeMounts(k.pl.Volume, k.pl.Node)
	if k.pl.Volume.Block() || slices.ContainsFunc(list, func(m snapshot.VolumeMount) bool {
		return m.Path.Kind == snapshot.Publish || m.Path.Kind == snapshot.SubPath
	}) {
		return Doubled{}, false
	}
	for _, m := range list {
		if m.Path.Kind != snapshot.Staging || k.pl.View.Dead(m.Mount.Dev) {
			continue
		}
		d := Doubled{Host: m.Mount}
		for i := range k.ns.Mounts {
			switch o := &k.ns.Mounts[i]; {
			case o.Dev != m.Mount.Dev:
			case o.Point == m.Mount.Point:
				d.Plain = o
			case strings.HasSuffix(o.Point, m.Mount.Point):
				d.Second = o
			}
		}
		if d.Plain != nil && d.Second != nil {
			d.Is = evidence.Yes(evidence.FromMount(k.pl.Node, k.ns, *d.Plain), evidence.FromMount(k.pl.Node, k.ns, *d.Second), evidence.FromMount(k.pl.Node, k.pl.View.Init, m.Mount),
				evidence.FromNode(k.pl.Node, fmt.Sprintf("proc/%d/cgroup", k.Proc.PID), k.Proc.Cgroup))
			return d, true
		}
	}
	return Doubled{}, false
}

// missing is what the kubelet says of a path that it does not see. What a driver's plugin or
// the runtime says (a gRPC error, a bind into a container) is about another namespace.
var missing = pattern.MustCompile(`path "(/[^"\s]+)" does not exist|hostPath type check failed: (/\S+) is not an? |failed to get hostpath type: stat (/[^"\s:]+)|\bstat (/[^"\s:]+): no such file or directory`)

// Hidden asks whether the kubelet's container does not have a path that the host has and
// that a fresh text about the place's pod calls missing: no bind in its table covers it.
func (k Contained) Hidden() (path string, a evidence.Answer) {
	for _, t := range Said(k.pl.X, k.pl.Pod) {
		if !t.Fresh || strings.Contains(t.Raw, "rpc error") || strings.Contains(t.Raw, "to rootfs") {
			continue
		}
		m := missing.FindStringSubmatch(t.Raw)
		if m == nil {
			continue
		}
		if at := strings.Join(m[1:], ""); k.onHost(at) && !k.bound(at) && !k.inRoot(at) {
			return at, evidence.Yes(t.Evidence(),
				evidence.FromNode(k.pl.Node, fmt.Sprintf("proc/%d/mountinfo", k.Proc.PID), "no mount at or above "+at+" besides the container's root"),
				evidence.FromNode(k.pl.Node, fmt.Sprintf("proc/%d/cgroup", k.Proc.PID), k.Proc.Cgroup))
		}
	}
	return "", evidence.No()
}

// onHost tells whether the recording shows the path on the host.
func (k Contained) onHost(at string) bool {
	view, name := k.pl.View, strings.TrimPrefix(at, "/")
	if f, ok := view.Facts.Files[name]; ok && f.Err == "" {
		return true
	}
	_, ok := view.NumberAt(at)
	return ok || len(view.MountsAt(at)) > 0 || view.HasBelow(name)
}

// bound tells whether a bind from the host covers the path in the container: the nearest
// mount above it is another one than the container's own root.
func (k Contained) bound(at string) bool {
	best := ""
	for _, m := range k.ns.Mounts {
		if probes.Within(at, m.Point) && len(m.Point) > len(best) {
			best = m.Point
		}
	}
	return best != "" && best != "/"
}

// inRoot tells whether the kubelet's root was recorded and has the path.
func (k Contained) inRoot(at string) bool {
	f, ok := k.pl.View.Facts.Files[fmt.Sprintf("proc/%d/root%s", k.Proc.PID, at)]
	return ok && f.Err == ""
}
