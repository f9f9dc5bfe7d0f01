// Package pods answers questions about pods: what their volumes name, whether they were
// placed, and why their containers do not start.
package pods

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Missing is a thing that a volume of a pod names and that is not there as it should be.
type Missing struct {
	Kind, Name string // Secret, ConfigMap, ServiceAccount or PersistentVolumeClaim of the pod's namespace
	Key        string // when only a key of it is missing
	Foreign    bool   // the claim exists and belongs to another pod
	Left       bool   // that pod had this one's name, so it is gone: the garbage collector takes the claim, too
	Going      bool   // it does so since a moment ago
	Driver     bool   // a CSI driver wants it, and says so
	Template   bool   // a StatefulSet makes the claim beside the pod
	Own        bool   // Kubernetes makes the claim for the pod, which would not take one of somebody else
	Refused    bool   // it was to be made, and was not
	Volume     string // the pod's name for the volume
	Is         evidence.Answer
}

// MissingSources lists what the volumes of a pod that was not started name in vain.
// Claims are judged by their list; Secrets and ConfigMaps, which are not read, by what
// kubelet says of them: it asked the API server itself.
func MissingSources(pl *evidence.Place) []Missing {
	var out []Missing
	for i := range pl.Pod.Spec.Volumes {
		v := &pl.Pod.Spec.Volumes[i]
		if m, ok := missingClaim(pl, v); ok {
			out = append(out, m)
			continue
		}
		for _, s := range objectsOf(pl.Pod, v) {
			if m, ok := s.missing(pl, v.Name); ok {
				out = append(out, m)
			}
		}
	}
	return out
}

// Unstarted asks whether a pod shall run and was never started.
func Unstarted(pod *corev1.Pod) evidence.Answer {
	phase := pod.Status.Phase
	return evidence.When((phase == corev1.PodPending || phase == "") && pod.DeletionTimestamp == nil,
		evidence.FromPod(pod, "status.phase", string(phase)))
}

// Object is how a pod is called in evidence.
func Object(pod *corev1.Pod) string { return "Pod " + pod.Namespace + "/" + pod.Name }

// Young tells whether a pod is younger than what others need to make its objects.
func Young(x *snapshot.Index, pod *corev1.Pod, age time.Duration) bool {
	return x.Age(pod.CreationTimestamp.Time) < age
}

func missingClaim(pl *evidence.Place, v *corev1.Volume) (Missing, bool) {
	pod, field := pl.Pod, "persistentVolumeClaim.claimName"
	name := ""
	switch {
	case v.PersistentVolumeClaim != nil:
		name = v.PersistentVolumeClaim.ClaimName
	case v.Ephemeral != nil:
		name, field = pod.Name+"-"+v.Name, "ephemeral"
	default:
		return Missing{}, false
	}
	m := Missing{Kind: "PersistentVolumeClaim", Name: name, Volume: v.Name}
	named := evidence.FromPod(pod, "spec.volumes["+v.Name+"]."+field, name)
	claim := pl.X.Claim(pod.Namespace, name)
	switch {
	case claim == nil:
		said := unmade(pl, v.Name)
		m.Template = pl.X.TopOwner(pod).Kind == "StatefulSet" && name == v.Name+"-"+pod.Name
		m.Own, m.Refused = v.Ephemeral != nil, len(said) > 0
		m.Is = evidence.Resource(pl.X, "/persistentvolumeclaims").Nothing(append(said, named,
			evidence.FromAPI("PersistentVolumeClaim "+pod.Namespace+"/"+name, "metadata", "does not exist"))...)
		return m, true
	case v.Ephemeral != nil && pod.UID != "" && !ownedBy(claim, pod):
		m.Foreign, m.Left = true, ownedByNamesake(claim, pod)
		m.Going = m.Left && claim.DeletionTimestamp != nil && pl.X.Age(claim.DeletionTimestamp.Time) < collected
		m.Is = evidence.Yes(named, evidence.FromAPI("PersistentVolumeClaim "+pod.Namespace+"/"+name, "metadata.ownerReferences", "do not name the pod"))
		return m, true
	}
	return m, false
}

// unmade are the words of the controller that makes the claims of pods about one of their volumes
// (syncHandler in pkg/controller/volume/ephemeral/controller.go: reason and beginning are these).
func unmade(pl *evidence.Place, volume string) []report.Evidence {
	for _, e := range slices.Backward(pl.X.Events("Pod", pl.Pod.Namespace, pl.Pod.Name)) {
		if e.Reason == "FailedBinding" && strings.HasPrefix(e.Message, "ephemeral volume "+volume+": ") {
			return []report.Evidence{evidence.FromEvent(Object(pl.Pod), e)}
		}
	}
	return nil
}

// collected is how long the garbage collector and the protection of a claim may take.
const collected = 2 * time.Minute

