package diagnosis

import (
	"slices"
	"strings"

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

// rowOf finds the row of a cause: its subject; else a device of its keys; else
// the first row of its layer on its node, or anywhere. The order of the table is
// the order in which links must work, so the first match is the first broken one.
func (c *chain) rowOf(f *Finding) int {
	subject := f.Subject.String()
	tests := []func(row) bool{
		func(r row) bool { return r.subject == subject || sameName(r.subject, f.Subject) },
		func(r row) bool { return f.Subject.Kind == "Replica" && r.Kind == "Replicas" },
		func(r row) bool { return r.Kind == "Device" && f.about(r.subject) },
		func(r row) bool {
			return r.layer == f.rule.Layer && r.node != "" && len(f.at.list) > 0 && r.node == f.at.list[0]
		},
		func(r row) bool { return r.Kind == "Device" && len(f.at.list) > 0 && r.node == f.at.list[0] },
		func(r row) bool { return r.Kind == "Node" && len(f.at.list) > 0 && r.node == f.at.list[0] },
		func(r row) bool { return r.layer == f.rule.Layer },
	}
	for _, test := range tests {
		for i, r := range c.rows {
			if test(r) {
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
