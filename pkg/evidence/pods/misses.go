package pods

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var (
	noObject = pattern.MustCompile(`(?i)\b(secret|configmap) "([^"\s]+)" not found`)
	noKey    = pattern.MustCompile(`couldn't find key \S+ in (Secret|ConfigMap) \S*?([^/\s]+)$`) // kuberuntime, of an environment variable
)

// Misses names the Secret or ConfigMap that a pod cannot start without and that is not there, as its kubelet says it
// now; empty: none is named.
func Misses(x *snapshot.Index, pod *corev1.Pod) string {
	for _, c := range snapshot.Statuses(pod) {
		if w := c.State.Waiting; w != nil && w.Reason == "CreateContainerConfigError" {
			if name := missedIn(pod, w.Message); name != "" {
				return name
			}
		}
	}
	for _, e := range x.Events("Pod", pod.Namespace, pod.Name) {
		if e.Reason == "FailedMount" && e.Component == "kubelet" && !Started(pod) && x.Fresh(e, pod.CreationTimestamp.Time) {
			if name := missedIn(pod, e.Message); name != "" {
				return name
			}
		}
	}
	return ""
}

func missedIn(pod *corev1.Pod, text string) string {
	if m := noKey.FindStringSubmatch(strings.TrimSpace(text)); m != nil {
		return "a key of " + m[1] + " " + pod.Namespace + "/" + m[2]
	}
	if m := noObject.FindStringSubmatch(text); m != nil {
		kind := map[bool]string{true: "Secret", false: "ConfigMap"}[strings.EqualFold(m[1], "secret")]
		return kind + " " + pod.Namespace + "/" + m[2]
	}
	return ""
}

// Waits says what keeps a pod from starting: an object that it misses, else what its first container waits for; empty
// where nothing says so.
func Waits(x *snapshot.Index, pod *corev1.Pod) string {
	why := Hindrance(pod)
	if name := Misses(x, pod); name != "" {
		return cmp.Or(why, "it is not started") + ", as " + name + " is not there"
	}
	return why
}
