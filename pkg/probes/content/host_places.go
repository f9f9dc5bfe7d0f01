package content

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

func (n *node) kubeletRoot() string {
	if root := strings.TrimSuffix(n.f.Kubelet.Root, "/"); root != "" {
		return root
	}
	return "/var/lib/kubelet"
}

// hostPlaces are the filesystems of the machine itself that volumes need room on: the
// one below the kubelet's root, and Longhorn's default disk where it has one of its
// own. Only those on a block device that answers are asked.
func (n *node) hostPlaces() []place {
	var list []place
	for _, path := range []string{n.kubeletRoot(), "/var/lib/longhorn"} {
		m := n.containing(path)
		if m == nil || path == "/var/lib/longhorn" && m.Point != path {
			continue
		}
		if d := n.byDev[m.Dev]; d != nil && n.answers(d) {
			list = append(list, place{strings.TrimPrefix(path, "/"), m.Dev})
		}
	}
	return list
}

// containing is the mount of process 1 that a path lies on.
func (n *node) containing(path string) *probes.Mount {
	var best *probes.Mount
	for _, ns := range n.f.Namespaces {
		if ns.ID != n.f.Identity.InitMntNS {
			continue
		}
		for i := range ns.Mounts {
			m := &ns.Mounts[i]
			if probes.Within(path, m.Point) && (best == nil || len(m.Point) >= len(best.Point)) {
				best = m
			}
		}
	}
	return best
}
