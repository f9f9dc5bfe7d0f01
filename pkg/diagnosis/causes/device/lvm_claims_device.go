package device

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/lvm"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// LVMClaimsDevice finds logical volumes that the host activated inside a volume, and
// LVM's scans that claim a fresh device for a moment.
var LVMClaimsDevice = &diagnosis.Rule{
	Name: "lvm-claims-device", Layer: diagnosis.Device, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Attaching, diagnosis.Staging, diagnosis.Unmounting, diagnosis.Detaching},
	LeadsTo: []string{"block-volume-unmap-stuck", "crypt-mapper-stale", "device-mapped-on-other-node", "longhorn-migration-inconsistent"},
	Offers:  []string{"vgchange-deactivate"},
	Asks:    diagnosis.EachPlace,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		rest := []*diagnosis.Proof{diagnosis.Rest(pl.Tables(probes.Block, probes.Mounts))}
		t, ok := disk.TowerOf(pl)
		if !ok {
			return rest
		}
		p := &diagnosis.Proof{With: words.Fields{"node": pl.Node, "volume": volume.Name(pl.Volume)}, Last: []evidence.Answer{pl.Tables(probes.Block, probes.Mounts).Nothing()}}
		prevent := remedy.Words("Keep LVM on node " + pl.Node + " away from volumes: in /etc/lvm/lvm.conf set a global_filter that rejects /dev/longhorn/, " +
			"/dev/mapper/pvc-, /dev/loop, /dev/rbd and /dev/drbd (without a trailing accept-all pattern), or use the devices file.")
		d := t.Device.Block
		if inside, ok := lvm.FoundOn(pl, t); ok {
			d = inside.Bottom
			p.Says, p.With["group"], p.With["names"] = "inside", inside.Group, strings.Join(inside.Names, ", ")
			p.State = []evidence.Answer{inside.Active().With(disk.Content(pl, d.Dev), lvm.FilterFact(pl))}
			p.LookAlikes = []diagnosis.LookAlike{
				{Cause: "logical volumes that somebody has mounted", Is: inside.Mounted(pl)},
				{Cause: "a storage system's own group", Is: inside.OfStorage(pl)},
				{Cause: "a guest's, a pod of the claim", Is: t.OpenedByUser(inside.LVs...)},
			}
			p.Steps = []remedy.Step{remedy.VgchangeDeactivate(pl.View, pl.Volume, inside.Group, inside.LVs[0], d), prevent}
		} else if d != nil && t.Found && len(t.Above) == 0 && lvm.Scanned(d) {
			said, fresh := lvm.Busy(pl, d.Name)
			scan := lvm.Scans(pl, d.Dev)
			p.AtMost = report.Possible
			if fresh { // likely: the claim lasts seconds, and was not seen
				p.AtMost, scan = report.Likely, evidence.Yes(scan.Facts()...)
			}
			p.Says, p.State = "scan", []evidence.Answer{said, lvm.Accepts(pl, "/dev/"+d.Name), scan, evidence.Not(disk.MountedOver(pl, d.Dev))}
			p.Steps = []remedy.Step{prevent}
		} else {
			return rest
		}
		p.Subject, p.With["disk"] = diagnosis.DeviceSubject(pl.Node, d.Dev), disk.Title(d)
		p.Device(pl.Node, d.Dev)
		p.Device(pl.Node, t.Device.Dev)
		return append(rest, p)
	},
}
