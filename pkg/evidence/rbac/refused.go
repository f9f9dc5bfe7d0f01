package rbac

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// fresh is how old the words of a sidecar may be that is still refused: it asks again every few seconds to minutes.
const fresh = 10 * time.Minute

var mayNot = pattern.MustCompile(`forbidden: User "system:serviceaccount:([^":]+):([^":]+)" cannot (\w+) resource "([\w/]+)"(?: in API group "([\w.-]*)")?(?: in the namespace "([\w-]+)")?`)

// Refusal is what the API server says that a service account may not do.
// In is the namespace of what it asked for; empty: it asked for all of them, or for what has none.
type Refusal struct{ Namespace, Account, Verb, Resource, Group, In string }

// User is the account as the authorizer names it.
func (r Refusal) User() string { return "system:serviceaccount:" + r.Namespace + ":" + r.Account }

// Role is what may grant it: what lies in one namespace is granted there (leases of a leader, Secrets).
func (r Refusal) Role() string {
	if r.In != "" {
		return "a Role in namespace " + r.In
	}
	return "its ClusterRole"
}

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
	out = append(out, "--as="+r.User())
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

// Denied finds, in the fresh words of a sidecar's containers, what the API server does not let it do that counts: its
// lease, the lists without which it does not begin, the objects that it writes. One that has begun since then is let
// lead and list.
func Denied(x *snapshot.Index, pods []*corev1.Pod, container string, counts func(Refusal) bool) (Refusal, *corev1.Pod, evidence.Answer) {
	for _, pod := range pods {
		begun := false
		for l := range evidence.Lines(x.LogsOf(pod.Namespace, pod.Name)) { // newest first
			if l.Previous || !strings.Contains(l.Container, container) {
				continue
			}
			begun = begun || evidence.ContainsAny(l.Text, begins...)
			if !strings.Contains(l.Text, "forbidden: User") || !l.Within(x, fresh) {
				continue
			}
			if r, ok := RefusedIn(l.Text); ok && counts(r) && !(begun && r.Stops()) {
				return r, pod, evidence.Yes(l.Evidence()).With(r.says(x)...)
			}
		}
	}
	return Refusal{}, nil, evidence.No()
}

// begins are what a sidecar says when it leads, and when its lists are there (client-go: tools/leaderelection; the
// controllers of external-attacher, -resizer and sig-storage-lib-external-provisioner).
var begins = []string{"successfully acquired lease", "became leader", "Starting CSI attacher", "Starting external resizer", "Starting provisioner controller", "Started provisioner controller"}

// Stops tells whether nothing at all is done without it: who may not lead or list does not begin.
func (r Refusal) Stops() bool {
	return r.Verb == "list" || r.Verb == "watch" || r.Resource == "leases" || r.Resource == "endpoints" // locks of leaders, new and old
}

// Matters tells whether a sidecar needs it: what it may not write down besides (events) keeps it from nothing.
func (r Refusal) Matters() bool { return r.Family() != "events" }

// Family is the resource without the part of it.
func (r Refusal) Family() string {
	family, _, _ := strings.Cut(r.Resource, "/")
	return family
}

// says quotes what the account's ClusterRoles grant of it.
func (r Refusal) says(x *snapshot.Index) []report.Evidence {
	return Says(x, r.Namespace, r.Account, r.Family())
}
