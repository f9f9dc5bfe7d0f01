package content

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// choose decides what a live node is asked. Contents are read of the disks that
// can be volumes and that answer; the claim is tried only on those of a network, where nothing else
// explains a device, because the open itself can make a mount of that instant
// fail; statfs is asked of volumes whose device is alive. A live superblock in no
// mount table is no explanation but what the claim has to prove, and it refuses
// the open before that can stand in anybody's way.
func choose(f *probes.Facts) questions {
	n := newNode(f)
	var q questions
	for i := range f.Block {
		d := &f.Block[i]
		network := n.volume(d)
		if !network && !n.candidate(d) || !n.answers(d) {
			continue
		}
		q.content = append(q.content, d.Dev)
		if network && len(d.Holders) == 0 && d.Partition == 0 && !n.used(d) {
			q.claim = append(q.claim, d.Dev)
		}
	}
	q.statfs = append(n.mountPoints(), n.hostPlaces()...)
	return q
}

// node indexes the facts that the choice needs.
type node struct {
	f       *probes.Facts
	at      map[string]*probes.BlockDevice
	byDev   map[probes.Dev]*probes.BlockDevice
	inUse   map[probes.Dev]bool // mounted, swapped on or under a loop
	open    map[probes.Dev]bool // something on it is open, or a tool works on it
	alive   map[probes.Dev]bool // its superblock is alive
	system  map[string]bool     // disks that carry the machine itself
	hangs   bool                // a tool that reads disks before they are mounted, or udev, waits for one
	session map[string]bool     // disks of iSCSI sessions
}

func newNode(f *probes.Facts) *node {
	n := &node{
		f: f, at: map[string]*probes.BlockDevice{}, byDev: map[probes.Dev]*probes.BlockDevice{},
		inUse: map[probes.Dev]bool{}, open: map[probes.Dev]bool{}, alive: map[probes.Dev]bool{},
		system: map[string]bool{}, session: map[string]bool{},
	}
	for i := range f.Block {
		n.at[f.Block[i].Name] = &f.Block[i]
		n.byDev[f.Block[i].Dev] = &f.Block[i]
	}
	for _, s := range f.ISCSI.Sessions {
		for _, d := range s.Disks {
			n.session[d] = true
		}
	}
	n.uses()
	return n
}

// uses notes what is mounted, swapped on, open, under a loop or alive as a
// superblock.
func (n *node) uses() {
	for _, ns := range n.f.Namespaces {
		for i := range ns.Mounts {
			m := &ns.Mounts[i]
			n.inUse[m.Dev] = true
			if ns.ID == n.f.Identity.InitMntNS && (m.Point == "/" || strings.HasPrefix(m.Point, "/boot") || m.Point == "/usr" || m.Point == "/var") {
				n.carries(m.Dev)
			}
		}
	}
	for _, s := range n.f.Swaps {
		n.inUse[s.Dev] = true
		n.carries(s.Dev)
	}
	for _, p := range n.f.Processes {
		n.hangs = n.hangs || p.State == "D" && (preparing(&p) || strings.Contains(p.Comm, "udev"))
		for _, o := range p.Open {
			n.open[o.Dev] = n.open[o.Dev] || !o.Device || preparing(&p)
		}
	}
	for _, sb := range n.f.Superblocks {
		if d := n.at[sb.KName]; d != nil {
			n.alive[d.Dev] = true
		}
	}
	for i := range n.f.Block {
		for _, node := range n.f.DeviceNodes {
			if n.f.Block[i].LoopFile == node.Path {
				n.inUse[node.Dev] = true
			}
		}
	}
}

// preparing tells the programs that run before a mount: one may come at any instant.
// They run on the host and in the pods of drivers, always as root. A pod that lends
// its name to one keeps only its own device from being tried.
func preparing(p *probes.Process) bool {
	if p.Standing == probes.OfOther {
		return false
	}
	for _, tool := range []string{"mkfs", "mke2fs", "fsck", "e2fsck", "xfs_repair", "resize2fs", "mount", "blkid", "cryptsetup", "wipefs"} {
		if strings.HasPrefix(p.Comm, tool) {
			return true
		}
	}
	return false
}

// carries marks a device and everything below it as the machine's own.
func (n *node) carries(dev probes.Dev) {
	d := n.byDev[dev]
	if d == nil || n.system[d.Name] {
		return
	}
	n.system[d.Name] = true
	if p := n.at[d.Parent]; p != nil {
		n.carries(p.Dev)
	}
	for _, s := range d.Slaves {
		if b := n.at[s]; b != nil {
			n.carries(b.Dev)
		}
	}
}

