package device

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// wrongMounted compares, for drivers with identities of their own (serial, WWID,
// image), the disk that carries the volume's identity with the one that is mounted at
// its staging path. Both live; only times could tell which of them came first, so it
// is likely unless the mounted disk is provably another volume's.
func wrongMounted(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView) {
	d, ok := p.DeviceOn(v, view.Name)
	if !ok || !d.Proven || d.Block == nil || v.RegularRWX() {
		return
	}
	for _, m := range p.VolumeMounts(v, view.Name) {
		wrong := view.Device(m.Mount.Dev)
		if wrong == nil || m.Mount.Dev.Anonymous() || wrong.Parent == d.Block.Name || wrong.LoopFile != "" || contains(numbersOf(d), m.Mount.Dev.String()) || leadsOnto(view, d.Dev, m.Mount.Dev) {
			continue
		}
		if !usable(wrong) || wrong.Name == d.Block.Name || wrong.Partition > 0 {
			continue
		}
		other := ownerOf(p, v, view, m)
		if other == "" {
			continue // nothing ties the mounted disk to anybody else: left to mount-of-dead-device
		}
		f := p.Find(report.Likely, diagnosis.DeviceSubject(view.Name, wrong.Dev)).On(v).Located(view.Name)
		f.Device(view.Name, wrong.Dev)
		f.Device(view.Name, d.Dev)
		f.Sayf("On node %s the path of volume %s has %s (%s) mounted, which is the disk of volume %s. The volume's own disk is %s (%s).",
			view.Name, volumeName(v), wrong.Name, wrong.Dev, other, d.Block.Name, d.Dev)
		f.Fact(diagnosis.FromNode(view.Name, "proc/1/mountinfo", m.Mount.Raw), diagnosis.FromNode(view.Name, d.Locator, d.How))
		f.Unless("a mount that is older than the disk that has the number now")
		f.Advise(remedy.Words("Stop the workloads of both volumes before anything else: data is crossing. Compare identities (serial, WWID, image) with the storage before anything is mounted again."))
		p.Report(f)
		return
	}
}

func numbersOf(d snapshot.VolumeDevice) []string {
	var out []string
	for _, n := range d.Numbers() {
		out = append(out, n.String())
	}
	return out
}

// ownerOf names another volume whose proven device on the node is the mounted one.
func ownerOf(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, m snapshot.VolumeMount) string {
	for _, o := range p.Index.Volumes {
		if o == v {
			continue
		}
		if d, ok := p.DeviceOn(o, view.Name); ok && d.Proven && contains(numbersOf(d), m.Mount.Dev.String()) {
			return volumeName(o)
		}
	}
	return ""
}
