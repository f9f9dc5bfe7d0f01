package disk

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// backstore asks whether a kernel target of the node (LIO, nvmet) exports the device: it
// has it open exclusively, and no process shows it. Path is what the target names.
func (t *Tower) backstore() (path string, a evidence.Answer) {
	view := t.pl.View
	for _, name := range slices.Sorted(maps.Keys(view.Facts.Files)) {
		if !strings.HasPrefix(name, "sys/kernel/config/target/core/") && !strings.HasPrefix(name, "sys/kernel/config/nvmet/") {
			continue
		}
		path := strings.TrimSpace(view.Facts.Files[name].Content)
		if dev, ok := view.NumberAt(path); ok && path != "" && slices.Contains(t.Numbers(), dev) {
			return path, evidence.Yes(evidence.FromNode(t.pl.Node, name, path))
		}
	}
	return "", evidence.No()
}

// swapOn asks whether the node swaps to the device: swap claims it, and mkfs says that it
// is mounted.
func (t *Tower) swapOn() (path string, a evidence.Answer) {
	w := t.pl.View.Swap(t.Device.Dev)
	if w == nil {
		return "", evidence.No()
	}
	return w.Path, evidence.Yes(evidence.FromNode(t.pl.Node, "proc/swaps", strings.TrimSpace(w.Path+" "+w.Type)))
}

// HostMount is a mount of the device that the host itself made, outside the kubelet's
// directory.
type HostMount struct {
	Dev     probes.Dev // what is mounted
	Subject probes.Dev // the disk that is held
	Point   string
	Entry   string // of /etc/fstab, or empty
	Is      evidence.Answer
	Alone   evidence.Answer // that no pod mounts there for the host
}

// mountedByHost finds such a mount, also of a partition of the device or of what lies above it.
func (t *Tower) mountedByHost() HostMount {
	view, own := t.pl.View, t.Numbers()
	numbers := slices.Clone(own)
	for _, part := range view.PartitionsOf(t.Device.Dev) {
		numbers = append(numbers, part.Dev)
	}
	for _, h := range t.Above {
		numbers = append(numbers, h.Device.Dev)
	}
	for _, dev := range numbers {
		for _, u := range view.InitUses(dev) {
			if t.ofPods(u.Mount.Point) {
				continue
			}
			out := HostMount{Dev: dev, Subject: dev, Point: u.Mount.Point, Entry: entryOf(view, u.Mount.Point), Is: evidence.Yes(evidence.FromNode(t.pl.Node, "proc/1/mountinfo", u.Mount.Raw)), Alone: evidence.Resource(t.pl.X, "/pods").Nothing()}
			if !slices.Contains(own, dev) {
				out.Subject = t.Device.Dev
			}
			return out
		}
	}
	return HostMount{Is: evidence.No()}
}

// ofPods tells whether a mount in init's namespace is the kubelet's, the container
// runtime's, or below a directory into which a pod of the node mounts for the host.
func (t *Tower) ofPods(point string) bool {
	below := func(dir string) bool {
		return point == dir || strings.HasPrefix(point, strings.TrimSuffix(dir, "/")+"/")
	}
	if slices.ContainsFunc([]string{t.pl.View.KubeletRoot(), "/run/containerd", "/var/lib/containerd", "/var/lib/docker", "/run/k3s", "/var/lib/rancher", "/run/user"}, below) {
		return true
	}
	if slices.ContainsFunc(t.pl.X.VolumeMounts(t.pl.Volume, t.pl.Node), func(m snapshot.VolumeMount) bool { return m.Mount.Point == point }) {
		return true // a local PV is mounted where it says
	}
	for _, pod := range t.pl.X.PodsOn(t.pl.Node) {
		if slices.ContainsFunc(pods.MountsInto(pod), below) {
			return true
		}
	}
	// Paths that contain a kubelet's layout below another root are the kubelet's, too.
	return strings.Contains(point, "/pods/") || strings.Contains(point, "/plugins/kubernetes.io/")
}

