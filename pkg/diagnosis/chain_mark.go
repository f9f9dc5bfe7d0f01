package diagnosis

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// mark points at the row that each root cause is about. Without a cause it
// points at the objects of unexplained symptoms.
func (c *chain) mark(roots []*Finding) {
	for _, f := range roots {
		if f.rule.Severity == report.Risk || f.Waiting {
			continue
		}
		if i := c.rowOf(f); i >= 0 {
			c.rows[i].Broken = true
		} else if !c.foreign(f) {
			c.markSymptom(f)
		}
	}
	for _, f := range roots {
		if name := c.alongside(f); name != "" && !slices.ContainsFunc(c.rows, func(r row) bool { return r.Broken }) && !f.Waiting {
			c.add(row{Link: report.Link{Kind: "Step", Name: name, State: "fails", Broken: true}})
		}
	}
	if len(roots) > 0 {
		return
	}
	var shown []*Symptom // by objects that suffer, and no step
	stops := false
	for _, z := range c.first() {
		if c.markStep(z) {
			stops = true
		} else {
			shown = append(shown, z.s)
		}
	}
	for _, s := range shown {
		for i := range c.rows {
			c.rows[i].Broken = c.rows[i].Broken || !stops && c.rows[i].subject == s.Subject.String()
		}
	}
}

// markSymptom points at the step that a cause keeps from happening, of the symptom that tells most.
func (c *chain) markSymptom(f *Finding) {
	var all []puzzle
	for _, s := range c.p.symptoms {
		if !s.Past && !s.quiet() && slices.Contains(s.explainedBy, f) {
			all = append(all, c.p.puzzleOf(s))
		}
	}
	slices.SortStableFunc(all, func(a, b puzzle) int { return a.telling() - b.telling() })
	_ = slices.ContainsFunc(all, c.markStep) // the first that has a row
}

// first are the symptoms with which the volumes stop, of each volume the one that tells most.
func (c *chain) first() []puzzle {
	var out []puzzle
	for _, s := range c.p.symptoms {
		if s.Past || s.quiet() {
			continue
		}
		z := c.p.puzzleOf(s)
		switch i := slices.IndexFunc(out, func(o puzzle) bool { return o.volume == z.volume && z.volume != nil }); {
		case i < 0:
			out = append(out, z)
		case z.telling() < out[i].telling():
			out[i] = z
		}
	}
	return out
}

// stepRows are the rows at which steps show that nobody explains.
var stepRows = map[Step][]string{
	Provisioning: {"PersistentVolumeClaim"}, Resizing: {"PersistentVolumeClaim"}, Modifying: {"PersistentVolumeClaim"}, Attaching: {"VolumeAttachment", "PersistentVolume"},
	Detaching: {"VolumeAttachment", "PersistentVolume"}, Serving: {"ShareManager"},
}

// markStep points at the step at which a volume stops: its own row, or one behind all
// that works, for what happens on the node.
func (c *chain) markStep(z puzzle) bool {
	for _, kind := range stepRows[z.step] {
		for i := range c.rows {
			if c.rows[i].Kind == kind && (kind != "VolumeAttachment" || z.node == "" || strings.HasSuffix(c.rows[i].Note, " "+z.node)) {
				c.rows[i].Broken = true
				return true
			}
		}
	}
	does, _ := actsOf(z.step)
	if z.volume == nil || stepRows[z.step] != nil || does == "" {
		return false
	}
	on := ""
	if z.node != "" {
		on = " on " + z.node
	}
	c.add(row{Link: report.Link{Kind: "Step", Name: does + on, State: "fails", Broken: true}, node: z.node})
	return true
}

// alongside names the volume of a cause that is not in the table, where a pod that is there uses it, too.
func (c *chain) alongside(f *Finding) string {
	if !c.foreign(f) {
		return ""
	}
	for _, v := range c.p.volumesOf(&f.Keys) {
		for _, w := range v.Live() {
			if !slices.ContainsFunc(c.rows, func(r row) bool { return r.subject == PodSubject(w.Pod).String() }) {
				continue
			}
			if _, claim := v.ClaimRef(); claim != "" {
				return "its claim " + claim
			}
			return "its volume " + w.Volume
		}
	}
	return ""
}

// foreign tells whether a cause is about volumes, and none of them is in the table.
func (c *chain) foreign(f *Finding) bool {
	about := ofVolumes(f)
	return len(about) > 0 && !slices.ContainsFunc(c.rows, func(r row) bool { return slices.Contains(about, r.volume) })
}

// ofVolumes are the keys of the volumes that a cause is about.
func ofVolumes(f *Finding) []string {
	return evidence.Keep(f.objects.list, func(o string) bool { return strings.HasPrefix(o, "volume/") })
}

// suffers tells whether a cause that is no plugin's keeps an attachment from being made or undone.
func (c *chain) suffers(r row, f *Finding) bool {
	return f.rule.Layer == Attach && !slices.Contains([]string{"Pod", "DaemonSet", "Node"}, f.Subject.Kind) && r.Kind == "VolumeAttachment" && slices.ContainsFunc(c.p.symptoms, func(s *Symptom) bool {
		return !s.Past && s.Subject.String() == r.subject && slices.Contains(s.explainedBy, f)
	})
}

// rowOf finds the row of a cause: its subject; else a device of its keys; else an attachment that suffers
// from it; else the first row of its layer on its node, or anywhere. The order of the table is the order in
// which links must work, so the first match is the first broken one.
func (c *chain) rowOf(f *Finding) int {
	subject, about := f.Subject.String(), ofVolumes(f)
	tests := []func(row) bool{
		func(r row) bool { return r.subject == subject || sameName(r.subject, f.Subject) },
		func(r row) bool { return f.Subject.Kind == "Replica" && r.Kind == "Replicas" },
		func(r row) bool { return r.Kind == "Device" && f.about(r.subject) },
		func(r row) bool { return c.suffers(r, f) },
		func(r row) bool { return r.State == ofPod && slices.Contains(about, r.volume) },
		func(r row) bool {
			return r.layer == f.rule.Layer && r.node != "" && len(f.at.list) > 0 && r.node == f.at.list[0]
		},
		func(r row) bool { // of no volume here
			return r.Kind == "Pod" && len(about) == 0 && len(f.nodes.list) == 0 && f.objects.has("pod/"+r.Name)
		},
		func(r row) bool {
			return r.Kind == "Device" && len(about) > 0 && len(f.at.list) > 0 && r.node == f.at.list[0]
		},
		func(r row) bool { return r.Kind == "Node" && len(f.at.list) > 0 && r.node == f.at.list[0] },
		func(r row) bool { return r.layer == f.rule.Layer },
	}
	if c.foreign(f) {
		tests = tests[:1]
	}
	for _, test := range tests {
		for i, r := range c.rows {
			if (r.volume == "" || len(about) == 0 || slices.Contains(about, r.volume)) && test(r) {
				return i
			}
		}
	}
	return -1
}

// sameName compares Longhorn objects, whose rows carry no namespace.
func sameName(row string, s report.Subject) bool {
	return s.Namespace != "" && row == s.Kind+" "+s.Name
}

// about tells whether the keys of a finding hold the device of a row.
func (f *Finding) about(subject string) bool {
	name, ok := strings.CutPrefix(subject, "Device ")
	return ok && f.objects.has("device/"+name)
}
