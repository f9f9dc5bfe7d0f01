package snapshot

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// nodeLookups are the maps behind NodeView.
type nodeLookups struct {
	blocks    map[probes.Dev]*probes.BlockDevice
	names     map[string]*probes.BlockDevice
	uses      map[probes.Dev][]Use
	parents   map[string][]string // kernel name → names of the devices directly above
	processes map[int]*probes.Process
	allBlocks []*probes.BlockDevice
	allProcs  []*probes.Process
	allSpaces []*probes.MountNamespace
	root      string // of the kubelet
	realRoot  string
	refused   map[string]bool // kernel names of block devices whose numbers could not be read
	unlisted  bool            // the list of block devices was not read to its end
	paths     []VolumeMount   // init's mounts that are volume paths, in table order
}

// Holder is a device above another one, with the way that leads there.
type Holder struct {
	Device *probes.BlockDevice
	Chain  []string // kernel names from the device to this holder, both included
}

const defaultKubeletRoot = "/var/lib/kubelet"

func newNodeView(name string, facts *probes.Facts) *NodeView {
	n := &NodeView{Name: name, Facts: facts}
	n.blocks = make(map[probes.Dev]*probes.BlockDevice, len(facts.Block))
	n.names = make(map[string]*probes.BlockDevice, len(facts.Block))
	n.allBlocks, n.allProcs, n.allSpaces = pointers(facts.Block), pointers(facts.Processes), pointers(facts.Namespaces)
	for _, b := range n.allBlocks {
		n.names[b.Name] = b
		if !b.Dev.IsZero() && n.blocks[b.Dev] == nil {
			n.blocks[b.Dev] = b
		}
	}
	n.refused = map[string]bool{}
	for _, p := range facts.Problems {
		at, ok := strings.CutPrefix(p.Path, "sys/class/block/")
		if at, _, _ = strings.Cut(at, "/"); ok && n.names[at] == nil {
			n.refused[at] = true
		}
	}
	n.unlisted = !facts.Completeness(probes.Block).Only(func(p probes.Problem) bool { return p.Path == "" }).Complete()
	n.processes = make(map[int]*probes.Process, len(facts.Processes))
	for _, p := range n.allProcs {
		n.processes[p.PID] = p
	}
	n.root = strings.TrimSuffix(facts.Kubelet.Root, "/")
	if n.root == "" {
		n.root = defaultKubeletRoot
	}
	n.realRoot = strings.TrimSuffix(facts.Kubelet.RealRoot, "/")
	n.findInit()
	n.indexUses()
	n.indexParents()
	n.indexPaths()
	return n
}

// pointers are those to the entries of a table, which are large.
func pointers[T any](list []T) []*T {
	out := make([]*T, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// Blocks are the block devices of the node.
func (n *NodeView) Blocks() []*probes.BlockDevice {
	if n == nil {
		return nil
	}
	return n.allBlocks
}

// Processes are those of the node.
func (n *NodeView) Processes() []*probes.Process {
	if n == nil {
		return nil
	}
	return n.allProcs
}

// Namespaces are the mount namespaces of the node.
func (n *NodeView) Namespaces() []*probes.MountNamespace {
	if n == nil {
		return nil
	}
	return n.allSpaces
}

// HasBelow tells whether the recording has a file below a directory.
func (n *NodeView) HasBelow(dir string) bool {
	dir = strings.Trim(dir, "/") + "/"
	for name := range n.Facts.Files {
		if strings.HasPrefix(name, dir) {
			return true
		}
	}
	return false
}

// View returns the view of a probed node, or nil.
func (x *Index) View(node string) *NodeView { return x.NodeViews[node] }

// mates are the other probed nodes of the same kernel (one boot id, as the nodes of kind
// or of k3d have): what /sys shows of a device on one of them may be another's doing.
func (x *Index) mates(n *NodeView) []*NodeView {
	var out []*NodeView
	for _, o := range x.NodeViews {
		if n != nil && o != n && n.Facts.Identity.BootID != "" && o.Facts.Identity.BootID == n.Facts.Identity.BootID {
			out = append(out, o)
		}
	}
	return out
}

// SharesKernel tells whether another probed node has the kernel of this one.
func (x *Index) SharesKernel(n *NodeView) bool { return len(x.mates(n)) > 0 }

// UnseenMate is a node that was not looked at and has the kernel of a probed one, by the boot
// id in its status; "" for none.
func (x *Index) UnseenMate(n *NodeView) string {
	for _, o := range x.Cluster.Nodes {
		if n != nil && n.Facts.Identity.BootID != "" && o.Name != n.Name && o.Status.NodeInfo.BootID == n.Facts.Identity.BootID && x.View(o.Name) == nil {
			return o.Name
		}
	}
	return ""
}

// MountedByMate tells whether another probed node of the same kernel mounts a device.
func (x *Index) MountedByMate(n *NodeView, dev probes.Dev) bool {
	return slices.ContainsFunc(x.mates(n), func(o *NodeView) bool { return len(o.Uses(dev)) > 0 })
}

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

// KernelLines returns the kernel lines of some kinds; all without a kind.
func (n *NodeView) KernelLines(kinds ...string) []probes.KernelLine {
	if n == nil {
		return nil
	}
	if len(kinds) == 0 {
		return n.Facts.Kernel
	}
	var out []probes.KernelLine
	for _, l := range n.Facts.Kernel {
		if slices.Contains(kinds, l.Kind) {
			out = append(out, l)
		}
	}
	return out
}

// Resolved is a path as mount tables show it: the kubelet's root directory may be configured by a
// symbolic link.
func (n *NodeView) Resolved(path string) string {
	if n.realRoot == "" || n.realRoot == n.root || !probes.Within(path, n.root) {
		return path
	}
	return n.realRoot + path[len(n.root):]
}

// KubeletRoot is the kubelet's root directory as it is configured.
func (n *NodeView) KubeletRoot() string {
	if n == nil {
		return defaultKubeletRoot
	}
	return n.root
}

// Statfs returns what statfs(2) said of a path.
func (n *NodeView) Statfs(path string) (probes.FSStat, bool) {
	if n == nil {
		return probes.FSStat{}, false
	}
	s, ok := n.Facts.Statfs[path]
	return s, ok
}