// entryOf is the line of /etc/fstab that asks for a mount point.
func entryOf(view *snapshot.NodeView, point string) string {
	for _, e := range view.Fstab() {
		if e.Point == point {
			return e.Line
		}
	}
	return ""
}

// Holder is a process that has the device, or something on its filesystem, open and is
// no user of the claim, nor one that comes and goes.
type Holder struct {
	snapshot.Opener
	Who       snapshot.Who
	Exclusive bool // with O_EXCL; the kernel does not show it in fdinfo for all openers
	facts     []report.Evidence
}

// Is asks whether it has it open.
func (h Holder) Is() evidence.Answer { return evidence.Yes(h.facts...) }

// ofDevice are the holders that have the device itself open.
func (t *Tower) ofDevice() []Holder {
	return evidence.Keep(t.holders(t.Device.Dev), func(h Holder) bool { return h.Descriptor.Device && !t.uses(h.Who) })
}

// blockingRelease are the holders that keep the volume from being let go: a file in a
// filesystem that init has mounted keeps umount from succeeding; a descriptor on the
// device itself keeps only mapper removal, logout and unmap from succeeding.
func (t *Tower) blockingRelease() []Holder {
	var out []Holder
	for _, dev := range t.Numbers() {
		for _, h := range t.holders(dev) {
			if t.uses(h.Who) && h.Process.PodUID != "" {
				continue
			}
			if h.Descriptor.Device && (len(t.pl.View.Uses(t.Device.Dev)) == 0 || t.Device.Mapper != nil) || !h.Descriptor.Device && len(t.pl.View.InitUses(h.Descriptor.Dev)) > 0 {
				out = append(out, h)
			}
		}
	}
	return out
}

func (t *Tower) uses(who snapshot.Who) bool {
	return t.pl.X.IsConsumerProcess(t.pl.Volume, t.pl.Node, who)
}

func (t *Tower) holders(dev probes.Dev) []Holder {
	const oExcl = 0o200
	var out []Holder
	for _, o := range t.pl.View.Openers(dev) {
		if Passing(t.pl.X, t.pl.Volume, t.pl.Node, o.Process) {
			continue
		}
		out = append(out, Holder{Opener: o, Who: t.pl.X.WhoIs(t.pl.View, o.Process), Exclusive: o.Descriptor.Flags&oExcl != 0, facts: []report.Evidence{
			evidence.FromNode(t.pl.Node, o.Descriptor.Path, o.Descriptor.Target),
			evidence.FromNode(t.pl.Node, fmt.Sprintf("proc/%d/cgroup", o.Process.PID), o.Process.Cgroup),
		}})
	}
	return out
}

// idle asks whether nothing besides an opener can have the device: nothing lies on it,
// mounts it, or is alive on it.
func (t *Tower) idle() bool {
	return len(t.Above) == 0 && len(t.pl.View.Uses(t.Device.Dev)) == 0 && t.pl.View.Superblock(t.Device.Dev) == nil
}

// Stranger is a container of a pod that the API does not know, whose own mount table has
// the volume: the pod was deleted by force, and its processes live on.
func (t *Tower) Stranger() (s Holder, point string, dev probes.Dev, ok bool) {
	view := t.pl.View
	for _, dev := range t.Numbers() {
		for _, u := range view.ForeignUses(dev) {
			for _, p := range view.ProcessesIn(u.NS.ID) {
				who := t.pl.X.WhoIs(view, p)
				published := slices.ContainsFunc(view.InitUses(dev), func(u snapshot.Use) bool { return strings.Contains(u.Mount.Point, "/pods/"+p.PodUID+"/") })
				if !who.Unknown() || !published {
					continue
				}
				return Holder{Opener: snapshot.Opener{Process: p}, Who: who, facts: []report.Evidence{
					evidence.FromNode(t.pl.Node, fmt.Sprintf("proc/%d/cgroup", p.PID), p.Cgroup),
					evidence.FromMount(t.pl.Node, u.NS, u.Mount),
				}}, u.Mount.Point, dev, true
			}
		}
	}
	return Holder{}, "", probes.Dev{}, false
}
