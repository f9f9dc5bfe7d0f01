package device

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// DeviceClaimedByUnknown is what is left when a device is claimed and every known
// kind of claim was looked for in vain.
var DeviceClaimedByUnknown = &diagnosis.Rule{
	Name: "device-claimed-by-unknown", Layer: diagnosis.Device, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Staging, diagnosis.Unmounting},
	Residual: []diagnosis.Layer{diagnosis.Device, diagnosis.Mount},
	Asks:     diagnosis.EachPlace,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		rest := []*diagnosis.Proof{diagnosis.Rest(pl.Tables(probes.Block, probes.Mounts, probes.Descriptors, probes.Swaps))}
		t, ok := disk.TowerOf(pl)
		if !ok || !t.Found || t.Device.Block == nil {
			return rest
		}
		odd, ok := t.Odd()
		if !ok {
			return rest // another cause, or the rightful mapper
		}
		d := t.Device.Block
		claimed := evidence.Any(t.Under(odd), disk.Claimed(pl, d.Dev))
		p := &diagnosis.Proof{
			Subject: diagnosis.DeviceSubject(pl.Node, d.Dev), Says: "nobody",
			With:  words.Fields{"disk": disk.Title(d), "volume": volume.Name(pl.Volume), "node": pl.Node},
			State: []evidence.Answer{volume.Fails(pl), claimed, disk.Unmounted(pl.X, pl.Node, d.Dev)},
			Hint:  claimed,
			LookAlikes: []diagnosis.LookAlike{
				{Cause: "a pod that uses the volume raw", Is: t.Rightly()},
			},
			Steps: []remedy.Step{remedy.Words("Take a second sample in a minute. Look for mount namespaces that a bind mount or a descriptor (mnt:[…]) keeps alive without a process. Take no step that changes the device; the last resort is to drain and reboot node " + pl.Node + ".")},
		}
		if odd != nil {
			p.Says, p.With["holder"], p.AtMost = "odd", disk.Title(odd), report.Likely
			p.Steps = []remedy.Step{remedy.Words("Find out what " + disk.Title(odd) + " is for and which program made it. When nobody needs it, that program takes it away; the kubelet mounts at its next attempt. Change nothing else on the disk; the last resort is to drain and reboot node " + pl.Node + ".")}
			p.Last = []evidence.Answer{disk.Closed(pl.X, pl.Node, d.Dev), disk.Bare(pl.X, pl.Node, d.Dev, odd.Name)}
		} else {
			p.Last = []evidence.Answer{disk.Closed(pl.X, pl.Node, d.Dev), disk.Bare(pl.X, pl.Node, d.Dev)}
		}
		p.Device(pl.Node, d.Dev)
		return append(rest, p)
	},
}
