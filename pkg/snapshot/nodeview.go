package snapshot

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"

// nodeLookups are the maps behind NodeView.
type nodeLookups struct{}

// Holder is a device above another one, with the way that leads there.
type Holder struct {
	Device *probes.BlockDevice
	Chain  []string // kernel names from the device to this holder
}

// Opener is a process with a descriptor on a device or on a file of its
// filesystem.
type Opener struct {
	Process    *probes.Process
	Descriptor probes.Descriptor
}

// View returns the view of a probed node, or nil.
func (x *Index) View(node string) *NodeView { return x.NodeViews[node] }

// Device returns the block device with a number, or nil.
func (n *NodeView) Device(dev probes.Dev) *probes.BlockDevice { return nil }

// ByName returns the block device of a kernel name, or nil.
func (n *NodeView) ByName(name string) *probes.BlockDevice { return nil }

// Dead tells whether block devices were read and none has this number.
func (n *NodeView) Dead(dev probes.Dev) bool { return false }

// HoldersOf returns the devices above a device, nearest first.
func (n *NodeView) HoldersOf(dev probes.Dev) []Holder { return nil }

// Leaves returns the bottom disks of a device.
func (n *NodeView) Leaves(dev probes.Dev) []*probes.BlockDevice { return nil }

// Superblock returns the live superblock of a device, or nil.
func (n *NodeView) Superblock(dev probes.Dev) *probes.Superblock { return nil }

// Swap returns the swap line of a device, or nil.
func (n *NodeView) Swap(dev probes.Dev) *probes.Swap { return nil }

// NodesOf returns the device nodes of a device below /dev.
func (n *NodeView) NodesOf(dev probes.Dev) []probes.DeviceNode { return nil }

// DeviceNode returns the device node at a path, or nil.
func (n *NodeView) DeviceNode(path string) *probes.DeviceNode { return nil }

// Session returns the iSCSI session of a target, or nil.
func (n *NodeView) Session(target string) *probes.ISCSISession { return nil }

// SessionOfDisk returns the iSCSI session of a disk, or nil.
func (n *NodeView) SessionOfDisk(name string) *probes.ISCSISession { return nil }

// KernelLines returns the kernel lines of some kinds; all without a kind.
func (n *NodeView) KernelLines(kinds ...string) []probes.KernelLine { return nil }

// KubeletRoot is the kubelet's root directory.
func (n *NodeView) KubeletRoot() string { return "/var/lib/kubelet" }

// Statfs returns what statfs(2) said of a path.
func (n *NodeView) Statfs(path string) (probes.FSStat, bool) { return probes.FSStat{}, false }
