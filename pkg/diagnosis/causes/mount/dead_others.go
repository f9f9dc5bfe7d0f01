package mount

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// onDiskOf looks from the other side: what is mounted from the volume's own disk at the
// paths of other volumes, whoever's they are. Mounts of the node itself are no business
// of this cause.
func onDiskOf(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView) []dead {
	now, known := p.DeviceOn(v, view.Name)
	if !known || !now.Proven || now.Block == nil {
		return nil
	}
	var out []dead
	for _, m := range view.VolumePaths() {
		o := p.VolumeOfPath(view.Name, m.Mount.Point)
		if m.Mount.Dev != now.Dev || o == v {
			continue
		}
		i := slices.IndexFunc(out, func(d dead) bool { return d.volume == o })
		if i < 0 {
			d := dead{volume: o, victim: v, view: view, dev: m.Mount.Dev}
			if !d.judge(p, m) {
				continue
			}
			out, i = append(out, d), len(out)
		}
		out[i].mounts = append(out[i].mounts, m)
	}
	return out
}

// deadStrays reports, for a question about nodes, mounts of gone devices at paths
// that belong to no volume of the API.
func deadStrays(p *diagnosis.Pass, view *snapshot.NodeView) {
	groups := map[probes.Dev]*dead{}
	var order []probes.Dev
	for _, m := range view.VolumePaths() {
		if !view.Dead(m.Mount.Dev) || p.VolumeOfPath(view.Name, m.Mount.Point) != nil {
			continue
		}
		g := groups[m.Mount.Dev]
		if g == nil {
			g = &dead{view: view, dev: m.Mount.Dev}
			g.judge(p, m)
			groups[m.Mount.Dev], order = g, append(order, m.Mount.Dev)
		}
		g.mounts = append(g.mounts, m)
	}
	for _, dev := range order {
		reportDead(p, *groups[dev])
	}
}
