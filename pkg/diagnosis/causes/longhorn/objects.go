package longhorn

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// volumeOf returns the Longhorn volume, or nil for other drivers.
func volumeOf(v *snapshot.Volume) *snapshot.LHVolume {
	if v.Longhorn == nil {
		return nil
	}
	return v.Longhorn.Volume
}

// used tells whether pods use the volume: the pods that were read, or, where those of
// its namespace are missing as in a support bundle, the ones that Longhorn notes as present.
func used(v *snapshot.Volume) bool {
	if len(v.Live()) > 0 {
		return true
	}
	lh := volumeOf(v)
	if lh == nil || lh.Status.Kubernetes.LastPodRefAt != "" || len(v.Consumers) > 0 {
		return false
	}
	return slices.ContainsFunc(lh.Status.Kubernetes.Workloads, func(w snapshot.LHWorkload) bool {
		return w.PodStatus == "Running" || w.PodStatus == "Pending"
	})
}

// describe is how Longhorn itself calls the volume's condition.
func describe(v *snapshot.LHVolume) string {
	return strings.TrimSpace(v.Status.State + " " + v.Status.Robustness)
}

func controller(pod *corev1.Pod) *metav1.OwnerReference { return metav1.GetControllerOf(pod) }

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
