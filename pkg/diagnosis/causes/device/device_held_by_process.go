package device

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
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
	LeadsTo: []string{"mount-of-dead-device"},
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
		for _, h := range held {
			p := &diagnosis.Proof{
				Subject: diagnosis.DeviceSubject(pl.Node, h.Subject), Says: h.Kind, AtMost: h.AtMost,
				With: words.Fields{"node": pl.Node, "volume": volume.Name(pl.Volume), "number": h.Subject.String(), "why": cmp.Or(h.Why, why),
					"mounted": h.Dev.String(), "path": h.Path, "entry": h.Entry, "process": "", "of": "", "name": "", "target": "", "by": ""},
				State:      []evidence.Answer{h.Is},
				Last:       []evidence.Answer{h.Last, whole.Nothing()},
				LookAlikes: []diagnosis.LookAlike{{Cause: "device-renumbered", Is: disk.Renumbered(pl, h.Subject)}},
			}
			if h.Holder != nil {
				p.With["process"], p.With["name"], p.With["of"], p.With["target"], p.With["by"] = strconv.Itoa(h.Holder.Process.PID), h.Holder.Process.Comm, pods.Whose(h.Holder.Who), h.Holder.Descriptor.Target, h.Holder.Descriptor.Path
				p.Subject, p.Steps = diagnosis.ProcessSubject(pl.Node, h.Holder.Process.PID), []remedy.Step{remedy.EndHolder(pl.Node, h.Holder.Who)}
				p.LookAlikes = append(p.LookAlikes, diagnosis.LookAlike{Cause: "the driver's own tool at its work", Is: filesystem.OfDriver(pl, h.Holder.Process.PID)})
				if h.Holder.Who.Pod != nil {
					p.Subject = diagnosis.PodSubject(h.Holder.Who.Pod)
				}
			}
			if h.Why != "" {
				p.Breaks = []diagnosis.Step{diagnosis.Publishing}
			}
			if end, known := endHeld[h.Kind]; known {
				p.Steps = []remedy.Step{remedy.Words(strings.NewReplacer("{node}", pl.Node, "{path}", h.Path, "{loop}", h.Entry, "{pid}", p.With["process"]).Replace(end))}
			}
			p.Device(pl.Node, h.Dev)
			if !own.IsZero() {
				p.Device(pl.Node, own)
			}
			out = append(out, p)
		}
		return out
	},
}

// endHeld is how a node lets go what no process holds, or that of a pod which is gone.
var endHeld = map[string]string{
	"target":   "Remove this backstore on node {node} through whoever configured it (targetcli, nvmetcli, a storage agent), after its initiators have logged out.",
	"swap":     "Switch this swap area off on node {node} (swapoff of exactly {path}) and remove it from /etc/fstab and from units. What lay on the volume before the swap area was made is lost.",
	"mount":    "Find out who mounted {path} (fstab, a unit, a person) and what uses it; then unmount exactly that path on node {node} and remove the entry.",
	"child":    "Find out who mounted {path} (fstab, a unit, a person) and what uses it; then unmount exactly that path on node {node} and remove the entry.",
	"loop":     "Find out who made {loop} on node {node} and whether what is on it is mounted or in use; let that program end it (unmount first, then losetup -d of exactly this device). The kubelet then unmounts the volume at its next attempt.",
	"stranger": "Make sure that the container of process {pid} on node {node} may end, then stop it through the container runtime (crictl stop) or restart the kubelet there, which ends containers of pods that do not exist.",
}
