package provision

import (
	"fmt"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/rbac"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

var mayNot = pattern.MustCompile(`is forbidden: User "(system:serviceaccount:([^":]+):([^":]+))" cannot (\w+) resource "([\w/]+)"`)

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
			m := mayNot.FindStringSubmatch(strings.ReplaceAll(l.Text, `\"`, `"`))
			if m == nil || strings.HasPrefix(m[5], "events") {
				continue
			}
			s.Kind, s.Pod, s.Account = "barred", pod, m[2]+"/"+m[3]
			s.Why = fmt.Sprintf("its provisioner runs, and the API server does not let its ServiceAccount %s %s %s", s.Account, m[4], m[5])
			resource, _, _ := strings.Cut(m[5], "/")
			s.State = append(s.State, evidence.Yes(l.Evidence()).With(rbac.Says(x, m[2], m[3], resource)...))
			return true
		}
	}
	return false
}
