package diagnosis

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// table lists the volumes of the asked node, those that ail first: who uses each, as which
// device, where it is mounted and what ails it there.
func (p *Pass) table() []report.VolumeRow {
	if p.Question.Kind != "node" {
		return nil
	}
	node := p.Question.Name
	ails := p.ailments(node)
	var sick, out []report.VolumeRow
	for _, v := range p.scope.volumes[:len(p.scope.volumes)-p.scope.alsoStored] {
		row := report.VolumeRow{Volume: v.PVName(), Pod: podsOn(v, node), State: p.stateOn(v, node)}
		if v.Inline && len(v.Consumers) > 0 {
			row.Volume = v.Consumers[0].Volume // as the pod beside it calls it
		}
		if row.Volume == "" {
			row.Volume = strings.TrimPrefix(v.Key(), "volume/")
		}
		if ns, name := v.ClaimRef(); name != "" {
			row.Claim = ns + "/" + name
		}
		if d, ok := p.DeviceOn(v, node); ok {
			row.Device = d.Dev.String()
			if d.Block != nil {
				row.Device = d.Block.Name + " " + row.Device
			}
		}
		row.Mount = p.mountOn(v, node)
		if names := ails[v.Key()]; len(names) > 0 {
			row.State = strings.Join(names, ", ")
			sick = append(sick, row)
			continue
		}
		out = append(out, row)
	}
	byClaim := func(a, b report.VolumeRow) int { return cmp.Compare(a.Claim, b.Claim) }
	slices.SortStableFunc(sick, byClaim)
	slices.SortStableFunc(out, byClaim)
	return append(sick, out...)
}

// generic is the symptom of everything that keeps a pod waiting; it is named last.
const generic = "pod-waiting-for-volume"

// ailments are the names of the present symptoms by volume, the most telling first. What
// lies on other nodes alone ails none on this one.
func (p *Pass) ailments(node string) map[string][]string {
	out := map[string][]string{}
	for _, s := range p.symptoms {
		if s.Past || s.quiet() || len(s.at.list) > 0 && !s.at.has(node) {
			continue
		}
		for _, o := range s.objects.list {
			out[o] = add(out[o], s.Name)
		}
	}
	for _, names := range out {
		slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(strings.Count(a, generic), strings.Count(b, generic)) })
	}
	return out
}

func podsOn(v *snapshot.Volume, node string) string {
	list := v.LiveConsumersOn(node)
	switch len(list) {
	case 0:
		return ""
	case 1:
		return pods.Name(list[0].Pod)
	}
	return count(len(list), "pod", "pods")
}

// stateOn says how far a volume came on a node.
func (p *Pass) stateOn(v *snapshot.Volume, node string) string {
	if va := v.AttachmentOn(node); va != nil {
		state, _ := attachState(va)
		return state
	}
	if p.mountOn(v, node) != "" {
		return "in use"
	}
	return ""
}

// mountOn says where the kubelet has the volume mounted, in its own words.
func (p *Pass) mountOn(v *snapshot.Volume, node string) string {
	var kinds []string
	ro := ""
	for _, m := range p.VolumeMounts(v, node) {
		kinds = add(kinds, m.Path.Kind)
		if access(m.Mount) == "read-only" {
			ro = " read-only"
		}
	}
	return strings.TrimSpace(strings.Join(kinds, ", ") + ro)
}
