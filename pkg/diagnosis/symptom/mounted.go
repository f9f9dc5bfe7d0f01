package symptom

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// mounted is a mount of a volume on a probed node: below the kubelet's directory,
// or (Longhorn RWX) that of the share-manager.
type mounted struct {
	view  *snapshot.NodeView
	mount probes.Mount
	ns    *probes.MountNamespace
}

// mounts lists the mounts of a volume on the nodes of the question.
func mounts(p *diagnosis.Pass, v *snapshot.Volume) []mounted {
	var out []mounted
	for _, view := range p.Views() {
		node := view.Name
		for _, m := range p.VolumeMounts(v, node) {
			out = append(out, mounted{view: view, mount: m.Mount, ns: m.NS})
		}
		if !v.RegularRWX() {
			continue
		}
		if d, ok := p.DeviceOn(v, node); ok {
			for _, n := range d.Numbers() {
				for _, u := range view.ForeignUses(n) {
					if shared(v, []snapshot.Use{u}) {
						out = append(out, mounted{view: view, mount: u.Mount, ns: u.NS})
					}
				}
			}
		}
	}
	return out
}

// names are the kernel names under which a mount's device appears in the kernel
// log: its own, those of the disks below it, and that of a superblock that
// outlived its disk.
func (m mounted) names() []string {
	var out []string
	if b := m.view.Device(m.mount.Dev); b != nil {
		out = append(out, b.Name)
	}
	for _, b := range m.view.Leaves(m.mount.Dev) {
		if !slices.Contains(out, b.Name) {
			out = append(out, b.Name)
		}
	}
	if s := m.view.Superblock(m.mount.Dev); s != nil && !slices.Contains(out, s.KName) {
		out = append(out, s.KName)
	}
	return out
}

// lines are the kernel's lines of some kinds about a mount's device, later than
// the last attach of a disk of that name: letters are reused.
func (m mounted) lines(kinds ...string) []probes.KernelLine {
	var out []probes.KernelLine
	for _, n := range m.names() {
		var since int64 = -1
		for _, l := range m.view.KernelLines("scsi-attached", "rbd-mapped") {
			if slices.Contains(l.Names, n) {
				since = max(since, l.Micros)
			}
		}
		later := func(l probes.KernelLine) bool { return slices.Contains(l.Names, n) && l.Micros > since }
		out = append(out, evidence.Keep(m.view.KernelLines(kinds...), later)...)
	}
	return out
}

// anew tells whether the kernel mounted the device once more after a line: what it said then
// was of the mount before.
func (m mounted) anew(l probes.KernelLine) bool {
	return slices.ContainsFunc(m.view.KernelLines(kmsg.Mounted), func(later probes.KernelLine) bool {
		return later.Micros > l.Micros && slices.ContainsFunc(later.Names, func(n string) bool { return slices.Contains(m.names(), n) })
	})
}

// used tells whether a running pod uses the volume on the node.
func used(v *snapshot.Volume, node string) bool {
	return slices.ContainsFunc(v.Live(), func(c *snapshot.Consumer) bool {
		return c.Pod.Status.Phase == corev1.PodRunning && (c.Node() == node || v.RegularRWX())
	})
}

// onMount starts a symptom about one mount.
func onMount(v *snapshot.Volume, m mounted, message string) *diagnosis.Symptom {
	s := onVolume(v, message)
	s.At(m.view.Name)
	if !m.mount.Dev.Anonymous() {
		s.Device(m.view.Name, m.mount.Dev)
	}
	return s
}
