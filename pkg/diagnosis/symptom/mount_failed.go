package symptom

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/message"
)

// mountFailed: one step of mounting or mapping fails, or a container cannot be
// made because of a mount. A failing MountVolume.WaitForAttach counts, too: the
// kubelet calls it FailedMount.
var mountFailed = &diagnosis.SymptomRule{Name: "mount-failed", Run: func(p *diagnosis.Pass) {
	for _, i := range pods(p) {
		all := p.PodTexts(i.pod)
		kept := 0
		for _, t := range all {
			if !failsToMount(t) {
				continue
			}
			s := &diagnosis.Symptom{Keys: i.keys(i.named(t)), Subject: diagnosis.PodSubject(i.pod)}
			s.Message = fmt.Sprintf("%s cannot mount: %s", capital(podName(i.pod)), quote(t.Desc))
			s.Past = !present(t, i.pod, all)
			if kept < 3 {
				s.Evidence = append(s.Evidence, t.Evidence())
			}
			kept++
			p.AddSymptom(s)
		}
	}
}}

func failsToMount(t diagnosis.Text) bool {
	switch {
	case strings.HasPrefix(t.Op, "MountVolume."), strings.HasPrefix(t.Op, "MapVolume."):
		return true
	case t.Reason == "FailedMount" || t.Reason == "FailedMapVolume":
		return !is(t, message.MountTimeout, message.NotAttachedPerStatus)
	}
	return namesMount(t)
}
