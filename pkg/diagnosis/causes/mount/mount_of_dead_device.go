package mount

import (
	_ "embed"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/mounts"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed mount_of_dead_device.md
var mountOfDeadDeviceDoc string

// MountOfDeadDevice finds mounts of devices that are gone or were replaced.
var MountOfDeadDevice = &diagnosis.Rule{
	Name: "mount-of-dead-device", Layer: diagnosis.Mount, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("mountns"), diagnosis.Probe("blockdev")},
	Explains: []string{"volume-io-error", "volume-readonly", "mount-failed", "mount-busy", "unmount-blocked", "pod-stuck-terminating", "pod-waiting-for-volume", "detach-stuck", "multi-attach-error"},
	LeadsTo:  []string{"filesystem-readonly-after-error", "block-volume-unmap-stuck", "xfs-uuid-duplicate", "filesystem-needs-fsck", "subpath-bind-stale"},
	Offers:   []string{"delete-pod", "unmount-lazy"},
	Doc:      mountOfDeadDeviceDoc,
	Run:      mountOfDeadDevice,
}

func mountOfDeadDevice(p *diagnosis.Pass) {
	for _, v := range p.Volumes() {
		for _, node := range nodesOf(p, v) {
			if !asked(p, node) {
				continue
			}
			view := p.View(node)
			if view == nil || view.Init == nil {
				if len(v.LiveConsumersOn(node)) > 0 && p.Suffers(v, "volume-io-error", "volume-readonly", "mount-failed", "pod-stuck-terminating") {
					p.Probed(node)
				}
				deadUnseen(p, v, node)
				continue
			}
			for _, g := range append(deadMounts(p, v, view), onDiskOf(p, v, view)...) {
				reportDead(p, g)
			}
			deadNamesake(p, v, view)
		}
	}
	if p.Sweep() {
		for _, node := range p.Nodes() {
			if view := p.View(node); view != nil {
				deadStrays(p, view)
			}
		}
	}
}

// dead is a group of mounts of one number, with why the number is not the volume's.
type dead struct {
	volume *snapshot.Volume // nil: the path belongs to no volume that the API knows
	victim *snapshot.Volume // the one whose disk it is now and that was asked about
	view   *snapshot.NodeView
	dev    probes.Dev
	mounts []snapshot.VolumeMount
	now    *snapshot.VolumeDevice // where the volume is now
	reason string
	reused bool   // the number belongs to a disk of somebody else now
	alive  bool   // the disk still answers: it is not the volume any more
	unsure string // what was not read and would confirm it
	facts  []report.Evidence
}

// deadMounts groups the volume's mounts on a node by number and keeps those whose
// device is not, or not any more, the volume's.
func deadMounts(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView) []dead {
	var out []dead
	now, known := p.DeviceOn(v, view.Name)
	for _, m := range p.VolumeMounts(v, view.Name) {
		if m.Mount.Dev.Anonymous() || m.Path.Kind != snapshot.Staging && m.Path.Kind != snapshot.Publish && m.Path.Kind != snapshot.SubPath {
			continue
		}
		i := slices.IndexFunc(out, func(d dead) bool { return d.dev == m.Mount.Dev })
		if i < 0 {
			d := dead{volume: v, view: view, dev: m.Mount.Dev}
			if known && !slices.Contains(now.Numbers(), m.Mount.Dev) {
				d.now = &now
			}
			if !d.judge(p, m) {
				continue
			}
			out, i = append(out, d), len(out)
		}
		out[i].mounts = append(out[i].mounts, m)
	}
	return append(out, deadInside(p, v, view, out)...)
}

