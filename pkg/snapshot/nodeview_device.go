package snapshot

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// Device returns the block device with a number, or nil.
func (n *NodeView) Device(dev probes.Dev) *probes.BlockDevice {
	if n == nil {
		return nil
	}
	return n.blocks[dev]
}

// ByName returns the block device of a kernel name, or nil.
func (n *NodeView) ByName(name string) *probes.BlockDevice {
	if n == nil {
		return nil
	}
	return n.names[name]
}

// Dead tells whether all block devices were read, each with its number, and none has this one. Anonymous
// numbers (NFS, overlay, btrfs) have no entry in sysfs and are never dead.
func (n *NodeView) Dead(dev probes.Dev) bool {
	return n.AllDisks() && len(n.blocks) > 0 && !dev.Anonymous() && n.blocks[dev] == nil
}

// AllDisks tells whether the list of block devices was read to its end, each with its number.
func (n *NodeView) AllDisks() bool { return n != nil && !n.unlisted && len(n.refused) == 0 }

// Gone tells whether the block devices were read and none has this kernel name.
func (n *NodeView) Gone(name string) bool {
	return n != nil && !n.unlisted && !n.refused[name] && n.names[name] == nil
}

// Superblock returns the live superblock of a device, or nil. It is known by the
// kernel name at mount time, so a name that was given to another disk since
// answers for that one; see fs/ext4/sysfs.c and fs/xfs/xfs_super.c.
func (n *NodeView) Superblock(dev probes.Dev) *probes.Superblock {
	b := n.Device(dev)
	if b == nil {
		return nil
	}
	return n.SuperblockOf(b.Name)
}

// SuperblockOf returns the live superblock under a kernel name, whether the
// device still exists or not.
func (n *NodeView) SuperblockOf(name string) *probes.Superblock {
	if n == nil {
		return nil
	}
	for i := range n.Facts.Superblocks {
		if n.Facts.Superblocks[i].KName == name {
			return &n.Facts.Superblocks[i]
		}
	}
	return nil
}

// Swap returns the swap line of a device, or nil.
func (n *NodeView) Swap(dev probes.Dev) *probes.Swap {
	if n == nil || dev.IsZero() {
		return nil
	}
	b := n.Device(dev)
	for i := range n.Facts.Swaps {
		s := &n.Facts.Swaps[i]
		if s.Dev == dev || (s.Dev.IsZero() && b != nil && s.Path == "/dev/"+b.Name) {
			return s
		}
	}
	return nil
}

// NodesOf returns the block device nodes of a device below /dev.
func (n *NodeView) NodesOf(dev probes.Dev) []probes.DeviceNode {
	if n == nil {
		return nil
	}
	var out []probes.DeviceNode
	for _, d := range n.Facts.DeviceNodes {
		if d.Dev == dev && !d.Char {
			out = append(out, d)
		}
	}
	return out
}

// DeviceNode returns the device node at a path, or nil.
func (n *NodeView) DeviceNode(path string) *probes.DeviceNode {
	if n == nil {
		return nil
	}
	for i := range n.Facts.DeviceNodes {
		if n.Facts.DeviceNodes[i].Path == path {
			return &n.Facts.DeviceNodes[i]
		}
	}
	return nil
}

// DevLink returns the link below /dev at a path, or nil.
func (n *NodeView) DevLink(path string) *probes.DevLink {
	if n == nil {
		return nil
	}
	for i := range n.Facts.DevLinks {
		if n.Facts.DevLinks[i].Path == path {
			return &n.Facts.DevLinks[i]
		}
	}
	return nil
}

// NumberAt is the device number that a path below /dev leads to, through a
// device node, a link, or the kernel's own name.
func (n *NodeView) NumberAt(path string) (probes.Dev, bool) {
	if d := n.DeviceNode(path); d != nil && !d.Char {
		return d.Dev, true
	}
	if l := n.DevLink(path); l != nil {
		if !l.Dev.IsZero() {
			return l.Dev, true
		}
		if b := n.ByName(l.Target[strings.LastIndex(l.Target, "/")+1:]); b != nil {
			return b.Dev, true
		}
		return probes.Dev{}, false
	}
	if name, ok := strings.CutPrefix(path, "/dev/"); ok {
		if b := n.ByName(name); b != nil {
			return b.Dev, true
		}
	}
	return probes.Dev{}, false
}

// Session returns the iSCSI session of a target, or nil. Of several, one that is
// logged in comes first.
func (n *NodeView) Session(target string) *probes.ISCSISession {
	all := n.SessionsOf(target)
	for _, s := range all {
		if s.State == "LOGGED_IN" {
			return s
		}
	}
	if len(all) > 0 {
		return all[0]
	}
	return nil
}

// SessionsOf returns every iSCSI session of a target, one per portal.
func (n *NodeView) SessionsOf(target string) []*probes.ISCSISession {
	if n == nil || target == "" {
		return nil
	}
	var out []*probes.ISCSISession
	for i := range n.Facts.ISCSI.Sessions {
		if n.Facts.ISCSI.Sessions[i].Target == target {
			out = append(out, &n.Facts.ISCSI.Sessions[i])
		}
	}
	return out
}

// SessionOfDisk returns the iSCSI session of a disk, or nil.
func (n *NodeView) SessionOfDisk(name string) *probes.ISCSISession {
	if n == nil {
		return nil
	}
	for i := range n.Facts.ISCSI.Sessions {
		if slices.Contains(n.Facts.ISCSI.Sessions[i].Disks, name) {
			return &n.Facts.ISCSI.Sessions[i]
		}
	}
	return nil
}
