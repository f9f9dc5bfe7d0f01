package rbac

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

var mayNot = pattern.MustCompile(`is forbidden: User "system:serviceaccount:([^":]+):([^":]+)" cannot (\w+) resource "([\w/]+)"(?: in API group "([\w.-]*)")?(?: in the namespace "([\w-]+)")?`)

// Refusal is what the API server says that a service account may not do.
// In is the namespace of what it asked for; empty: it asked for all of them, or for what has none.
type Refusal struct{ Namespace, Account, Verb, Resource, Group, In string }

// CanI are the arguments with which kubectl auth can-i asks for it where it was refused: a Role, as leases have one,
// never grants it anywhere. What follows a slash there is the name of
// an object, and no subresource (kubectl, pkg/cmd/auth/cani.go).
func (r Refusal) CanI() []string {
	resource, sub, has := strings.Cut(r.Resource, "/")
	if r.Group != "" {
		resource += "." + r.Group
	}
	out := []string{"auth", "can-i", r.Verb, resource}
	if has {
		out = append(out, "--subresource="+sub)
	}
	out = append(out, "--as=system:serviceaccount:"+r.Namespace+":"+r.Account)
	if r.In != "" {
		return append(out, "-n", r.In)
	}
	return append(out, "-A")
}

// RefusedIn reads the words of the API server's authorizer in a line of a log or an event.
func RefusedIn(text string) (Refusal, bool) {
	m := mayNot.FindStringSubmatch(strings.ReplaceAll(text, `\"`, `"`))
	if m == nil {
		return Refusal{}, false
	}
	return Refusal{Namespace: m[1], Account: m[2], Verb: m[3], Resource: m[4], Group: m[5], In: m[6]}, true
}
