package diagnosis

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// noPV is how a field of a PV is located when there is no such object.
const noPV = "PersistentVolume  "

// nameInline gives what a rule says of a volume without PV and claim to the pod that
// names the source: that is the object which a reader can look at.
func (p *Pass) nameInline(f *Finding) {
	nameless := strings.HasPrefix(f.Subject.Kind, "PersistentVolume") && f.Subject.Name == ""
	if !nameless && !slices.ContainsFunc(f.facts.list, func(e report.Evidence) bool { return strings.HasPrefix(e.Locator, noPV) }) {
		return
	}
	i := slices.IndexFunc(p.Volumes(), func(v *snapshot.Volume) bool { return v.Inline && f.objects.has(v.Key()) })
	if i < 0 {
		return
	}
	c := p.Volumes()[i].Consumers[0]
	if live := p.Volumes()[i].Live(); len(live) > 0 {
		c = live[0]
	}
	if nameless {
		f.Subject = PodSubject(c.Pod)
	}
	facts := f.facts.list
	f.facts = set[report.Evidence]{}
	for _, e := range facts {
		if rest, ok := strings.CutPrefix(e.Locator, noPV); ok {
			e.Locator = "Pod " + c.Pod.Namespace + "/" + c.Pod.Name + " spec.volumes[" + c.Volume + "]" + strings.TrimPrefix(rest, "spec")
		}
		f.facts.add(e)
	}
}
