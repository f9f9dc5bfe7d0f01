package launch

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The marks by which probe pods are recognised, by cleanup and by people.
const (
	NamePrefix       = "mountdoctor-probe-"
	LabelProbe       = "mountdoctor.io/probe"
	LabelRun         = "mountdoctor.io/run"
	AnnotationExpiry = "mountdoctor.io/expires" // RFC 3339, by the clock of the machine that made the pod: for people
	managedBy        = "app.kubernetes.io/managed-by"
	manager          = "kubectl-mountdoctor"
	containerName    = "probe"
)

// PodRequest is everything that a probe pod depends on.
type PodRequest struct {
	Node       string
	Namespace  string
	Image      string
	PullSecret string
	Run        string        // identifies one run of the tool
	Suffix     string        // random; the name is known before the API server answers
	Lifetime   time.Duration // after which the kubelet ends the pod by itself
	Now        time.Time
}

// PodSpec is the probe pod. It sees the machine through the host's process table
// only: no host directory is mounted, because a bind mount of the host's tree
// copies every mount below it and so becomes one more holder of each volume.
func PodSpec(r PodRequest) *corev1.Pod {
	grace, deadline := int64(1), int64(r.Lifetime/time.Second)
	no := false
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: NamePrefix + r.Suffix, Namespace: r.Namespace,
			Labels: map[string]string{
				"app.kubernetes.io/name": "mountdoctor-probe", managedBy: manager,
				LabelProbe: "true", LabelRun: r.Run,
				"sidecar.istio.io/inject": "false",
			},
			Annotations: map[string]string{
				AnnotationExpiry:                                 r.Now.Add(r.Lifetime).UTC().Format(time.RFC3339),
				"linkerd.io/inject":                              "disabled",
				"sidecar.istio.io/inject":                        "false",
				"cluster-autoscaler.kubernetes.io/safe-to-evict": "true",
			},
		},
		Spec: corev1.PodSpec{
			NodeName:                      r.Node,
			RestartPolicy:                 corev1.RestartPolicyNever,
			HostPID:                       true,
			HostNetwork:                   true,
			DNSPolicy:                     corev1.DNSDefault,
			AutomountServiceAccountToken:  &no,
			EnableServiceLinks:            &no,
			TerminationGracePeriodSeconds: &grace,
			ActiveDeadlineSeconds:         &deadline,
			Tolerations:                   []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			Containers:                    []corev1.Container{container(r.Image, deadline)},
		},
	}
	if r.PullSecret != "" {
		pod.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: r.PullSecret}}
	}
	return pod
}

// container only waits; TERM ends it at once, because wait(1) of a shell is
// interrupted by a trapped signal and a foreground sleep is not.
func container(image string, seconds int64) corev1.Container {
	yes, root := true, int64(0)
	pull := corev1.PullIfNotPresent
	if byID(image) {
		pull = corev1.PullNever // an ID is no name: a registry would be asked for "library/sha256"
	}
	return corev1.Container{
		Name:            containerName,
		Image:           image,
		ImagePullPolicy: pull,
		Command:         []string{"sh", "-c", fmt.Sprintf("trap : TERM; sleep %d & wait", seconds)},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("32Mi"),
			},
			Limits: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("384Mi"),
			},
		},
		SecurityContext: &corev1.SecurityContext{Privileged: &yes, RunAsUser: &root},
	}
}