// deadInside finds running pods of the volume whose containers still mount a gone
// device while the host's mounts were made anew: a container keeps what it got at
// its start. The volume is known by the source, or is the pod's only one.
func deadInside(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, known []dead) []dead {
	var out []dead
	for _, c := range v.LiveConsumersOn(view.Name) {
		for _, ns := range namespacesOf(view, string(c.Pod.UID)) {
			for _, m := range ns.Mounts {
				has := func(d dead) bool { return d.dev == m.Dev }
				own := v.IsLonghorn() && m.Source == "/dev/longhorn/"+v.Handle || len(p.VolumesOfPod(c.Pod)) == 1
				if !own || !view.Dead(m.Dev) || !strings.HasPrefix(m.Source, "/dev/") || slices.ContainsFunc(known, has) || slices.ContainsFunc(out, has) {
					continue
				}
				d := dead{volume: v, view: view, dev: m.Dev}
				if now, ok := p.DeviceOn(v, view.Name); ok {
					d.now = &now
				}
				inside := snapshot.VolumeMount{Use: snapshot.Use{NS: ns, Mount: m}, Path: snapshot.VolumePath{Kind: snapshot.Publish, PodUID: string(c.Pod.UID), PV: v.PVName()}}
				if d.judge(p, inside) {
					d.mounts = []snapshot.VolumeMount{inside}
					out = append(out, d)
				}
			}
		}
	}
	return out
}

// namespacesOf are the mount namespaces of a pod's processes besides the host's.
func namespacesOf(view *snapshot.NodeView, uid string) []*probes.MountNamespace {
	var out []*probes.MountNamespace
	for _, proc := range view.ProcessesOfPod(uid) {
		for i := range view.Facts.Namespaces {
			ns := &view.Facts.Namespaces[i]
			if ns.ID == proc.MntNS && ns.ID != 0 && ns != view.Init && !slices.Contains(out, ns) {
				out = append(out, ns)
			}
		}
	}
	return out
}

// judge tells whether a mount's device is gone, offline or replaced.
func (d *dead) judge(p *diagnosis.Pass, m snapshot.VolumeMount) bool {
	b := d.view.Device(d.dev)
	switch {
	case d.view.Dead(d.dev):
		d.reason = "the kernel has no block device with this number any more"
		d.facts = append(d.facts, diagnosis.FromNode(d.view.Name, "sys/class/block/*/dev", "no entry "+d.dev.String()))
		return true
	case b == nil || mounts.OnRoot(d.view, d.dev):
		return false // nothing is known of it, or the node's own disk: mount-missing-under-pod
	case hollow(d.view, b):
		d.reason = "every disk below it is gone or offline"
		d.facts = append(d.facts, diagnosis.FromNode(d.view.Name, "sys/class/block/"+b.Name+"/slaves", strings.Join(b.Slaves, " ")))
		return !pathsBack(d.view, b)
	case pathless(d.view, b):
		d.reason = "it is a multipath map without any path, and no disk with its WWID is left"
		d.facts = append(d.facts, diagnosis.FromNode(d.view.Name, "sys/class/block/"+b.Name+"/slaves", "(empty)"))
		return !pathsBack(d.view, b)
	case bareMapper(d, b):
		st, _ := d.view.Statfs(m.Mount.Point)
		d.reason = "nothing lies below the mapper any more"
		d.facts = append(d.facts, diagnosis.FromNode(d.view.Name, "sys/class/block/"+b.Name+"/slaves", "(empty)"))
		return st.Err == "EIO" || strings.HasPrefix(b.DM.UUID, "CRYPT-") && d.now != nil && d.now.Proven && d.now.Block != nil
	case offline(b):
		st, _ := d.view.Statfs(m.Mount.Point)
		d.reason = "the kernel has taken the disk offline (" + b.State + ")"
		if st.Err == "EIO" {
			d.reason += ", and the mount answers EIO"
		}
		d.facts = append(d.facts, diagnosis.FromNode(d.view.Name, "sys/class/block/"+b.Name+"/device/state", b.State))
		// Without either the session may come back under it: iscsi-session-lost.
		return st.Err == "EIO" || d.now != nil && d.now.Proven && d.now.Block != nil && !d.view.Rests(d.dev, d.now.Dev)
	case d.now != nil && d.now.Proven && d.now.Block != nil, foreignHere(p, d):
		return d.replaced(p, b)
	}
	return false
}

