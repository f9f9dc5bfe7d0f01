package device

import (
	"cmp"
	"strconv"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/drbd"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/filesystem"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// DeviceHeldByProcess finds processes, swap, loops and host mounts that keep a device.
var DeviceHeldByProcess = &diagnosis.Rule{
	Name: "device-held-by-process", Layer: diagnosis.Device, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Staging, diagnosis.Unmounting, diagnosis.Detaching},
	LeadsTo: []string{"mount-of-dead-device", "iscsi-login-rejected"},
	Offers:  []string{"restart-holder"},
	Asks:    diagnosis.EachPlace,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		whole := pl.Tables(probes.Block, probes.Mounts, probes.Descriptors)
		out := []*diagnosis.Proof{diagnosis.Rest(whole)}
		if volume.KindOf(pl.X, pl.Volume)&volume.Disk == 0 { // nobody keeps a share that works
			out = []*diagnosis.Proof{diagnosis.Unread(whole)}
		}
		released, why := volume.Released(pl.X, pl.Volume, pl.Node)
		held, own := disk.Kept(pl, released), probes.Dev{}
		if t, ok := disk.TowerOf(pl); ok && t.Found {
			own, held = t.Device.Dev, t.HeldBy(released, evidence.When(volume.Awaited(pl.X, pl.Volume, pl.Node)), volume.Fails(pl))
		}
		for _, h := range append(held, drbd.OpenAtPeer(pl)...) {
			p := isHeld(pl, h, cmp.Or(h.Why, why))
			if !own.IsZero() {
				p.Device(pl.Node, own)
			}
			out = append(out, p)
		}
		return out
	},
}

// isHeld is the proof of one way in which a device is kept.
func isHeld(pl *evidence.Place, h disk.Held, why string) *diagnosis.Proof {
	if h.Node != "" {
		pl = pl.On(h.Node)
	}
	p := &diagnosis.Proof{
		Subject: diagnosis.DeviceSubject(pl.Node, h.Subject), Says: h.Kind, AtMost: h.AtMost,
		With: words.Fields{"node": pl.Node, "volume": volume.Name(pl.Volume), "number": h.Subject.String(), "why": why,
			"mounted": h.Dev.String(), "path": h.Path, "entry": h.Entry, "process": "", "of": "", "name": "", "target": "", "by": ""},
		State:      []evidence.Answer{h.Is},
		Last:       []evidence.Answer{h.Last, pl.Tables(probes.Block, probes.Mounts, probes.Descriptors).Nothing()},
		LookAlikes: []diagnosis.LookAlike{{Cause: "device-renumbered", Is: disk.Renumbered(pl, h.Subject)}},
		Steps:      remedy.EndHeld(pl.Node, h),
	}
	if h.Holder != nil {
		p.With["process"], p.With["name"], p.With["of"], p.With["target"], p.With["by"] = strconv.Itoa(h.Holder.Process.PID), h.Holder.Process.Comm, pods.Whose(h.Holder.Who), h.Holder.Descriptor.Target, h.Holder.Descriptor.Path
		p.Subject = diagnosis.ProcessSubject(pl.Node, h.Holder.Process.PID)
		p.LookAlikes = append(p.LookAlikes, diagnosis.LookAlike{Cause: "the driver's own tool at its work", Is: filesystem.OfDriver(pl, h.Holder.Process.PID)})
		if h.Holder.Who.Pod != nil {
			p.Subject = diagnosis.PodSubject(h.Holder.Who.Pod)
		}
	}
	if h.Why != "" {
		p.Breaks = []diagnosis.Step{diagnosis.Publishing}
	}
	p.At(pl.Node)
	p.Device(pl.Node, h.Dev)
	return p
}
