package content

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// candidate tells whether a disk of a cloud or a hypervisor can be a volume that is to be mounted: nobody
// uses it. None is where somebody already waits for a disk: such a device may keep a read for ever, and
// a thread that waits for it keeps the agent.
func (n *node) candidate(d *probes.BlockDevice) bool {
	if n.hangs || d.Sectors == 0 || d.Partition != 0 || !n.presented(d, 8) {
		return false
	}
	parted := slices.ContainsFunc(n.f.Block, func(p probes.BlockDevice) bool { return p.Parent == d.Name && p.Name != d.Name })
	return !parted && !n.inUse[d.Dev] && !n.open[d.Dev] && !n.alive[d.Dev] && len(d.Holders) == 0
}

// Vendors of SCSI disks, and parts of models of NVMe disks, that clouds and hypervisors
// present as volumes; a local disk of the same machine is called otherwise.
var (
	cloudVendors = []string{"Google", "Msft", "VMware", "QEMU", "ORACLE", "DO", "HC", "SCW", "Linode"}
	cloudModels  = []string{"Elastic Block Store", "Elastic Block Storage", "nvme_card-pd", "MSFT NVMe Accelerator"}
)

// presented tells whether a disk, or all that a mapper lies on, is of a cloud or a hypervisor. A multipath
// map is none: without a path that works it may keep a read for ever, whatever its paths say of themselves.
func (n *node) presented(d *probes.BlockDevice, depth int) bool {
	parent := n.at[d.Parent]
	switch {
	case depth == 0 || n.system[d.Name]:
		return false
	case d.DM != nil:
		return !strings.HasPrefix(d.DM.UUID, "mpath-") && len(d.Slaves) > 0 && !slices.ContainsFunc(d.Slaves, func(s string) bool {
			return n.at[s] == nil || !n.presented(n.at[s], depth-1)
		})
	case parent != nil:
		return n.presented(parent, depth-1)
	case strings.HasPrefix(d.Name, "nvme"):
		return slices.ContainsFunc(cloudModels, func(m string) bool { return strings.Contains(d.Model, m) })
	}
	return strings.HasPrefix(d.Name, "vd") || strings.HasPrefix(d.Name, "xvd") || slices.Contains(cloudVendors, strings.TrimSpace(d.Vendor))
}