// ownedByNamesake tells whether a claim was made for a pod that had this one's name before, as those of a StatefulSet have.
func ownedByNamesake(claim *corev1.PersistentVolumeClaim, pod *corev1.Pod) bool {
	return slices.ContainsFunc(claim.OwnerReferences, func(o metav1.OwnerReference) bool {
		return o.Kind == "Pod" && o.Name == pod.Name && o.UID != pod.UID
	})
}

func ownedBy(claim *corev1.PersistentVolumeClaim, pod *corev1.Pod) bool {
	return slices.ContainsFunc(claim.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == pod.UID })
}

// source is a Secret, ConfigMap or ServiceAccount that a volume takes content from.
type source struct {
	kind, name string
	keys       []string // those that it names
	optional   bool
}

func objectsOf(pod *corev1.Pod, v *corev1.Volume) []source {
	var out []source
	yes := func(b *bool) bool { return b != nil && *b }
	secret := func(name string, items []corev1.KeyToPath, optional *bool) {
		out = append(out, source{"Secret", name, keysOf(items), yes(optional)})
	}
	config := func(name string, items []corev1.KeyToPath, optional *bool) {
		out = append(out, source{"ConfigMap", name, keysOf(items), yes(optional)})
	}
	if s := v.Secret; s != nil {
		secret(s.SecretName, s.Items, s.Optional)
	}
	if c := v.ConfigMap; c != nil {
		config(c.Name, c.Items, c.Optional)
	}
	if v.CSI != nil {
		for _, key := range slices.Sorted(maps.Keys(v.CSI.VolumeAttributes)) {
			out = append(out, source{kind: driverKind, name: v.CSI.VolumeAttributes[key]})
		}
	}
	if v.Projected != nil {
		for _, p := range v.Projected.Sources {
			if p.Secret != nil {
				secret(p.Secret.Name, p.Secret.Items, p.Secret.Optional)
			}
			if p.ServiceAccountToken != nil {
				out = append(out, source{kind: "ServiceAccount", name: pod.Spec.ServiceAccountName})
			}
			if p.ConfigMap != nil {
				config(p.ConfigMap.Name, p.ConfigMap.Items, p.ConfigMap.Optional)
			}
		}
	}
	return out
}

// driverKind stands for the kind of what an attribute of an inline volume may name: the driver alone knows.
const driverKind = ""

// absentResource is how the API server says that an object of an add-on does not exist, by its
// kind or resource and its group (apimachinery, pkg/api/errors).
var absentResource = pattern.MustCompile(`\b([A-Za-z]\w+)\.[\w-]+\.[\w.-]+ \\?"([\w.-]+)\\?" not found`)

// driverMisses reads it from what a driver says of an attribute's value.
func (s source) driverMisses(t evidence.Text, volume string) (Missing, bool) {
	m := absentResource.FindStringSubmatch(t.Raw)
	if m == nil || m[2] != s.name || s.kind != driverKind {
		return Missing{}, false
	}
	return Missing{Kind: m[1], Name: s.name, Driver: true, Volume: volume, Is: evidence.Yes(t.Evidence())}, true
}

func keysOf(items []corev1.KeyToPath) []string {
	return evidence.Each(items, func(i corev1.KeyToPath) string { return i.Key })
}

// missing finds the newest thing that kubelet says of a source: that it, or a key of
// it, does not exist. That its caches are not filled yet is no such thing.
func (s source) missing(pl *evidence.Place, volume string) (Missing, bool) {
	if s.optional || s.name == "" {
		return Missing{}, false
	}
	absent := map[string]message.Kind{"Secret": message.SecretNotFound, "ConfigMap": message.ConfigMapNotFound, "ServiceAccount": message.NoAccount}[s.kind]
	for _, t := range pl.Refused() {
		if t.Spec != volume || !strings.HasPrefix(t.Op, "MountVolume.") {
			continue
		}
		if m, ok := s.driverMisses(t, volume); ok {
			return m, true
		}
		if absent != "" && t.Is(absent) && strings.Contains(t.Raw, `"`+s.name+`" not found`) && !strings.Contains(t.Raw, `pods "`) {
			return Missing{Kind: s.kind, Name: s.name, Volume: volume, Is: evidence.Yes(t.Evidence())}, true
		}
		if k := s.keyIn(t); k != "" {
			return Missing{Kind: s.kind, Name: s.name, Key: k, Volume: volume, Is: evidence.Yes(t.Evidence())}, true
		}
	}
	return Missing{}, false
}

// keyIn is the key of the source that a text calls missing.
func (s source) keyIn(t evidence.Text) string {
	if !t.Is(message.KeyNotFound) {
		return ""
	}
	for _, k := range s.keys {
		if _, after, ok := strings.Cut(t.Raw, "key: "+k); ok && (after == "" || strings.ContainsAny(after[:1], " ,;\"'])\n")) {
			return k
		}
	}
	return ""
}
