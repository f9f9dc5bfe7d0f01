package kubelet

import (
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Sight is what a plugin sees of the paths that kubelet hands over: they have to name one
// directory for both, or what the plugin mounts stays where kubelet cannot see it.
type Sight struct {
	pl     *evidence.Place
	plugin *corev1.Pod
	volume *snapshot.Volume
	root   string
}

// SightOf is the sight of a plugin's pod; ok is false while kubelet's directory was not
// read on the node.
func SightOf(pl *evidence.Place, v *snapshot.Volume, plugin *corev1.Pod) (Sight, bool) {
	view := pl.X.View(pl.Node)
	if !known(pl.X, view) {
		return Sight{}, false
	}
	return Sight{pl, plugin, v, path.Clean(view.Facts.Kubelet.Root)}, true
}

// Root is the kubelet's directory, as kubelet writes it.
func (s Sight) Root() string { return s.root }

// handed are the directories below which the paths lie that kubelet hands to a plugin.
func (s Sight) handed() []string {
	return []string{s.root + "/pods", s.root + "/plugins/kubernetes.io/csi"}
}

// Unnamed asks whether no container of the plugin has the kubelet's paths: a link on the
// host makes the sockets meet and changes nothing about the names inside.
func (s Sight) Unnamed() evidence.Answer { return s.lacks("none is "+s.root, s.handed()...) }

// Misses tells what a plugin without some path of a kubelet lacks: "part", where it has others of them, or "mounts", all.
func Misses(plugin *corev1.Pod, root string) string {
	if (Sight{plugin: plugin, root: path.Clean(root)}).Unnamed().No() {
		return "part"
	}
	return "mounts"
}

// lacks asks whether no container of the plugin has any of some paths.
func (s Sight) lacks(so string, paths ...string) evidence.Answer {
	var mounts []string
	for _, c := range s.plugin.Spec.Containers {
		for _, m := range c.VolumeMounts {
			p := path.Clean(m.MountPath)
			if slices.ContainsFunc(paths, func(h string) bool { return probes.Within(h, p) }) {
				return evidence.No()
			}
			mounts = append(mounts, p)
		}
	}
	if len(mounts) == 0 {
		return evidence.No() // not one that could serve anybody: its object was cut
	}
	slices.Sort(mounts)
	return evidence.Yes(evidence.FromPod(s.plugin, "volumeMounts", strings.Join(slices.Compact(mounts), " ")+": "+so))
}

// absent are the words for a path that is not there.
var absent = []string{"no such file or directory", "does not exist", "not found"}

// Missed asks whether a fresh text says that a path below the kubelet's directory is not
// there, while the kubelet's directory on the host has it and no container of the plugin does: some are given the directory of the
// pods and not that of staged volumes, or its form before 1.24 alone (ThinkParQ/beegfs-csi-driver issue 14); or that the driver could not make a directory above
// the kubelet's, which is there: its own root takes no writes. (Dynatrace/dynatrace-operator issue 1049)
func (s Sight) Missed() evidence.Answer {
	for _, t := range s.pl.Refused() {
		if before, _, ok := strings.Cut(t.Raw, ": read-only file system"); ok && madeBy(before, s.root) {
			return evidence.All(s.Unnamed(), evidence.Yes(t.Evidence(), evidence.FromNode(s.pl.Node, locator(s.pl.X.View(s.pl.Node)), s.root)))
		}
		for _, w := range absent {
			before, _, ok := strings.Cut(t.Raw, w)
			p := lastPath(before)
			if ok && slices.ContainsFunc(s.handed(), func(h string) bool { return probes.Within(p, h) && h != p }) {
				return evidence.All(evidence.Yes(t.Evidence()), s.onHost(p), s.lacks("none holds "+p, p))
			}
		}
	}
	return evidence.No()
}

// madeBy tells whether a text ends with a mkdir of a directory above another.
func madeBy(text, dir string) bool {
	p := lastPath(text)
	return p != "" && strings.HasSuffix(text, "mkdir "+p) && probes.Within(dir, p)
}

// lastPath is the last path of a text: that of which the words behind it speak.
func lastPath(text string) string {
	for _, w := range slices.Backward(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n\r\"'`,;()", r) })) {
		if strings.HasPrefix(w, "/") {
			return strings.TrimRight(w, ":.")
		}
	}
	return ""
}