// volume tells whether a device can be a volume: a network disk, one below
// /dev/longhorn, or a mapper above such a disk.
func (n *node) volume(d *probes.BlockDevice) bool {
	return n.volumeAt(d, 8)
}

func (n *node) volumeAt(d *probes.BlockDevice, depth int) bool {
	if n.system[d.Name] || n.system[d.Parent] && d.Parent != "" || d.Sectors == 0 || depth == 0 || strings.HasPrefix(d.Name, "sr") {
		return false
	}
	switch {
	case n.session[d.Name], d.Parent != "" && n.session[d.Parent]:
		return true
	case strings.HasPrefix(d.Name, "rbd"), strings.HasPrefix(d.Name, "drbd"), strings.HasPrefix(d.Name, "nbd"):
		return true
	case d.Transport != "" && d.Transport != "pcie":
		return true
	}
	for _, node := range n.f.DeviceNodes {
		if node.Dev == d.Dev && strings.HasPrefix(node.Path, "/dev/longhorn/") {
			return true
		}
	}
	for _, s := range d.Slaves {
		if b := n.at[s]; b != nil && n.volumeAt(b, depth-1) {
			return true
		}
	}
	return false
}

// answers tells whether a read can be expected to return: the SCSI device runs,
// and no mapper in its way is suspended.
func (n *node) answers(d *probes.BlockDevice) bool {
	return n.answersAt(d, 8)
}

func (n *node) answersAt(d *probes.BlockDevice, depth int) bool {
	if d.State != "" && d.State != "running" && d.State != "live" || d.DM != nil && d.DM.Suspended || depth == 0 {
		return false
	}
	if n.sessionSick(d.Name) {
		return false
	}
	if p := n.at[d.Parent]; p != nil && !n.answersAt(p, depth-1) {
		return false
	}
	for _, s := range d.Slaves {
		if b := n.at[s]; b != nil && !n.answersAt(b, depth-1) {
			return false
		}
	}
	return true
}

func (n *node) sessionSick(disk string) bool {
	for _, s := range n.f.ISCSI.Sessions {
		if s.State != "LOGGED_IN" && slices.Contains(s.Disks, disk) {
			return true
		}
	}
	return false
}

// used tells whether anything that was seen already explains a claim on a disk or
// one of its partitions.
func (n *node) used(d *probes.BlockDevice) bool {
	if n.inUse[d.Dev] || n.open[d.Dev] && !n.alive[d.Dev] {
		return true
	}
	for i := range n.f.Block {
		p := &n.f.Block[i]
		if p.Parent == d.Name && (n.inUse[p.Dev] || n.open[p.Dev] || n.alive[p.Dev] || len(p.Holders) > 0) {
			return true
		}
	}
	return false
}

// mountPoints are the volumes below the kubelet's root in the namespace of process
// 1: those on block devices that answer, those of the kernel's own network clients,
// and those of a FUSE server that is gone. Every place is asked, for a bind of a
// directory that its server has forgotten is stale while the rest of the share is well.
func (n *node) mountPoints() []place {
	root := n.kubeletRoot()
	seen := map[string]bool{}
	var list []place
	for _, ns := range n.f.Namespaces {
		if ns.ID != n.f.Identity.InitMntNS {
			continue
		}
		for i := range ns.Mounts {
			m := &ns.Mounts[i]
			if seen[m.Point] || !strings.HasPrefix(m.Point, root+"/") || m.Deleted() {
				continue
			}
			d := n.byDev[m.Dev]
			local := d != nil && !n.system[d.Name] && n.answers(d)
			if !local && !killable(m.FSType) && !n.unserved(m.FSType) {
				continue
			}
			seen[m.Point] = true
			list = append(list, place{strings.TrimPrefix(m.Point, "/"), m.Dev})
		}
	}
	return list
}

// killable tells the filesystems whose statfs can be abandoned: whoever waits for the
// server there still ends when it is killed (rpc_wait_bit_killable in net/sunrpc,
// wait_for_response in fs/smb/client/transport.c, wait_generic_request in
// net/ceph/mon_client.c).
func killable(fstype string) bool {
	switch fstype {
	case "nfs", "nfs4", "cifs", "smb3", "ceph":
		return true
	}
	return false
}

// unserved tells that no process is left that could serve a FUSE mount: the kernel then
// answers by itself. A question that a server has taken and does not answer could not even
// be killed (request_wait_answer in fs/fuse/dev.c), so of a mount with a server that may
// live nothing is asked.
func (n *node) unserved(fstype string) bool {
	if fstype != "fuse" && !strings.HasPrefix(fstype, "fuse.") {
		return false
	}
	return n.f.Completeness(probes.Descriptors).Complete() &&
		!slices.ContainsFunc(n.f.Processes, func(p probes.Process) bool { return p.ServesFUSE })
}
