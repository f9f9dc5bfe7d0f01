package provision

import (
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/rbac"
)

// barred reads the fresh words of a Ready provisioner to which the API server denies what it
// works with.
func (s *Silence) barred() bool {
	r, pod, denied := rbac.Denied(s.pl.X, s.Pods, "provisioner", rbac.Refusal.Matters)
	if !denied.Yes() {
		return false
	}
	s.Kind, s.Pod, s.Account = "barred", pod, r.Namespace+"/"+r.Account
	s.Why = fmt.Sprintf("its provisioner runs, and the API server does not let its ServiceAccount %s %s %s", s.Account, r.Verb, r.Resource)
	s.State = append(s.State, denied)
	return true
}
