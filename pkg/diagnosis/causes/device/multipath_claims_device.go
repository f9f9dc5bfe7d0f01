package device

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed multipath_claims_device.md
var multipathClaimsDeviceDoc string

// MultipathClaimsDevice finds a multipath map on a disk that is wanted directly.
var MultipathClaimsDevice = &diagnosis.Rule{
	Name: "multipath-claims-device", Layer: diagnosis.Device, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("blockdev"), diagnosis.Probe("mountns")},
	Explains: []string{"mount-busy", "mount-failed", "format-failed", "fsck-failed", "share-manager-failing", "attach-failed", "pod-waiting-for-volume"},
	LeadsTo:  []string{"longhorn-share-manager-down", "multipath-map-orphaned"},
	Offers:   []string{"multipath-flush", "delete-pod", "disable-multipathd"},
	Doc:      multipathClaimsDeviceDoc,
	Run:      multipathClaims,
}

func multipathClaims(p *diagnosis.Pass) {
	for _, v := range p.Volumes() {
		for _, node := range p.DeviceNodes(v) {
			view, ok := p.Probed(node)
			if !ok {
				multipathSuspected(p, v, node)
				continue
			}
			if d, ok := p.DeviceOn(v, node); ok && d.Block != nil && !disk.Mistaken(&evidence.Place{X: p.Index, Volume: v, Node: node, View: view}, d) && !claimedByMultipath(p, v, view, d) {
				claimedAMomentAgo(p, v, view, d)
			}
		}
	}
}

// claimedByMultipath reports a map on the disk that nothing mounts, while the
// disk itself is wanted.
func claimedByMultipath(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, d snapshot.VolumeDevice) bool {
	m := multipathMapOn(view, d.Dev)
	if m == nil {
		return false
	}
	if mounted(view, d.Dev) || mountedAbove(view, m.Dev) || view.NoPath(m) || wantsItsMap(p, v, view, m) {
		return true
	}
	f := p.Find(report.Certain, diagnosis.DeviceSubject(view.Name, d.Dev))
	f.On(v).Located(view.Name)
	f.Device(view.Name, d.Dev)
	f.Device(view.Name, m.Dev)
	f.Sayf("multipathd built the map %s (%s) over %s (%s) on node %s, the disk of volume %s. "+
		"The map claims the disk exclusively, so mount, mkfs, fsck and cryptsetup of %s get EBUSY. Neither the disk nor the map is mounted in any mount namespace that was read.",
		m.DM.Name, m.Name, d.Block.Name, d.Dev, view.Name, volumeName(v), deviceName(d))
	f.Fact(
		diagnosis.FromNode(view.Name, "sys/class/block/"+d.Block.Name+"/holders", strings.Join(d.Block.Holders, " ")),
		diagnosis.FromNode(view.Name, "sys/class/block/"+m.Name+"/dm/uuid", m.DM.UUID),
		diagnosis.FromNode(view.Name, "sys/class/block/"+m.Name+"/dm/name", m.DM.Name),
		diagnosis.FromNode(view.Name, d.Locator, d.How),
	)
	if !d.Proven {
		f.Missing("the identity of " + d.Block.Name + " (no session, serial or WWID ties it to the volume)")
	}
	f.Unless("a mount of the map itself, or a holder of " + d.Block.Name + " whose dm uuid does not begin with mpath-")
	if others := othersUnder(view, m, d); len(others) > 0 {
		f.Also = append(f.Also, "The same map also covers "+strings.Join(others, ", ")+": these disks share one WWID, and I/O through the map could reach the wrong volume.")
	}
	adviseMultipath(f, p, v, view, d, m)
	p.Report(f)
	return true
}

// adviseMultipath excludes the disk first, then flushes the one map.
func adviseMultipath(f *diagnosis.Finding, p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, d snapshot.VolumeDevice, m *probes.BlockDevice) {
	f.Advise(remedy.Words(fmt.Sprintf("Exclude the disk from multipath on node %s: add it to the blacklist of /etc/multipath.conf, remove its WWID from /etc/multipath/wwids, then run multipathd reconfigure. "+
		"Without this the map comes back at the next attach.", view.Name)).
		In("/etc/multipath.conf", remedy.Blacklist(multipathVendor(d.Block), d.Block.Model, strings.TrimPrefix(m.DM.UUID, "mpath-"))...))
	f.Advise(remedy.MultipathFlush(view, m).Note("After the disk is excluded."))
	for _, w := range v.Waiting() {
		f.Advise(remedy.DeletePod(w.Pod).Note("It waits and holds nothing; the kubelet tries again within 2 minutes by itself."))
		break
	}
}

// multipathVendor is the vendor that multipathd sees: the kernel has none for NVMe
// disks, and libmultipath puts a word of its own there (discovery.c, nvme_sysfs_pathinfo).
func multipathVendor(b *probes.BlockDevice) string {
	if vendor := strings.TrimSpace(b.Vendor); vendor != "" || !strings.HasPrefix(b.Name, "nvme") {
		return vendor
	}
	return "NVME"
}
