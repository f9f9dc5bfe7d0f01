// Package rbac answers what a service account may do in the Kubernetes API.
package rbac

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Right is one verb on one resource ("persistentvolumeclaims/status"); several verbs
// separated by "|" are ways to the same end.
type Right struct{ Resource, Verb string }

func (r Right) String() string {
	verb, _, _ := strings.Cut(r.Verb, "|")
	return verb + " on " + r.Resource
}

// Lacks asks whether the ClusterRoles of an account, which speak of a resource's family,
// lack one of the rights; and names the first that they lack. A role that others are
// aggregated into says nothing.
func Lacks(x *snapshot.Index, namespace, account, family string, rights ...Right) (lacking string, a evidence.Answer) {
	whole := evidence.Resource(x, "rbac.authorization.k8s.io/clusterroles").And(evidence.Resource(x, "rbac.authorization.k8s.io/clusterrolebindings"))
	roles := rolesOf(x, namespace, account)
	aggregated := func(r *rbacv1.ClusterRole) bool { return r.AggregationRule != nil }
	facts := Says(x, namespace, account, family)
	if len(facts) == 0 || slices.ContainsFunc(roles, aggregated) {
		return "", evidence.No()
	}
	for _, want := range rights {
		if !allows(roles, want) {
			return want.String(), whole.Nothing(facts...)
		}
	}
	return "", evidence.No()
}

// Says quotes what the ClusterRoles of an account say about a resource's family.
func Says(x *snapshot.Index, namespace, account, family string) []report.Evidence {
	var out []report.Evidence
	for _, role := range rolesOf(x, namespace, account) {
		for _, r := range role.Rules {
			if slices.ContainsFunc(r.Resources, func(s string) bool { return strings.HasPrefix(s, family) }) {
				out = append(out, evidence.FromAPI("ClusterRole "+role.Name, "rules", strings.Join(r.Resources, ",")+": "+strings.Join(r.Verbs, ",")))
			}
		}
	}
	return out
}

func allows(roles []*rbacv1.ClusterRole, want Right) bool {
	for _, role := range roles {
		for _, r := range role.Rules {
			if !slices.Contains(r.Resources, "*") && !slices.Contains(r.Resources, want.Resource) {
				continue
			}
			for _, verb := range append(strings.Split(want.Verb, "|"), "*") {
				if slices.Contains(r.Verbs, verb) {
					return true
				}
			}
		}
	}
	return false
}

// rolesOf are the ClusterRoles that are bound to a service account everywhere.
func rolesOf(x *snapshot.Index, namespace, account string) []*rbacv1.ClusterRole {
	var out []*rbacv1.ClusterRole
	for _, b := range x.Cluster.ClusterRoleBindings {
		bound := slices.ContainsFunc(b.Subjects, func(s rbacv1.Subject) bool {
			return s.Kind == "ServiceAccount" && s.Namespace == namespace && s.Name == account || s.Kind == "Group" && strings.HasPrefix(s.Name, "system:serviceaccounts")
		})
		for _, r := range x.Cluster.ClusterRoles {
			if bound && r.Name == b.RoleRef.Name {
				out = append(out, r)
			}
		}
	}
	return out
}