// foreignHere tells whether another volume that is attached to the node has this
// number by its identity: also a volume whose own disk is gone can have lost it so.
func foreignHere(p *diagnosis.Pass, d *dead) bool {
	o := ownerOf(p, d)
	return o != nil && (o.AttachmentOn(d.view.Name) != nil || p.ReportedInUse(d.view.Name, o) || len(o.LiveConsumersOn(d.view.Name)) > 0)
}

// bareMapper is a dm-crypt mapping or a logical volume without a disk below: a living
// one always has one.
func bareMapper(d *dead, b *probes.BlockDevice) bool {
	return b.DM != nil && (strings.HasPrefix(b.DM.UUID, "CRYPT-") || strings.HasPrefix(b.DM.UUID, "LVM-")) && len(b.Slaves) == 0 && len(d.view.Leaves(b.Dev)) == 1 && d.view.Leaves(b.Dev)[0].Dev == b.Dev
}

// replaced judges a mount of a living disk while the volume is another one. A mount
// that was made before one of the two disks appeared is a dead one; one that was
// made later has the wrong disk, which is another fault.
func (d *dead) replaced(p *diagnosis.Pass, b *probes.BlockDevice) bool {
	known := d.now != nil && d.now.Proven && d.now.Block != nil
	if known && (d.view.Rests(d.dev, d.now.Dev) || d.view.Rests(d.now.Dev, d.dev)) {
		return false // a map, mapper or partition of the volume's own disk
	}
	d.alive = true
	owner := ownerOf(p, d)
	began, sure := mountedBefore(p, d)
	came, now := appeared(p, d.view, b.Name, owner), time.Time{}
	if known {
		now = appeared(p, d.view, d.now.Block.Name, d.volume)
	}
	switch {
	case began.IsZero():
		return false
	case came.After(began):
		d.reused = true
		d.reason = "that number was given to another disk after the mount was made" + ofVolume(owner)
	case now.After(began):
		d.reason = "the volume is another disk now, which appeared after the mount was made"
	case known && owner == nil && !logReaches(d.view, began):
		d.reason = "the volume is another disk now"
		d.unsure = "when that disk appeared (the kernel log does not tell): after the mount, or before it"
		return true
	default:
		return false
	}
	d.facts = append(d.facts, kernelFacts(d.view, began, came, now)...)
	if d.victim != nil {
		if o, ok := p.DeviceOn(d.victim, d.view.Name); ok {
			d.facts = append(d.facts, diagnosis.FromNode(d.view.Name, o.Locator, o.How+", volume "+volumeName(d.victim)))
		}
	}
	if !sure {
		d.unsure = "when the mount was made (its pod has restarted containers)"
	}
	return true
}

// ownerOf is the other volume whose proven disk has the number now, or nil.
func ownerOf(p *diagnosis.Pass, d *dead) *snapshot.Volume {
	for _, v := range p.Index.Volumes {
		if o, ok := p.DeviceOn(v, d.view.Name); ok && v != d.volume && o.Proven && o.Dev == d.dev {
			return v
		}
	}
	return nil
}

func ofVolume(v *snapshot.Volume) string {
	if v == nil {
		return ""
	}
	return ", the one of volume " + volumeName(v)
}

// podsOf are the pods whose paths are mounted, and the live consumers on the node.
func (d *dead) podsOf(p *diagnosis.Pass) []*corev1.Pod {
	var out []*corev1.Pod
	for _, m := range d.mounts {
		if pod := p.PodByUID(m.Path.PodUID); pod != nil && !slices.Contains(out, pod) {
			out = append(out, pod)
		}
	}
	if d.volume == nil {
		return out
	}
	for _, c := range d.volume.LiveConsumersOn(d.view.Name) {
		if !slices.Contains(out, c.Pod) {
			out = append(out, c.Pod)
		}
	}
	return out
}
