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

// DeviceMappedOnOtherNode finds a map, session or mount that the old node kept.
var DeviceMappedOnOtherNode = &diagnosis.Rule{
	Name: "device-mapped-on-other-node", Layer: diagnosis.Device, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Attaching, diagnosis.Staging, diagnosis.Using, diagnosis.Detaching},
	LeadsTo: []string{"rbd-lock-or-watcher-stale", "filesystem-readonly-after-error", "filesystem-needs-fsck", "iscsi-login-rejected"},
	YieldsTo: []string{"node-down", "node-kubelet-down-workload-alive", "mount-pinned-in-namespace", "mount-lazily-detached", "pod-directory-orphaned",
		"kubelet-in-container", "lvm-claims-device", "block-volume-unmap-stuck", "longhorn-engine-orphaned", "device-held-by-process"},
	Offers: []string{"multipath-flush", "unmap-device"},
	Asks:   diagnosis.EachPlace,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if !volume.Deserted(pl) {
			return nil
		}
		out := []*diagnosis.Proof{diagnosis.Rest(pl.Tables(probes.Block, probes.Mounts, probes.Descriptors))}
		b, ok := volume.BehindOf(pl)
		if !ok {
			return out
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.DeviceSubject(pl.Node, b.Device.Dev), Says: "mapped", NotTo: []string{"filesystem-readonly-after-error"}, // what is only mapped writes nothing
			With:       words.Fields{"node": pl.Node, "volume": volume.Name(pl.Volume), "disk": disk.Title(b.Device.Block), "point": "", "pending": b.Pending(), "also": volume.Also(pl)},
			State:      []evidence.Answer{b.Left()},
			Last:       []evidence.Answer{pl.Consumers().Nothing()},
			LookAlikes: []diagnosis.LookAlike{{Cause: "what keeps the device on the node", Is: b.Kept()}, {Cause: "multipath-map-orphaned", Is: b.Dead()}, {Cause: "mount-of-dead-device", Is: b.Reused()}},
		}
		p.Device(pl.Node, b.Device.Dev)
		if b.Pending() != "" {
			p.AtMost = report.Possible
		}
		doubtful := b.Device.Unlike != "" || b.StagedByAnother()
		if (b.Stage == nil || doubtful) && volume.Fails(pl).No() { // what is only mapped writes nothing, and nobody waits for it
			p.Severity = report.Risk
		}
		letGo(pl, b, p, doubtful)
		return append(out, p)
	},
}

// letGo tells how the node lets the device go, once it is known whose it is.
func letGo(pl *evidence.Place, b volume.Behind, p *diagnosis.Proof, doubtful bool) {
	d := b.Device.Block
	switch {
	case doubtful:
		if b.Stage != nil {
			p.Says, p.With["point"] = "mounted", b.Stage.Mount.Point
		}
		p.With["also"] = "" // whether it is one filesystem is the question
		p.Steps = []remedy.Step{remedy.Words("First compare the identity of " + disk.Title(d) + " on node " + pl.Node + " with the storage backend, and find out whose it is. Unmount nothing before: what is not yet written would go to the disk that is there now.")}
	case b.Stage != nil:
		p.Says, p.With["point"], p.NotTo = "mounted", b.Stage.Mount.Point, nil
		if p.With["also"] != "" {
			p.Steps = append(p.Steps, remedy.Words(remedy.OneWriter(pl.Volume)))
		}
		p.Steps = append(p.Steps, remedy.Words("Unmount exactly "+b.Stage.Mount.Point+" on node "+pl.Node+"; then the driver can release the device, and log out of the storage where it logged in. Restarting the driver's node pod or the kubelet often does it."))
	default:
		p.Steps = remedy.Unmapped(pl.View, pl.Volume, b)
	}
}
