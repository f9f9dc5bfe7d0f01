package launch

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// lifetimeReserve is how much longer than its timeout a pod may live: clean-up
// deletes it long before.
const lifetimeReserve = time.Minute

// lateCreation is how long a request without an answer may still make a pod.
const lateCreation = 2 * time.Second

func (n *nodeRun) podFor(image Image, suffix string) *corev1.Pod {
	pod := PodSpec(PodRequest{
		Node: n.target.Node, Namespace: n.namespace, Image: image.Ref, PullSecret: n.opts.PullSecret,
		Run: n.id, Suffix: suffix, Lifetime: n.opts.Timeout + lifetimeReserve, Now: time.Now(),
	})
	if n.opts.PullSecret == "" {
		for _, s := range image.Secrets {
			pod.Spec.ImagePullSecrets = append(pod.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: s})
		}
	}
	return pod
}

// PrintPod is the pod that would be created first on a node, for
// --print-probe-pod.
func PrintPod(plan Plan, t Target, o Options) *corev1.Pod {
	n := nodeRun{run: &run{opts: o.complete(), namespace: plan.Place.Namespace, id: random()}, target: t}
	return n.podFor(t.Images[0], random())
}

// made is a pod of ours as far as it is known to exist.
type made struct {
	pod    *corev1.Pod // as it was sent, with the UID that the API server gave it, if it answered
	exists existence
}

type existence int

const (
	existsNot existence = iota
	existsMaybe
	existsSurely
)

// create asks for the pod, first as a dry run: admission answers with its words
// and with what it would make of the pod, and nothing was made.
func (n *nodeRun) create(ctx context.Context, pod *corev1.Pod) (made, *refusal) {
	not := made{pod: pod}
	answer, err := n.post(ctx, pod, metav1.DryRunAll)
	switch {
	case ctx.Err() != nil:
		return not, interrupted(ctx, "create the probe pod")
	case err != nil && !apierrors.IsBadRequest(err): // a webhook without dry runs (sideEffects) is no refusal
		return not, refusedCreate(err, pod.Namespace)
	case err == nil:
		if fields := changed(pod, answer); len(fields) > 0 {
			return not, tampered(fields)
		}
	}
	// Ctrl-C does not cancel this request: an answer tells whether there is a pod
	// to delete, and a request without one could make it after the deletion.
	answer, err = n.post(context.WithoutCancel(ctx), pod)
	switch {
	case timedOut(err):
		return made{pod: pod, exists: existsMaybe}, refusedCreate(err, pod.Namespace)
	case err != nil:
		return not, refusedCreate(err, pod.Namespace)
	}
	ours := pod.DeepCopy()
	ours.UID = answer.UID
	is := made{pod: ours, exists: existsSurely}
	if fields := changed(pod, answer); len(fields) > 0 {
		return is, tampered(fields)
	}
	if ctx.Err() != nil {
		return is, interrupted(ctx, "create the probe pod")
	}
	return is, nil
}

func (n *nodeRun) post(ctx context.Context, pod *corev1.Pod, dryRun ...string) (*corev1.Pod, error) {
	ctx, cancel := context.WithTimeout(ctx, createTimeout)
	defer cancel()
	return n.client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: dryRun, FieldManager: manager})
}

// remove deletes the pod of ours with a context of its own, so that Ctrl-C in the
// middle of anything still cleans up. A pod that was maybe made is looked for a
// little longer.
func (r *run) remove(ctx context.Context, m made) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTimeout)
	defer cancel()
	late := time.Now().Add(lateCreation)
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		request, done := context.WithTimeout(ctx, deleteTimeout/3)
		err := r.removeOnce(request, m)
		done()
		if err == nil || (apierrors.IsNotFound(err) && (m.exists == existsSurely || time.Now().After(late))) {
			return
		}
		if apierrors.IsForbidden(err) || ctx.Err() != nil {
			r.leftBehind(m.pod, err)
			return
		}
		select {
		case <-ctx.Done():
			r.leftBehind(m.pod, err)
			return
		case <-time.After(pause):
		}
	}
}

// removeOnce deletes exactly this pod. A pod with another UID has the name only:
// ours is gone then, and theirs stays. Whose the pod is of whose creation no
// answer came, it says itself.
func (r *run) removeOnce(ctx context.Context, m made) error {
	pod := m.pod
	if pod.UID == "" {
		found, err := r.client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !Ours(found) || found.Labels[LabelRun] != r.id {
			return nil
		}
		pod = found
	}
	err := r.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		Preconditions: metav1.NewUIDPreconditions(string(pod.UID))})
	if apierrors.IsConflict(err) {
		return nil
	}
	return err
}

func (r *run) leftBehind(pod *corev1.Pod, err error) {
	r.opts.Warn(fmt.Sprintf("pod %s/%s could not be deleted and ends by itself in %s: %s; kubectl mountdoctor cleanup removes it",
		pod.Namespace, pod.Name, short(r.opts.Timeout+lifetimeReserve), clean(err.Error())))
}
