package provision

import (
	"fmt"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/rbac"
)

// barred reads the fresh words of a Ready provisioner to which the API server denies what it
// works with: its lease, and the lists without which it does not begin. What it may not write
// down besides (events) keeps it from nothing.
func (s *Silence) barred() bool {
	x := s.pl.X
	for _, pod := range s.Pods {
		for l := range evidence.Lines(x.LogsOf(pod.Namespace, pod.Name)) {
			if l.Previous || !strings.Contains(l.Container, "provisioner") || !strings.Contains(l.Text, "is forbidden: User") || !l.Within(x, 10*time.Minute) {
				continue
			}
			r, ok := rbac.RefusedIn(l.Text)
			if !ok || strings.HasPrefix(r.Resource, "events") {
				continue
			}
			s.Kind, s.Pod, s.Account = "barred", pod, r.Namespace+"/"+r.Account
			s.Why = fmt.Sprintf("its provisioner runs, and the API server does not let its ServiceAccount %s %s %s", s.Account, r.Verb, r.Resource)
			resource, _, _ := strings.Cut(r.Resource, "/")
			s.State = append(s.State, evidence.Yes(l.Evidence()).With(rbac.Says(x, r.Namespace, r.Account, resource)...))
			return true
		}
	}
	return false
}