// onHost asks whether the recording of the kubelet's directory shows a path, or what
// belongs to the pod or the volume of it.
func (s Sight) onHost(p string) evidence.Answer {
	k := s.pl.X.View(s.pl.Node).Facts.Kubelet
	for _, g := range k.Globals {
		if probes.Within(p, path.Dir(g)) {
			return evidence.Yes(evidence.FromNode(s.pl.Node, strings.TrimPrefix(g, "/"), "is there"))
		}
	}
	for _, d := range k.PodDirs {
		if strings.HasPrefix(p, s.root+"/pods/"+d.UID) {
			return evidence.Yes(evidence.FromNode(s.pl.Node, strings.TrimPrefix(s.root+"/pods/"+d.UID, "/"), "is there"))
		}
	}
	return evidence.Unseen(evidence.Lack{Need: "node/" + s.pl.Node + "/" + string(probes.KubeletDirs), Node: s.pl.Node, Why: "whether " + p + " is there on the host was not recorded"})
}

// tables are the mount tables of the plugin's processes.
func (s Sight) tables() []*probes.MountNamespace {
	view := s.pl.X.View(s.pl.Node)
	return evidence.Keep(view.NamespacesOfPod(string(s.plugin.UID)), func(n *probes.MountNamespace) bool { return n != view.Init })
}

// over is the mount of a table that a path lies on, besides one at the path itself.
func over(list []probes.Mount, p string) *probes.Mount {
	var best *probes.Mount
	for i := range list {
		if m := &list[i]; probes.Within(p, m.Point) && m.Point != p && (best == nil || len(m.Point) >= len(best.Point)) {
			best = m
		}
	}
	return best
}

// place is a directory's identity: its filesystem and the way to it there.
func place(m *probes.Mount, p string) string {
	return m.Dev.String() + " " + path.Join(m.Root, strings.TrimPrefix(p, m.Point))
}

// Astray finds the volume in the plugin's own table at exactly the path that kubelet uses,
// in another directory than the host's, and nothing there in the host's table.
func (s Sight) Astray() evidence.Answer {
	view := s.pl.X.View(s.pl.Node)
	if view.Init == nil {
		return evidence.Unseen(s.pl.Tables(probes.Mounts).Lacks()...)
	}
	for _, n := range s.tables() {
		for _, m := range n.Mounts {
			if !s.path(m.Point) || m.Shared != 0 || len(view.MountsAt(m.Point)) > 0 {
				continue
			}
			inside, host := over(n.Mounts, m.Point), view.Containing(s.real(m.Point))
			if inside == nil || host == nil || place(inside, m.Point) == place(host, s.real(m.Point)) {
				continue
			}
			return evidence.All(
				evidence.Yes(evidence.FromMount(s.pl.Node, n, m),
					evidence.FromMount(s.pl.Node, n, *inside)),
				s.pl.Tables(probes.Mounts).Nothing(evidence.FromNode(s.pl.Node, "proc/1/mountinfo", "nothing at "+m.Point)))
		}
	}
	return evidence.No()
}

// path tells whether a path is one of the volume's below the kubelet's directory.
func (s Sight) path(p string) bool {
	v, ok := snapshot.ParseVolumePath(s.root, p)
	if !ok {
		return false
	}
	if v.Kind == snapshot.Staging && v.HandleHash != "" {
		return v.HandleHash == fmt.Sprintf("%x", sha256.Sum256([]byte(s.volume.Handle)))
	}
	return s.volume.Named(v)
}

// real is a path of the kubelet without the link that its directory may be.
func (s Sight) real(p string) string {
	if r := s.pl.X.View(s.pl.Node).Facts.Kubelet.RealRoot; r != "" {
		return path.Clean(r) + strings.TrimPrefix(p, s.root)
	}
	return p
}

// Elsewhere asks whether a mount of the plugin's container covers the directory of the
// pods, and shows another directory than the host's of that name.
func (s Sight) Elsewhere() evidence.Answer {
	view := s.pl.X.View(s.pl.Node)
	pods := s.root + "/pods"
	host := view.Containing(s.real(pods))
	for _, n := range s.tables() {
		inside := over(n.Mounts, pods+"/x")
		if inside == nil || host == nil || inside.Point == "/" {
			continue // its own root filesystem: its mounts are not recorded, or Unnamed says it
		}
		if place(inside, pods) != place(host, s.real(pods)) {
			return evidence.Yes(evidence.FromMount(s.pl.Node, n, *inside),
				evidence.FromMount(s.pl.Node, nil, *host))
		}
		return evidence.No()
	}
	return evidence.No()
}

// Fails asks whether the driver's mounts fail: a fresh refusal of a mount.
func (s Sight) Fails() evidence.Answer {
	return s.pl.Refused().Say(func(t evidence.Text) bool { return t.MountEvent() && !t.Ordinary })
}
