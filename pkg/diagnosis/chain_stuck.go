package diagnosis

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// stuck lists the volumes with a symptom, with the cause that explains it.
func (c *chain) stuck(roots []*Finding) {
	on := map[string][]*Symptom{}
	for _, s := range c.p.symptoms {
		for _, o := range s.objects.list {
			on[o] = append(on[o], s)
		}
	}
	for _, v := range c.p.scope.volumes {
		var names []string
		note := "unexplained"
		for _, s := range on[v.Key()] {
			if s.Past || s.quiet() {
				continue
			}
			names = add(names, s.Name)
			if len(s.explainedBy) > 0 && note == "unexplained" {
				note = s.explainedBy[0].Cause
			}
		}
		if names == nil {
			continue
		}
		kind, name := volumeName(v)
		c.add(row{Link: report.Link{Kind: kind, Name: name, State: strings.Join(names, ", "), Note: note, Broken: true}})
	}
	if c.p.Question.Kind == "node" {
		c.node(c.p.Question.Name)
		c.mark(roots)
	}
}

// volumeName is the claim where there is one, as a person would say it.
func volumeName(v *snapshot.Volume) (kind, name string) {
	if ns, claim := v.ClaimRef(); claim != "" {
		return "PersistentVolumeClaim", ns + "/" + claim
	}
	if v.PVName() != "" {
		return "PersistentVolume", v.PVName()
	}
	return "Volume", strings.TrimPrefix(v.Key(), "volume/")
}
