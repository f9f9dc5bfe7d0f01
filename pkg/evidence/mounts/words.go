package mounts

import (
	"fmt"
	"path"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// tag is the propagation of a mount as mountinfo writes it.
func tag(m probes.Mount) string {
	switch {
	case m.Shared != 0:
		return fmt.Sprintf("shared:%d", m.Shared)
	case m.Master != 0:
		return fmt.Sprintf("master:%d", m.Master)
	}
	return "no propagation tag, so it is a private copy"
}

// Title is the kernel's name of a device with its number, "sdc (8:32)".
func Title(view *snapshot.NodeView, dev probes.Dev) string {
	b := view.Device(dev)
	if b == nil {
		return dev.String()
	}
	if b.DM != nil && b.DM.Name != "" {
		return fmt.Sprintf("%s (%s, %s)", b.Name, b.DM.Name, dev)
	}
	return fmt.Sprintf("%s (%s)", b.Name, dev)
}

// onRoot tells whether a device is the one that holds the kubelet's directory.
func onRoot(view *snapshot.NodeView, dev probes.Dev) bool {
	m := view.Containing(view.KubeletRoot())
	return m != nil && m.Dev == dev
}

// Bound is the path at which the node shows the directory that is mounted at m: its root is a path of
// the filesystem, which may have a mount point of its own, such as /var (proc_pid_mountinfo(5)).
func Bound(view *snapshot.NodeView, m *probes.Mount) string {
	root, at := "", m.Root
	for _, o := range view.Init.Mounts {
		if o.Dev == m.Dev && o.Root != m.Root && len(o.Root) > len(root) && probes.Within(m.Root, o.Root) {
			root, at = o.Root, path.Join(o.Point, strings.TrimPrefix(m.Root, o.Root))
		}
	}
	return at
}

// ofKubelet tells whether a namespace is that of a kubelet in a container: what it mounts
// counts like what the host mounts.
func ofKubelet(view *snapshot.NodeView, ns *probes.MountNamespace) bool {
	return ns.ID != 0 && ns.ID == view.Facts.Kubelet.MntNS
}
