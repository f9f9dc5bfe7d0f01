package launch

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// harmlessSpec are the fields of a pod that admission fills in or changes without
// any effect on what runs in ours or on what it sees: the API server's own
// defaults, placement (the pod names its node), priority, and where images are
// pulled from (a digest is a digest). Every other field must come back as it was
// sent: a field that Kubernetes gets tomorrow is not harmless by default.
var harmlessSpec = []string{
	"ServiceAccountName", "DeprecatedServiceAccount", "ImagePullSecrets", "SecurityContext", "SchedulerName",
	"Tolerations", "Priority", "PriorityClassName", "PreemptionPolicy", "NodeSelector", "Affinity",
	"TopologySpreadConstraints", "TerminationGracePeriodSeconds", "DNSConfig", "Overhead", "Resources", "SchedulingGates",
	"Containers", // compared one by one
}

var harmlessContainer = []string{
	"Image",           // compared by digest
	"SecurityContext", // privileged and root are compared; more than that there is not to be had
	"ImagePullPolicy", "Resources", "ResizePolicy", "TerminationMessagePath", "TerminationMessagePolicy",
}

// changed names the fields in which a pod came back otherwise than it was sent,
// in a way that matters to who runs privileged on a node. Webhooks may change
// everything; so may, of a running pod, who has the right to add a container.
func changed(sent, got *corev1.Pod) []string {
	out := differing("spec", &sent.Spec, &got.Spec, harmlessSpec)
	for i := range got.Spec.Containers {
		c := &got.Spec.Containers[i]
		if i >= len(sent.Spec.Containers) {
			out = append(out, fmt.Sprintf("spec.containers (%q was added)", c.Name))
			continue
		}
		want := &sent.Spec.Containers[i]
		at := fmt.Sprintf("spec.containers[%d]", i)
		out = append(out, differing(at, want, c, harmlessContainer)...)
		if !sameImage(want.Image, c.Image) {
			out = append(out, fmt.Sprintf("%s.image (%q instead of %q)", at, c.Image, want.Image))
		}
		if !sameRights(want.SecurityContext, c.SecurityContext) {
			out = append(out, at+".securityContext")
		}
	}
	if len(got.Spec.Containers) < len(sent.Spec.Containers) {
		out = append(out, "spec.containers (one is missing)")
	}
	if s := got.Spec.SecurityContext; s != nil && len(s.Sysctls) > 0 {
		out = append(out, "spec.securityContext.sysctls")
	}
	if sent.Name != got.Name || sent.Namespace != got.Namespace {
		out = append(out, "metadata.name")
	}
	return out
}

// differing names the fields of two structures that differ, but for some.
func differing(at string, sent, got any, but []string) []string {
	a, b := reflect.ValueOf(sent).Elem(), reflect.ValueOf(got).Elem()
	var out []string
	for i := range a.NumField() {
		field := a.Type().Field(i)
		if slices.Contains(but, field.Name) || equality.Semantic.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		out = append(out, at+"."+name)
	}
	return out
}

// sameImage allows another name for the same content: clusters with a registry of
// their own rewrite names, and the digest pins the content under each of them.
func sameImage(sent, got string) bool {
	if sent == got {
		return true
	}
	_, a, pinned := strings.Cut(sent, "@")
	_, b, _ := strings.Cut(got, "@")
	return pinned && a == b && digest.MatchString(a)
}

// sameRights tells whether a container is as privileged as it was sent: one that
// is not sees less, and what it does not see would look like nothing.
func sameRights(sent, got *corev1.SecurityContext) bool {
	return got != nil && equality.Semantic.DeepEqual(sent.Privileged, got.Privileged) && equality.Semantic.DeepEqual(sent.RunAsUser, got.RunAsUser)
}

// tampered is the refusal of a pod that came back changed.
func tampered(fields []string) *refusal {
	const most = 6
	more := ""
	if len(fields) > most {
		fields, more = fields[:most], " and more"
	}
	return &refusal{reason: snapshot.PodRejected, detail: clean(fmt.Sprintf(
		"admission, or somebody who may change pods there, changed the probe pod: %s%s; nothing was run in it (ways out: "+
			"--probe-namespace with a namespace that is exempt, --probe-image with the image that is wanted there; %s)",
		strings.Join(fields, ", "), more, wayOut))}
}
