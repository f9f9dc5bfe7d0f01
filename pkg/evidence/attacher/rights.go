package attacher

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/rbac"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Refusal is what the Kubernetes API does not let the attacher do.
type Refusal struct{ User, Verb, Resource string }

// Says is what it cannot do with attachments: it may not even see them ("unread"), or not write
// down what it did ("unwritten").
func (r Refusal) Says() string {
	if r.Verb == "list" || r.Verb == "watch" || r.Verb == "get" {
		return "unread"
	}
	return "unwritten"
}

var mayNot = pattern.MustCompile(`volumeattachments\S* .*is forbidden: User "([^"]+)" cannot (\w+) resource "(volumeattachments(?:/status)?)"`)

// Forbidden asks for the attacher's own fresh words that it may not write or read attachments.
func (a Attacher) Forbidden() (Refusal, evidence.Answer) {
	if !a.Slow {
		return Refusal{}, evidence.No()
	}
	for _, pod := range a.Pods {
		for l := range evidence.Lines(a.pl.X.LogsOf(pod.Namespace, pod.Name)) {
			if l.Previous || !strings.Contains(l.Text, "is forbidden: User") {
				continue
			}
			if m := mayNot.FindStringSubmatch(strings.ReplaceAll(l.Text, `\"`, `"`)); m != nil && l.Within(a.pl.X, 10*time.Minute) {
				return Refusal{m[1], m[2], m[3]}, evidence.Yes(l.Evidence()).With(a.rights(m[1])...)
			}
		}
	}
	return Refusal{}, evidence.No()
}

// rights quotes what the roles of an account ("system:serviceaccount:NAMESPACE:NAME") say
// about attachments.
func (a Attacher) rights(user string) []report.Evidence {
	parts := strings.Split(user, ":")
	if len(parts) != 4 {
		return nil
	}
	return rbac.Says(a.pl.X, parts[2], parts[3], "volumeattachments")
}

// LacksVerb asks whether an attacher that serves has roles which were all read and do not
// let it write what it did. Attachers before 3.0 update the object itself.
func (a Attacher) LacksVerb() evidence.Answer {
	if a.Leader == nil || !a.Slow || !snapshot.PodServes(a.Leader) {
		return evidence.No()
	}
	ns, account := a.Leader.Namespace, a.Leader.Spec.ServiceAccountName
	_, is := rbac.Lacks(a.pl.X, ns, account, "volumeattachments", rbac.Right{Resource: "volumeattachments/status", Verb: "patch"})
	if old(a.Leader.Spec.Containers) && !is.No() {
		_, update := rbac.Lacks(a.pl.X, ns, account, "volumeattachments", rbac.Right{Resource: "volumeattachments", Verb: "update|patch"})
		return evidence.All(is, update)
	}
	return is
}

// old tells whether the sidecar is older than the status subresource's use
// (external-attacher 3.0), or of an unknown version.
func old(containers []corev1.Container) bool {
	for _, c := range containers {
		if !strings.Contains(c.Image, "attacher") {
			continue
		}
		_, tag, ok := strings.Cut(c.Image[strings.LastIndex(c.Image, "/")+1:], ":")
		tag = strings.TrimPrefix(tag, "v")
		return !ok || tag == "" || tag[0] < '3' || tag[0] > '9'
	}
	return true
}
