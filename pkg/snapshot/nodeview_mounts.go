package snapshot

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"

// Uses returns the mounts of a device in all namespaces, init's first.
func (n *NodeView) Uses(dev probes.Dev) []Use { return nil }

// InitUses returns the mounts of a device in the namespace of process 1.
func (n *NodeView) InitUses(dev probes.Dev) []Use { return nil }

// ForeignUses returns the mounts of a device in other namespaces.
func (n *NodeView) ForeignUses(dev probes.Dev) []Use { return nil }

// AllNamespacesRead tells whether every known mount namespace has a table.
func (n *NodeView) AllNamespacesRead() bool { return false }

// Unread returns the namespaces that are known and have no table.
func (n *NodeView) Unread() []uint64 { return nil }

// MountsAt returns the mounts at a point in init's namespace, topmost last.
func (n *NodeView) MountsAt(point string) []probes.Mount { return nil }

// Containing returns the mount of init's namespace that a path lies on, or nil.
func (n *NodeView) Containing(path string) *probes.Mount { return nil }

// Under returns init's mounts at or below a prefix.
func (n *NodeView) Under(prefix string) []Use { return nil }
