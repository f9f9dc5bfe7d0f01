package mount

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// deadNamesake finds a dead mount of another volume whose source has the name of
// this volume's disk. The kubelet counts references by that name and then never
// unmounts the living one (GetDeviceMountRefs in mount-utils).
func deadNamesake(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView) {
	released, why := p.WantedReleased(v, view.Name)
	if !released || !p.Suffers(v, "unmount-blocked", "detach-stuck", "multi-attach-error", "pod-stuck-terminating") {
		return
	}
	sources := map[string]bool{}
	for _, m := range p.VolumeMounts(v, view.Name) {
		if strings.HasPrefix(m.Mount.Source, "/dev/") && !view.Dead(m.Mount.Dev) {
			sources[m.Mount.Source] = true
		}
	}
	groups := map[probes.Dev]*dead{}
	var order []probes.Dev
	for _, m := range view.VolumePaths() {
		if !sources[m.Mount.Source] || !view.Dead(m.Mount.Dev) || p.VolumeOfPath(view.Name, m.Mount.Point) == v {
			continue
		}
		g := groups[m.Mount.Dev]
		if g == nil {
			g = &dead{volume: p.VolumeOfPath(view.Name, m.Mount.Point), view: view, dev: m.Mount.Dev}
			g.judge(p, m)
			groups[m.Mount.Dev], order = g, append(order, m.Mount.Dev)
		}
		g.mounts = append(g.mounts, m)
	}
	for _, dev := range order {
		reportNamesake(p, v, *groups[dev], why)
	}
}

func reportNamesake(p *diagnosis.Pass, v *snapshot.Volume, d dead, why string) {
	f := p.Find(report.Likely, diagnosis.DeviceSubject(d.view.Name, d.dev)).On(v).On(d.volume).Located(d.view.Name)
	f.Device(d.view.Name, d.dev)
	other := "a volume that the API does not know"
	if d.volume != nil {
		other = "volume " + volumeName(d.volume)
	}
	f.Sayf("On node %s %s still mounted from %s: %s. They are leftovers of %s, but their source has the same name as the disk of volume %s, which is alive. "+
		"The kubelet counts references by that name, finds more than its own and does not unmount volume %s, although %s.",
		d.view.Name, d.paths(), d.name(), d.reason, other, volumeName(v), volumeName(v), why)
	for _, m := range d.mounts {
		f.Fact(tableLine(d.view.Name, d.view.Init, m.Mount))
	}
	for _, m := range p.VolumeMounts(v, d.view.Name) {
		f.Fact(tableLine(d.view.Name, d.view.Init, m.Mount))
	}
	f.Fact(d.facts...)
	f.Explains = []string{"unmount-blocked", "detach-stuck", "multi-attach-error", "pod-stuck-terminating", "pod-waiting-for-volume"}
	f.Missing("the kubelet's own words about the references that it counts")
	f.Unless("another source name in the leftover mounts")
	d.advise(p, f, d.podsOf(p))
	p.Report(f)
}
