package longhorn

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// volumeOf returns the Longhorn volume, or nil for other drivers.
func volumeOf(v *snapshot.Volume) *snapshot.LHVolume {
	if v.Longhorn == nil {
		return nil
	}
	return v.Longhorn.Volume
}

func used(v *snapshot.Volume) bool { return lh.Used(v) }

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
