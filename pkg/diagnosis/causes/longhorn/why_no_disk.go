package longhorn

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// whyNoDisk tells node by node what keeps a replica of the volume away, as far as the
// objects show it. The scheduler asks for size + scheduled ≤ (maximum - reserved) ×
// over-provisioning (longhorn-manager, scheduler/replica_scheduler.go).
func whyNoDisk(p *diagnosis.Pass, v *snapshot.Volume, lh *snapshot.LHVolume) string {
	var out []string
	for _, n := range p.Cluster.Longhorn.Nodes {
		if why := whyNotNode(p, v, lh, n); why != "" {
			out = append(out, n.Name+": "+why)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return " Node by node: " + strings.Join(out, "; ") + "."
}

func whyNotNode(p *diagnosis.Pass, v *snapshot.Volume, lh *snapshot.LHVolume, n *snapshot.LHNode) string {
	for _, r := range v.Longhorn.Replicas {
		if r.NodeID == n.Name && r.FailedAt == "" {
			return "has a replica already"
		}
	}
	if !nodeWorks(p, n.Name) {
		return "the node is not ready"
	}
	if !n.AllowScheduling {
		return "scheduling is switched off (allowScheduling false)"
	}
	for _, kind := range []string{"Ready", "Schedulable"} {
		if c, ok := n.Conditions.Get(kind); ok && c.Status == "False" {
			return kind + " False " + strings.TrimSpace(c.Reason+" "+c.Message)
		}
	}
	var disks []string
	for i := range n.Disks {
		if why := whyNotDisk(p, lh, &n.Disks[i]); why != "" {
			disks = append(disks, "disk "+n.Disks[i].Name+" "+why)
		}
	}
	if len(n.Disks) == 0 {
		return "no disk"
	}
	if len(disks) < len(n.Disks) {
		return "" // some disk has room: tags or affinity, which the condition names
	}
	return strings.Join(disks, ", ")
}

func whyNotDisk(p *diagnosis.Pass, lh *snapshot.LHVolume, d *snapshot.LHDisk) string {
	block := d.Type == "block"
	if d.Type != "" && block != (lh.DataEngine == "v2") {
		return "is of type " + d.Type
	}
	if !d.AllowScheduling {
		return "does not allow scheduling"
	}
	for _, kind := range []string{"Ready", "Schedulable"} {
		if c, ok := d.Conditions.Get(kind); ok && c.Status == "False" {
			return kind + " False " + strings.TrimSpace(c.Reason+" "+c.Message)
		}
	}
	limit := (d.Maximum - d.Reserved) * overProvisioning(p, lh.DataEngine) / 100
	if room := limit - d.Scheduled; d.Maximum > 0 && room < lh.Size {
		return fmt.Sprintf("has room for %s, %s are needed (maximum %s, reserved %s, scheduled %s)", gib(max(room, 0)), gib(lh.Size), gib(d.Maximum), gib(d.Reserved), gib(d.Scheduled))
	}
	return ""
}

// overProvisioning is in percent; Longhorn's default is 100 since 1.6, 200 before.
func overProvisioning(p *diagnosis.Pass, engine string) int64 {
	var n int64 = 100
	if s, ok := settingFor(p, "storage-over-provisioning-percentage", engine); ok {
		if _, err := fmt.Sscan(s, &n); err != nil || n <= 0 {
			return 100
		}
	}
	return n
}
