package snapshot

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// findInit points to the namespace of process 1.
func (n *NodeView) findInit() {
	id := n.Facts.Identity.InitMntNS
	for _, ns := range n.Namespaces() {
		if ns.TablePID == 0 {
			continue
		}
		if (id != 0 && ns.ID == id) || slices.Contains(ns.PIDs, 1) {
			n.Init = ns
			return
		}
	}
}

func (n *NodeView) indexUses() {
	n.uses = map[probes.Dev][]Use{}
	collect := func(ns *probes.MountNamespace, init bool) {
		for _, m := range ns.Mounts {
			for _, dev := range n.mountedDevices(m) {
				n.uses[dev] = append(n.uses[dev], Use{NS: ns, Mount: m, Init: init})
			}
		}
	}
	if n.Init != nil {
		collect(n.Init, true)
	}
	for _, ns := range n.Namespaces() {
		if ns != n.Init {
			collect(ns, false)
		}
	}
}

// mountedDevices are the numbers that a mount line stands for: its own, and for
// btrfs, whose number is anonymous, the disk that its source names.
func (n *NodeView) mountedDevices(m probes.Mount) []probes.Dev {
	if m.Dev.IsZero() {
		return nil
	}
	if !m.Dev.Anonymous() || m.FSType != "btrfs" {
		return []probes.Dev{m.Dev}
	}
	out := []probes.Dev{m.Dev}
	if dev, ok := n.NumberAt(m.Source); ok {
		out = append(out, n.btrfsDevices(dev)...)
	}
	return out
}

// btrfsDevices are all devices of the filesystem that one device belongs to, by
// sys/fs/btrfs/<uuid>/devices.
func (n *NodeView) btrfsDevices(dev probes.Dev) []probes.Dev {
	out := []probes.Dev{dev}
	b := n.Device(dev)
	if b == nil {
		return out
	}
	dir := ""
	for _, s := range n.Facts.Superblocks {
		if s.FSType == "btrfs" && s.KName == b.Name {
			dir = s.Locator
		}
	}
	if dir == "" {
		return out
	}
	dir = btrfsDir(dir)
	for _, s := range n.Facts.Superblocks {
		if s.FSType != "btrfs" || s.KName == b.Name || btrfsDir(s.Locator) != dir {
			continue
		}
		if other := n.ByName(s.KName); other != nil {
			out = append(out, other.Dev)
		}
	}
	return out
}

// btrfsDir cuts a locator down to sys/fs/btrfs/<uuid>.
func btrfsDir(locator string) string {
	parts := strings.Split(strings.Trim(locator, "/"), "/")
	if len(parts) > 4 {
		parts = parts[:4]
	}
	return strings.Join(parts, "/")
}

// Uses returns the mounts of a device in all namespaces, init's first.
func (n *NodeView) Uses(dev probes.Dev) []Use {
	if n == nil || dev.IsZero() {
		return nil
	}
	return n.uses[dev]
}

// InitUses returns the mounts of a device in the namespace of process 1.
func (n *NodeView) InitUses(dev probes.Dev) []Use { return n.usesWhere(dev, true) }

// ForeignUses returns the mounts of a device in other namespaces.
func (n *NodeView) ForeignUses(dev probes.Dev) []Use { return n.usesWhere(dev, false) }

func (n *NodeView) usesWhere(dev probes.Dev, init bool) []Use {
	var out []Use
	for _, u := range n.Uses(dev) {
		if u.Init == init {
			out = append(out, u)
		}
	}
	return out
}

// AllNamespacesRead tells whether every known mount namespace has a table.
func (n *NodeView) AllNamespacesRead() bool {
	return n != nil && n.Init != nil && n.Unread() == 0 && n.Completeness(probes.Mounts).Complete()
}

// Unread counts the mount namespaces that are known and have no table: those of
// processes, those kept alive by a bind mount or a descriptor, and the unknown one of
// each process whose namespace could not be told.
func (n *NodeView) Unread() int {
	if n == nil {
		return 0
	}
	read, unread := map[uint64]bool{}, map[uint64]bool{}
	unknown := 0
	for _, ns := range n.Facts.Namespaces {
		switch {
		case ns.TablePID != 0:
			read[ns.ID] = true
		case ns.ID == 0:
			unknown++
		default:
			unread[ns.ID] = true
		}
	}
	for _, p := range n.Facts.Processes {
		if p.MntNS != 0 && !p.Kthread {
			unread[p.MntNS] = true
		}
	}
	for _, r := range n.Facts.NSRefs {
		unread[r.ID] = true
	}
	for id := range unread {
		if !read[id] && id != 0 {
			unknown++
		}
	}
	return unknown
}

// MountsAt returns the mounts at a point in init's namespace, topmost last.
func (n *NodeView) MountsAt(point string) []probes.Mount {
	if n == nil || n.Init == nil {
		return nil
	}
	var out []probes.Mount
	for _, m := range n.Init.Mounts {
		if m.Point == point {
			out = append(out, m)
		}
	}
	return out
}

// Containing returns the mount of init's namespace that a path lies on, or nil:
// the longest mount point above it, of several there the last one.
func (n *NodeView) Containing(path string) *probes.Mount {
	if n == nil || n.Init == nil {
		return nil
	}
	var best *probes.Mount
	path = n.Resolved(path)
	for i := range n.Init.Mounts {
		m := &n.Init.Mounts[i]
		if probes.Within(path, m.Point) && (best == nil || len(m.Point) >= len(best.Point)) {
			best = m
		}
	}
	return best
}

// Under returns init's mounts at or below a prefix.
func (n *NodeView) Under(prefix string) []Use {
	if n == nil || n.Init == nil {
		return nil
	}
	var out []Use
	prefix = n.Resolved(prefix)
	for _, m := range n.Init.Mounts {
		if probes.Within(m.Point, prefix) {
			out = append(out, Use{NS: n.Init, Mount: m, Init: true})
		}
	}
	return out
}
