package around

import (
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// lately is how far back a change may have to do with a failure.
const lately = 24 * time.Hour

// Changed is what changed on the chain of a volume within a day: the boot of its node, its
// kernel against that of the others, the driver's plugin, the volume itself, a cordon.
func Changed(x *snapshot.Index, v *snapshot.Volume, node string) []report.Evidence {
	var out []report.Evidence
	if view := x.View(node); view != nil {
		if boot := view.Facts.Identity.Boot(); since(x, boot) {
			out = append(out, evidence.FromNode(node, "proc/uptime", "booted "+stamp(boot)))
		}
	}
	if n := x.Node(node); n != nil {
		if n.Spec.Unschedulable {
			out = append(out, evidence.FromAPI("Node "+node, "spec.unschedulable", "true"))
		}
		if mine, theirs := kernels(x, node); theirs != "" {
			out = append(out, evidence.FromAPI("Node "+node, "status.nodeInfo.kernelVersion", mine+", all others run "+theirs))
		}
	}
	if pod := x.DriverPodOn(v.CSIName(), node); pod != nil {
		for i := range pod.Status.ContainerStatuses {
			s := &pod.Status.ContainerStatuses[i]
			if r := s.State.Running; r != nil && since(x, r.StartedAt.Time) {
				out = append(out, evidence.FromPod(pod, "status.containerStatuses["+s.Name+"].state.running.startedAt", stamp(r.StartedAt.Time)+", "+s.Image))
				break
			}
		}
	}
	if v.PV != nil && since(x, v.PV.CreationTimestamp.Time) {
		out = append(out, evidence.FromAPI("PersistentVolume "+v.PV.Name, "metadata.creationTimestamp", stamp(v.PV.CreationTimestamp.Time)))
	}
	return out
}

func since(x *snapshot.Index, t time.Time) bool {
	return !t.IsZero() && t.Before(x.TakenAt) && x.Age(t) < lately
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// kernels are the release of a node and that of all others, where those have one and it
// is another.
func kernels(x *snapshot.Index, node string) (mine, theirs string) {
	nodes := x.Memo("around.kernels", func() any {
		out := map[string]int{}
		for _, n := range x.Cluster.Nodes {
			out[n.Status.NodeInfo.KernelVersion]++
		}
		return out
	}).(map[string]int)
	if n := x.Node(node); n != nil && n.Status.NodeInfo.OperatingSystem != "windows" { // its releases are of another kernel
		mine = n.Status.NodeInfo.KernelVersion
	}
	if mine == "" || len(nodes) != 2 || nodes[mine] != 1 {
		return mine, ""
	}
	for release := range nodes {
		if release != mine {
			theirs = release
		}
	}
	return mine, theirs
}

// Times is how often the newest complaint was made; 0: its event does not count.
func Times(x *snapshot.Index, v *snapshot.Volume, t *evidence.Text) int {
	if t == nil || t.Source != "event" {
		return 0
	}
	for _, c := range v.Consumers {
		for _, e := range x.Events("Pod", c.Pod.Namespace, c.Pod.Name) {
			if e.Message == t.Raw && e.Count > 1 {
				return e.Count
			}
		}
	}
	return 0
}

// ofKind are the words of the kernel about volumes of a kind that have no device of their
// own in its lines.
var ofKind = map[Kind][]string{
	ISCSI:  {"connection", "session", "iscsi"},
	FC:     {"rport-", "qla2xxx", "lpfc"},
	NVMe:   {"nvme nvme", "nvme_fabrics: "},
	RBD:    {"rbd: ", "libceph: "},
	CephFS: {"ceph: ", "libceph: "},
	NFS:    {"nfs: server ", "NFS: ", "lockd: "},
	SMB:    {"CIFS: ", "CIFS VFS: ", "Status code returned"},
	FUSE:   {"fuse: "},
	DRBD:   {"drbd "},
}

// tools are programs that a driver's plugin waits for.
var tools = []string{"rbd", "rbd-nbd", "mount", "umount", "mkfs", "mke2fs", "fsck", "e2fsck", "xfs_", "blkid", "cryptsetup", "iscsiadm", "nvme", "multipath", "dmsetup", "lvs", "vgs", "zfs", "zpool", "drbdsetup", "drbdadm", "udevadm", "blockdev", "resize2fs"}

// longTool tells whether a process is a tool of the plugin that has run for a minute.
func longTool(x *snapshot.Index, p *probes.Process) bool {
	known := slices.ContainsFunc(tools, func(t string) bool {
		return p.Comm == t || strings.HasPrefix(p.Comm, t+".") || strings.HasSuffix(t, "_") && strings.HasPrefix(p.Comm, t)
	})
	return known && !p.Started.IsZero() && x.Age(p.Started) > time.Minute
}
