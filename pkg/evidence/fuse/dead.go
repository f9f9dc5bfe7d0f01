// Package fuse answers questions about filesystems in user space: whether the process that
// is one is still there, and which pod carried it.
package fuse

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// is tells whether a type is one of a process; "fuseblk" has a disk below.
func is(fstype string) bool { return fstype == "fuse" || strings.HasPrefix(fstype, "fuse.") }

// Mounts are the FUSE mounts of one volume on one node, below the kubelet's directory.
type Mounts struct {
	pl   *evidence.Place
	All  []snapshot.VolumeMount
	Dead []snapshot.VolumeMount // those that answer ENOTCONN
	open []snapshot.VolumeMount // those of which nobody asked
}

// MountsOf are the mounts of the place's volume. Of a place that is a pod, they are those
// of volumes that stand in its own spec; of a place that is a node, those of no volume that
// the API knows.
func MountsOf(pl *evidence.Place) Mounts {
	out := Mounts{pl: pl}
	if pl.View == nil {
		return out
	}
	for _, m := range slices.Concat(pl.VolumePaths(), below(pl)) {
		if !is(m.Mount.FSType) {
			continue
		}
		out.All = append(out.All, m)
		switch st, asked := pl.View.Statfs(m.Mount.Point); {
		case !asked:
			out.open = append(out.open, m)
		case st.Err == "ENOTCONN":
			out.Dead = append(out.Dead, m)
		}
	}
	return out
}

// below are the mounts on which paths of the host lie that the runtime could not use for a container of the place's pod.
func below(pl *evidence.Place) []snapshot.VolumeMount {
	if pl.Pod == nil || pl.View.Init == nil {
		return nil
	}
	var out []snapshot.VolumeMount
	for _, b := range pods.BadMounts(pl) {
		m := pl.View.Containing(b.HostPath)
		if b.HostPath != "" && m != nil && !slices.ContainsFunc(out, func(o snapshot.VolumeMount) bool { return o.Mount.Point == m.Point }) {
			out = append(out, snapshot.VolumeMount{Use: snapshot.Use{NS: pl.View.Init, Mount: *m}, Path: snapshot.VolumePath{PodUID: string(pl.Pod.UID), Volume: b.Volume}})
		}
	}
	return out
}

// OnHost tells whether a mount is none of a volume, but one that somebody made at a path of the host.
func OnHost(m snapshot.VolumeMount) bool { return m.Path.Kind == "" }

// Gone asks whether the process behind the volume's mount is dead: the kernel then answers
// ENOTCONN for ever (fuse_abort_conn in fs/fuse/dev.c).
func (f Mounts) Gone() evidence.Answer {
	if r := f.pl.Probed(); !r.Complete() {
		return evidence.Unseen(r.Lacks()...)
	}
	if len(f.Dead) == 0 {
		if len(f.open) == 0 {
			return evidence.No()
		}
		return evidence.Unseen(evidence.Lack{Need: "node/" + f.pl.Node + "/" + string(probes.Contents), Node: f.pl.Node, Why: "the mount at " + f.open[0].Mount.Point + " was not asked"})
	}
	var facts []report.Evidence
	for _, m := range f.Dead {
		facts = append(facts, evidence.FromMount(f.pl.Node, nil, m.Mount), evidence.FromNode(f.pl.Node, "@statfs"+m.Mount.Point, "ENOTCONN"))
	}
	return evidence.Yes(facts...)
}

// Pods are those whose own path of the volume is dead, one that waits first. Only the
// staged mount is dead: those that wait for it.
func (f Mounts) Pods() []*corev1.Pod {
	out := evidence.PodsOf(f.pl.X, f.Dead)
	if f.pl.Volume != nil && len(f.Dead) > 0 {
		for _, c := range f.pl.Volume.WaitingOn(f.pl.Node) {
			out = evidence.Once(out, c.Pod)
		}
	}
	pending := func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodPending }
	return slices.Concat(evidence.Keep(out, pending), evidence.Keep(out, func(p *corev1.Pod) bool { return !pending(p) }))
}

// Staged tells whether nothing but staged mounts are dead.
func (f Mounts) Staged() bool {
	return !slices.ContainsFunc(f.Dead, func(m snapshot.VolumeMount) bool { return m.Path.PodUID != "" })
}

// Words name the dead mounts and whose they are, at most three.
func (f Mounts) Words() string {
	return evidence.Few(f.Dead, 3, func(m snapshot.VolumeMount) string { return m.Mount.Point + " of " + pods.WhoseMount(f.pl.X, m) })
}

// Said asks whether the driver, kubelet or application complains freshly of an endpoint
// that is not connected, about this volume. Other sockets say the same: it is a hint only
// with a path of the volume in it.
func Said(pl *evidence.Place) (said, named evidence.Answer) {
	if pl.Volume == nil {
		return evidence.No(), evidence.No()
	}
	said, named = evidence.No(), evidence.No()
	for _, t := range pl.Felt() {
		if !t.Is(message.NotConnected) {
			continue
		}
		said = evidence.Yes(t.Evidence())
		if slices.ContainsFunc(names(pl), func(n string) bool { return inPath(t.Raw, n) }) || inPath(t.Raw, pl.Volume.CSIHandle()) || strings.Contains(t.Raw, "/globalmount") || pods.Inside(pl.Volume, t) {
			return said, said
		}
	}
	return said, named
}

// names are those of the kubelet for the volume.
func names(pl *evidence.Place) []string {
	return evidence.Each(pl.Volume.Consumers, pl.Volume.SpecName)
}

// inPath tells whether a text has a path with an element of a name.
func inPath(text, name string) bool {
	_, after, found := strings.Cut(text, "/"+name)
	return found && name != "" && (after == "" || strings.Contains("/:,; '\"\n", after[:1]))
}
