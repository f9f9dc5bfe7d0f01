package attach

import (
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// mismatch is two different kubelet roots: the plugin's and the kubelet's own.
type mismatch struct {
	Plugin, Root string
	Seen         bool   // the kubelet's root was read on the node
	How          string // where it was read
	Evidence     []report.Evidence
}

// rootMismatch compares the root that a plugin pod is made for with that of the
// kubelet on its node. It prefers what was read on the node to what other plugins use.
func rootMismatch(p *diagnosis.Pass, u *driverUse, plugin *corev1.Pod) (mismatch, bool) {
	root, ev := pluginRoot(plugin, u.Driver)
	if root == "" {
		return mismatch{}, false
	}
	m := mismatch{Plugin: root, Evidence: []report.Evidence{ev}}
	if view := p.View(u.Node); rootSeen(view) {
		k := view.Facts.Kubelet
		if sameRoot(view, root) || serves(view, u.Driver) {
			return mismatch{}, false
		}
		m.Root, m.Seen, m.How = k.Root, true, "read on the node: "+k.RootFrom
		m.Evidence = append(m.Evidence, diagnosis.FromNode(u.Node, rootLocator(view), k.Root))
		return m, true
	}
	other, evidence := rootOfOthers(p, u)
	m.How = "as other drivers do that are registered there"
	if other == "" {
		other, evidence = rootOnOtherNodes(p, u, root)
		m.How = "as on another node of the same plugin, which was looked at"
	}
	if other == "" || other == root {
		return mismatch{}, false
	}
	m.Root = other
	m.Evidence = append(m.Evidence, evidence)
	return m, true
}

// rootSeen tells whether a recording shows the kubelet's root, not only its default.
func rootSeen(view *snapshot.NodeView) bool {
	return view != nil && view.Facts.Kubelet.Root != "" && view.Facts.Kubelet.RootFrom != "default"
}

// pluginRoot takes the kubelet root out of a plugin pod: the registrar's argument,
// else the host paths that end in one of the kubelet's own directories.
func pluginRoot(pod *corev1.Pod, driver string) (string, report.Evidence) {
	for _, c := range pod.Spec.Containers {
		args := append(append([]string{}, c.Command...), c.Args...)
		for i, a := range args {
			name, v, joined := strings.Cut(a, "=")
			if strings.TrimLeft(name, "-") != "kubelet-registration-path" {
				continue
			}
			if !joined && i+1 < len(args) {
				v = args[i+1]
			}
			// A variable of the environment is not recorded: then the paths tell.
			if root, _, ok := strings.Cut(v, "/plugins/"); ok && path.IsAbs(root) && !strings.Contains(root, "$") {
				return path.Clean(root), diagnosis.FromAPI("Pod "+podName(pod), "container "+c.Name+" args", a)
			}
		}
	}
	for _, suffix := range []string{"/plugins/" + driver, "/plugins_registry", "/plugins/kubernetes.io/csi", "/pods"} {
		for _, v := range pod.Spec.Volumes {
			if v.HostPath == nil {
				continue
			}
			if root, ok := strings.CutSuffix(path.Clean(v.HostPath.Path), suffix); ok && root != "" {
				return root, diagnosis.FromAPI("Pod "+podName(pod), "volume "+v.Name+" hostPath", v.HostPath.Path)
			}
		}
	}
	return "", report.Evidence{}
}

// sameRoot tells whether a path is the kubelet's root, also through symbolic links.
func sameRoot(view *snapshot.NodeView, root string) bool {
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

// serves tells whether the driver's sockets are below the kubelet's own root: then
// the two directories meet, whatever their names.
func serves(view *snapshot.NodeView, driver string) bool {
	return slices.ContainsFunc(view.Facts.Kubelet.Registry, func(s string) bool { return strings.Contains(path.Base(s), driver) })
}

func rootLocator(view *snapshot.NodeView) string {
	k := view.Facts.Kubelet
	if k.PID > 0 && strings.Contains(k.RootFrom, "root-dir") {
		return fmt.Sprintf("proc/%d/cmdline", k.PID)
	}
	if k.RootFrom == "mounts" {
		return "proc/1/mountinfo"
	}
	return strings.TrimPrefix(k.Root, "/")
}

// rootOfOthers is the root that the plugins of other drivers use which are
// registered on the same node; empty when they disagree or there are none.
func rootOfOthers(p *diagnosis.Pass, u *driverUse) (string, report.Evidence) {
	c := p.CSINode(u.Node)
	if c == nil {
		return "", report.Evidence{}
	}
	var found string
	var evidence report.Evidence
	for _, d := range c.Spec.Drivers {
		pod := p.DriverPodOn(d.Name, u.Node)
		if d.Name == u.Driver || pod == nil {
			continue
		}
		root, ev := pluginRoot(pod, d.Name)
		switch {
		case root == "":
		case found == "":
			found, evidence = root, ev
		case found != root:
			return "", report.Evidence{}
		}
	}
	return found, evidence
}

// rootOnOtherNodes is the kubelet's root on a probed node where the same plugin, set
// up alike, does not meet its kubelet; nodes of one cluster are usually made alike.
func rootOnOtherNodes(p *diagnosis.Pass, u *driverUse, root string) (string, report.Evidence) {
	for _, n := range p.Cluster.Nodes {
		view, plugin := p.View(n.Name), p.DriverPodOn(u.Driver, n.Name)
		if !rootSeen(view) || plugin == nil || n.Name == u.Node {
			continue
		}
		other := &driverUse{Driver: u.Driver, Node: n.Name}
		if r := registered(p, n.Name, u.Driver); !r.Known || r.Registered {
			continue
		}
		if m, ok := rootMismatch(p, other, plugin); ok && m.Seen && m.Plugin == root {
			return m.Root, m.Evidence[len(m.Evidence)-1]
		}
	}
	return "", report.Evidence{}
}
