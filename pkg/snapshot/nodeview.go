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
