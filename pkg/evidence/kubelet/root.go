// Package kubelet answers questions about the directory in which kubelet and the plugins
// of drivers have to meet.
package kubelet

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Roots are the directory for which a plugin is set up and that of the kubelet beside it.
type Roots struct {
	Plugin  string          // empty: the plugin does not say
	Kubelet string          // empty: not known
	How     string          // where kubelet's was read, in words
	Differ  evidence.Answer // whether they are two
	Seen    evidence.Answer // whether kubelet's was read on the node itself
}

// Other asks whether a plugin that serves does so under a directory that is not the kubelet's. That
// nothing contradicts it does not exclude it, as long as kubelet's was not read on the node.
func (r Roots) Other() evidence.Answer {
	if !r.Seen.Yes() && !r.Differ.Yes() {
		return r.Seen
	}
	return r.Differ
}

// RootsOf compares the directory of a plugin's pod with that of the kubelet on its node.
// What was read on the node counts before what other plugins use.
func RootsOf(pl *evidence.Place, driver string, plugin *corev1.Pod) Roots {
	root, stated := pluginRoot(plugin, driver)
	out := Roots{Plugin: root, Seen: unseenRoot(pl.Node)}
	if root == "" {
		out.Differ = evidence.Unseen(evidence.Lack{Need: "the kubelet directory of pod " + plugin.Namespace + "/" + plugin.Name, Node: pl.Node, Why: "its arguments and paths do not tell"})
		return out
	}
	if view := pl.X.View(pl.Node); known(pl.X, view) {
		k := view.Facts.Kubelet
		read := evidence.FromNode(pl.Node, locator(view), k.Root)
		out.Kubelet, out.How, out.Seen = k.Root, "read on the node: "+k.RootFrom, evidence.Yes(read)
		out.Differ = evidence.When(!same(view, root), stated, read)
		return out
	}
	other, fact := ofOthers(pl.X, pl.Node, driver)
	out.How = "as other drivers do that are registered there"
	if other == "" {
		other, fact = onOtherNodes(pl, driver, root)
		out.How = "as on another node of the same plugin, which was looked at"
	}
	if out.Differ = out.Seen; other != "" {
		out.Kubelet, out.Differ = other, evidence.When(other != root, stated, fact)
	}
	return out
}

func unseenRoot(node string) evidence.Answer {
	return evidence.Unseen(evidence.Lack{Need: "node/" + node, Node: node, Why: "the root directory of its kubelet was not read"})
}

// known tells whether a recording shows the kubelet's root, not only its default. That a
// directory is there counts while the mounts were read, which would tell another one.
func known(x *snapshot.Index, view *snapshot.NodeView) bool {
	if view == nil || view.Facts.Kubelet.Root == "" {
		return false
	}
	from := view.Facts.Kubelet.RootFrom
	return from != "default" && (from != "directory" || node.Whole(x, view.Name, probes.Mounts).Complete())
}

// pluginRoot takes the root out of a plugin's pod: the registrar's argument, else the host
// paths that end in one of the kubelet's own directories.
func pluginRoot(pod *corev1.Pod, driver string) (string, report.Evidence) {
	name := "Pod " + pod.Namespace + "/" + pod.Name
	for _, c := range pod.Spec.Containers {
		args := slices.Concat(c.Command, c.Args)
		for i, a := range args {
			flag, v, joined := strings.Cut(a, "=")
			if strings.TrimLeft(flag, "-") != "kubelet-registration-path" {
				continue
			}
			if !joined && i+1 < len(args) {
				v = args[i+1]
			}
			// A variable of the environment is not recorded: then the paths tell.
			if root, _, ok := strings.Cut(v, "/plugins/"); ok && path.IsAbs(root) && !strings.Contains(root, "$") {
				return path.Clean(root), evidence.FromAPI(name, "container "+c.Name+" args", a)
			}
		}
	}
	for _, suffix := range []string{"/plugins/" + driver, "/plugins_registry", "/plugins/kubernetes.io/csi", "/pods"} {
		for _, v := range pod.Spec.Volumes {
			if v.HostPath == nil {
				continue
			}
			if root, ok := strings.CutSuffix(path.Clean(v.HostPath.Path), suffix); ok && root != "" {
				return root, evidence.FromAPI(name, "volume "+v.Name+" hostPath", v.HostPath.Path)
			}
		}
	}
	return "", report.Evidence{}
}

// same tells whether a path is the kubelet's root, also through symbolic links.
func same(view *snapshot.NodeView, root string) bool {
	k := view.Facts.Kubelet
	mine := []string{path.Clean(k.Root)}
	if k.RealRoot != "" {
		mine = append(mine, path.Clean(k.RealRoot))
	}
	return slices.Contains(mine, root) || slices.Contains(mine, resolve(view, root))
}

// resolve follows the recorded symbolic links of a path, component by component.
func resolve(view *snapshot.NodeView, p string) string {
	for range 8 {
		next := p
		for dir := p; dir != "/" && dir != "."; dir = path.Dir(dir) {
			f, ok := view.Facts.Files[strings.TrimPrefix(dir, "/")]
			if !ok || f.Kind != "link" {
				continue
			}
			target := f.Target
			if !path.IsAbs(target) {
				target = path.Join(path.Dir(dir), target)
			}
			next = path.Join(target, strings.TrimPrefix(p, dir))
			break
		}
		if next == p {
			break
		}
		p = next
	}
	return p
}

func locator(view *snapshot.NodeView) string {
	k := view.Facts.Kubelet
	switch {
	case k.PID > 0 && strings.Contains(k.RootFrom, "root-dir"):
		return fmt.Sprintf("proc/%d/cmdline", k.PID)
	case k.RootFrom == "mounts":
		return "proc/1/mountinfo"
	}
	return strings.TrimPrefix(k.Root, "/")
}

// ofOthers is the root that the plugins of other drivers use which are registered on the
// same node; empty when they disagree or there are none.
func ofOthers(x *snapshot.Index, node, driver string) (string, report.Evidence) {
	c := x.CSINode(node)
	if c == nil {
		return "", report.Evidence{}
	}
	var found string
	var fact report.Evidence
	for _, d := range c.Spec.Drivers {
		pod := x.DriverPodOn(d.Name, node)
		if d.Name == driver || pod == nil {
			continue
		}
		root, said := pluginRoot(pod, d.Name)
		switch {
		case root == "":
		case found == "":
			found, fact = root, said
		case found != root:
			return "", report.Evidence{}
		}
	}
	return found, fact
}

// onOtherNodes is the kubelet's root on a probed node where the same plugin, set up alike,
// does not meet its kubelet; the nodes of one cluster are usually made alike.
func onOtherNodes(pl *evidence.Place, driver, root string) (string, report.Evidence) {
	for _, n := range slices.Sorted(maps.Keys(pl.X.NodeViews)) {
		view, plugin := pl.X.View(n), pl.X.DriverPodOn(driver, n)
		if !known(pl.X, view) || plugin == nil || n == pl.Node || !csi.NotRegistered(pl, n, driver).Yes() {
			continue
		}
		if theirs, _ := pluginRoot(plugin, driver); theirs == root && !same(view, root) {
			return view.Facts.Kubelet.Root, evidence.FromNode(n, locator(view), view.Facts.Kubelet.Root)
		}
	}
	return "", report.Evidence{}
}
