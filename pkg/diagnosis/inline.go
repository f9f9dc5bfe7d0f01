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
	if !nameless(f.Subject) && !slices.ContainsFunc(f.facts.list, func(e report.Evidence) bool { return strings.HasPrefix(e.Locator, noPV) }) {
		return
	}
	c := p.inlineUser(&f.Keys)
	if c == nil {
		return
	}
	if nameless(f.Subject) {
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

// nameless tells whether an object of a volume is meant that there is not.
func nameless(s report.Subject) bool {
	return strings.HasPrefix(s.Kind, "PersistentVolume") && s.Name == ""
}

// inlineUser is who names the source of the volume without PV and claim that is among the keys; nil: none is.
func (p *Pass) inlineUser(k *Keys) *snapshot.Consumer {
	for _, v := range p.Volumes() {
		if v.Inline && k.objects.has(v.Key()) {
			if live := v.Live(); len(live) > 0 {
				return live[0]
			}
			return v.Consumers[0]
		}
	}
	return nil
}
