package device

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// MDClaimsDevice finds a RAID array that the host assembled from a volume.
var MDClaimsDevice = &diagnosis.Rule{
	Name: "md-claims-device", Layer: diagnosis.Device, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Staging, diagnosis.Unmounting},
	LeadsTo: []string{"block-volume-unmap-stuck"},
	Offers:  []string{"unmap-device"},
	Asks:    diagnosis.EachPlace,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		out := []*diagnosis.Proof{diagnosis.Rest(pl.Tables(probes.Block, probes.Mounts))}
		t, ok := disk.TowerOf(pl)
		if !ok {
			return out
		}
		for _, h := range t.Above {
			d := t.Bottom(h)
			if !disk.IsArray(h.Device) || d == nil {
				continue
			}
			array := "sys/class/block/" + h.Device.Name
			p := &diagnosis.Proof{
				Subject: diagnosis.DeviceSubject(pl.Node, d.Dev),
				With:    words.Fields{"node": pl.Node, "array": h.Device.Name, "state": disk.OrUnknown(h.Device.MDState), "disk": disk.Title(d), "volume": volume.Name(pl.Volume)},
				State: []evidence.Answer{evidence.Yes(
					evidence.FromNode(pl.Node, "sys/class/block/"+d.Name+"/holders", strings.Join(d.Holders, " ")),
					evidence.FromNode(pl.Node, array+"/md/array_state", h.Device.MDState), disk.Content(pl, d.Dev))},
				Last: []evidence.Answer{pl.Tables(probes.Block, probes.Mounts).Nothing()},
				LookAlikes: []diagnosis.LookAlike{
					{Cause: "an array that somebody has mounted", Is: disk.MountedOnPurpose(pl, h.Device.Dev)},
					{Cause: "an array of a guest, a pod of the claim", Is: t.OpenedByUser(h.Device)},
				},
				Steps: []remedy.Step{
					remedy.UnmapMD(pl.View, pl.Volume, h.Device),
					remedy.Words("Keep mdadm on node " + pl.Node + " from assembling volumes: AUTO -all, or ARRAY <ignore> UUID=… in /etc/mdadm.conf."),
				},
			}
			p.Device(pl.Node, d.Dev)
			p.Device(pl.Node, t.Device.Dev)
			out = append(out, p)
		}
		return out
	},
}
