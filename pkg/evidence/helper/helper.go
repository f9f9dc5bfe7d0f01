// Package helper answers questions about the pods in which some provisioners do their
// work on a node: make a directory, set a quota, clean up.
package helper

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// roles are the words that a helper's name has before the volume's: local-path makes
// "helper-pod-create-<pv>" or "create-<pv>", OpenEBS "init-<pv>".
var roles = pattern.MustCompile(`^(?:[a-z0-9-]+-)?(create|delete|init|cleanup|quota)-$`)

// roleOf is what a pod of this name does for a volume; empty: it is no helper of it, or one
// that was to make it and is left over, since its claim is bound.
func roleOf(v *snapshot.Volume, pod string) string {
	name := v.Called()
	if name == "" {
		return ""
	}
	before, after, found := strings.Cut(pod, name)
	m := roles.FindStringSubmatch(before)
	if !found || after != "" || m == nil || v.PVName() != "" && m[1] != "delete" && m[1] != "cleanup" {
		return ""
	}
	return m[1]
}

// PodOf is the helper of a volume that is there now, or nil.
func PodOf(pl *evidence.Place) *corev1.Pod {
	return evidence.First(pl.X.HelperPods(pl.Volume.Called()), func(p *corev1.Pod) bool { return roleOf(pl.Volume, p.Name) != "" })
}

// NameOf is the name of the volume's helper: of the pod that is there, or of one that
// events speak of.
func NameOf(pl *evidence.Place) (namespace, name string) {
	if p := PodOf(pl); p != nil {
		return p.Namespace, p.Name
	}
	for _, e := range pl.X.HelperEvents(pl.Volume.Called()) {
		if roleOf(pl.Volume, e.ObjName) != "" {
			return e.ObjNamespace, e.ObjName
		}
	}
	return "", ""
}

// Node is where the helper works: its own node, else the one that the scheduler chose.
func Node(pl *evidence.Place) string {
	if p := PodOf(pl); p != nil && p.Spec.NodeName != "" {
		return p.Spec.NodeName
	}
	return snapshot.ChosenNode(pl.Volume.Claim)
}

const (
	young = 30 * time.Second
	fresh = 10 * time.Minute
)

// limit is how long a provisioner gives its helper, unless it is told otherwise (cmdTimeoutSeconds of local-path's
// ConfigMap).
const limit = 2 * time.Minute

// AtWork is the helper that makes the volume of a claim since a moment ago, or nil: nothing hinders it, and no try
// before it failed lately.
func AtWork(pl *evidence.Place) *corev1.Pod {
	pod := PodOf(pl)
	if pod == nil || pl.Volume.PVName() != "" || pod.DeletionTimestamp != nil || pl.X.Age(pod.CreationTimestamp.Time) >= limit || TimedOut(pl).Yes() || StuckOf(pl).Is.Yes() {
		return nil
	}
	return pod
}

// timedOut is how local-path and OpenEBS hostpath end a try.
var timedOut = pattern.MustCompile(`failed to (create|delete) volume \S+: (create|delete|cleanup) process timeout after \d+ seconds|helper pod|process timeout after`)

// TimedOut asks whether the provisioner gave up waiting for its helper lately.
func TimedOut(pl *evidence.Place) evidence.Answer {
	return pl.Refused().Say(func(t evidence.Text) bool { return !t.Ordinary && timedOut.MatchString(t.Raw) })
}
