package attacher

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/rbac"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Forbidden asks for fresh words that the API server does not let the driver's controller do what an attachment needs,
// the attacher's own or those in its last error; and in which way it fails ("unread": it may not even see the
// attachments, "unwritten": it may not write down what it did, "unequipped": it lacks what it works with).
func (a Attacher) Forbidden() (way string, r rbac.Refusal, is evidence.Answer) {
	if !a.Slow {
		return "", r, evidence.No()
	}
	for _, va := range a.Silent {
		if e := failed(va); e != nil && a.pl.X.Age(e.Time.Time) <= holder.DetachBackoff { // an attacher that lives writes a new one
			if r, ok := rbac.RefusedIn(e.Message); ok && a.speaksAs(r) {
				return "unequipped", r, evidence.Yes(evidence.FromAPI("VolumeAttachment "+va.Name, "status", e.Message))
			}
		}
	}
	r, _, is = rbac.Denied(a.pl.X, a.Pods, "attacher", func(r rbac.Refusal) bool {
		return r.Stops() || r.Family() == "volumeattachments" // what else it may not is of another volume, which has its own error
	})
	switch {
	case r.Family() != "volumeattachments":
		way = "unequipped"
	case r.Verb == "list" || r.Verb == "watch" || r.Verb == "get":
		way = "unread"
	default:
		way = "unwritten"
	}
	return way, r, is
}

// speaksAs tells whether it may be the controller's own account that is refused: a driver that works through another
// cluster passes on what that one says of its account there (KubeVirt, Harvester).
func (a Attacher) speaksAs(r rbac.Refusal) bool {
	namespace, account := a.Account()
	return account == "" || namespace == r.Namespace && account == r.Account
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
