package launch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Reasons for which a container waits and that do not pass by themselves within
// the time that anybody would wait here: pkg/kubelet/images/types.go and
// pkg/kubelet/container/sync_result.go of Kubernetes.
var (
	imageReasons = []string{"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull",
		"ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed"}
	startReasons = []string{"CreateContainerConfigError", "CreateContainerError", "RunContainerError",
		"PreCreateHookError", "CrashLoopBackOff"}
)

// Pauses between two looks at the pod.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = time.Second
)

// waitRunning returns once the container of a pod runs, or tells why it never
// will. It asks instead of watching: that needs one verb less and survives a
// restart of the API server.
func waitRunning(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, pickup time.Duration) *refusal {
	silence := silence{since: time.Now()}
	var last error
	var current *corev1.Pod
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		asked := time.Now()
		found, err := getPod(ctx, client, pod)
		if err == nil {
			silence.heard(asked, time.Now())
			current = found
			if done, why := judge(current, silence.kubelet > pickup); done || why != nil {
				return why
			}
		} else if why := lost(err); why != nil {
			return why
		}
		last = err
		select {
		case <-ctx.Done():
			return tooLate(ctx, client, current, last, &silence)
		case <-time.After(pause):
		}
	}
}

// silence tells whose silence a wait was: the kubelet's only while the API server
// answered, because what the kubelet reports comes from there.
type silence struct {
	since   time.Time     // the last answer of the API server, or the begin
	kubelet time.Duration // between answers that came without delay
	server  time.Duration // the longest time without an answer
}

// promptly is how long a request for one object may take that nothing delays.
const promptly = 3 * time.Second

func (s *silence) heard(asked, answered time.Time) {
	if gap := answered.Sub(s.since); gap <= promptly+lastPause && answered.Sub(asked) <= promptly {
		s.kubelet += gap
	} else {
		s.server = max(s.server, gap)
		s.kubelet = 0 // the kubelet gets its time anew
	}
	s.since = answered
}

// lost reads an error by which the pod is lost for good; nil: it may pass.
func lost(err error) *refusal {
	var no *refusal
	switch {
	case errors.As(err, &no):
		return no
	case apierrors.IsNotFound(err):
		return gone()
	case apierrors.IsForbidden(err):
		return &refusal{reason: snapshot.Forbidden, detail: "get the probe pod: " + clean(err.Error()) + " (deploy/rbac/probe.yaml grants it)"}
	}
	return nil
}

func gone() *refusal {
	return &refusal{reason: snapshot.PodRejected, detail: "somebody deleted the probe pod while it was in use"}
}

// tooLate says why a wait was cut, and whose silence it was.
func tooLate(ctx context.Context, client kubernetes.Interface, current *corev1.Pod, last error, s *silence) *refusal {
	why := interrupted(ctx, snapshot.StartingProbe)
	if quiet := time.Since(s.since); quiet > promptly {
		s.server = max(s.server, quiet)
	}
	if s.server > promptly {
		why.detail += fmt.Sprintf(": the API server, or a proxy before it, %s for %s, so nothing is known of the node", snapshot.ServerSilent, short(s.server))
	}
	if words := state(ctx, client, current, last); words != "" {
		why.detail += ": " + words
	}
	return why
}

// getPod returns the pod, which must still be the one that was made, unchanged.
func getPod(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod) (*corev1.Pod, error) {
	ctx, cancel := context.WithTimeout(ctx, createTimeout)
	defer cancel()
	found, err := client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	if pod.UID != "" && found.UID != pod.UID {
		return nil, &refusal{reason: snapshot.PodRejected,
			detail: "somebody replaced the probe pod by another one of the same name; nothing that it says is believed"}
	}
	if fields := changed(pod, found); len(fields) > 0 {
		return nil, tampered(fields)
	}
	return found, nil
}

// judge tells whether the pod runs, or why it never will. late means that the
// kubelet should have said something by now.
func judge(pod *corev1.Pod, late bool) (running bool, why *refusal) {
	if pod.DeletionTimestamp != nil {
		return false, gone()
	}
	for _, c := range pod.Status.ContainerStatuses {
		if c.State.Running != nil && c.Name == containerName {
			return true, nil
		}
		if why := refusedState(pod, c.State); why != nil {
			return false, why
		}
	}
	switch {
	case pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded:
		return false, &refusal{reason: snapshot.PodRejected, detail: fmt.Sprintf("the node refused the probe pod: %s",
			orElse(clean(pod.Status.Reason+": "+pod.Status.Message), string(pod.Status.Phase)))}
	case late && pod.Status.StartTime == nil && len(pod.Status.ContainerStatuses) == 0:
		return false, &refusal{reason: snapshot.Timeout, detail: fmt.Sprintf(
			"the kubelet did not take the probe pod up within %s, though the node is called ready", pickupTimeout)}
	}
	return false, nil
}

// refusedState reads the state of the container.
func refusedState(pod *corev1.Pod, s corev1.ContainerState) *refusal {
	image := ""
	if len(pod.Spec.Containers) > 0 {
		image = pod.Spec.Containers[0].Image
	}
	if w := s.Waiting; w != nil {
		words := clean(w.Reason + ": " + w.Message)
		switch {
		case slices.Contains(imageReasons, w.Reason):
			return &refusal{reason: snapshot.ImagePull, next: true, detail: fmt.Sprintf(
				"image %s: %s (ways out: --probe-image with one that the node has or may pull, --probe-pull-secret)", image, words)}
		case slices.Contains(startReasons, w.Reason):
			return notStarted(image, words)
		}
	}
	if t := s.Terminated; t != nil {
		return notStarted(image, clean(fmt.Sprintf("%s: exit code %d %s", t.Reason, t.ExitCode, t.Message)))
	}
	return nil
}

func notStarted(image, words string) *refusal {
	r := &refusal{reason: snapshot.Unsupported, next: true}
	switch {
	case strings.Contains(words, "exec format error"):
		r.detail = fmt.Sprintf("image %s is for another architecture than the node: %s", image, words)
	case strings.Contains(words, "executable file not found"), strings.Contains(words, "no such file or directory"):
		r.detail = fmt.Sprintf("image %s has no shell: %s (way out: --probe-image with one that has sh, cat and chmod)", image, words)
	default:
		r.detail = fmt.Sprintf("the probe's container does not start: %s", words)
	}
	return r
}

// state says in the cluster's own words how far a pod came that is too late: the
// container's state, else its last warning (sandboxes fail in events only).
func state(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, last error) string {
	if last != nil {
		return clean(last.Error())
	}
	if pod == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), createTimeout/4)
	defer cancel()
	events, err := client.CoreV1().Events(pod.Namespace).List(ctx, metav1.ListOptions{
		FieldSelector: "involvedObject.kind=Pod,involvedObject.name=" + pod.Name, Limit: 50})
	if err == nil {
		for _, e := range slices.Backward(events.Items) {
			if e.Type == corev1.EventTypeWarning {
				return clean(e.Reason + ": " + e.Message)
			}
		}
	}
	for _, c := range pod.Status.ContainerStatuses {
		if c.State.Waiting != nil {
			return clean(c.State.Waiting.Reason + " " + c.State.Waiting.Message)
		}
	}
	return "the pod is " + orElse(string(pod.Status.Phase), "not known to the kubelet")
}

func orElse(s, other string) string {
	if strings.Trim(s, ": ") == "" {
		return other
	}
	return s
}
