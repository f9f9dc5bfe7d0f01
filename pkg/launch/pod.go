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

func (n *nodeRun) podFor(image candidate, suffix string) *corev1.Pod {
	pod := PodSpec(PodRequest{
		Node: n.target.Node, Namespace: n.namespace, Image: image.Image, PullSecret: n.opts.PullSecret,
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
	n := nodeRun{run: &run{opts: o.complete(), namespace: plan.Namespace, id: random()}, target: t}
	image := candidate{Image: t.Image()}
	if len(t.images) > 0 {
		image = t.images[0]
	}
	return n.podFor(image, random())
}

// made says whether there is a pod after its creation was asked for.
type made int

const (
	madeNot made = iota
	madeMaybe
	madeYes
)

// create asks for the pod, first as a dry run: admission answers with its words
// and nothing was made.
func (n *nodeRun) create(ctx context.Context, pod *corev1.Pod) (made, *refusal) {
	err := n.post(ctx, pod, metav1.DryRunAll)
	switch {
	case ctx.Err() != nil:
		return madeNot, interrupted(ctx, "create the probe pod")
	case err != nil && !apierrors.IsBadRequest(err): // a webhook without dry runs (sideEffects) is no refusal
		return madeNot, refusedCreate(err, pod.Namespace)
	}
	// Ctrl-C does not cancel this request: an answer tells whether there is a pod
	// to delete, and a request without one could make it after the deletion.
	err = n.post(context.WithoutCancel(ctx), pod)
	switch {
	case err == nil && ctx.Err() != nil:
		return madeYes, interrupted(ctx, "create the probe pod")
	case err == nil:
		return madeYes, nil
	case timedOut(err):
		return madeMaybe, refusedCreate(err, pod.Namespace)
	}
	return madeNot, refusedCreate(err, pod.Namespace)
}

func (n *nodeRun) post(ctx context.Context, pod *corev1.Pod, dryRun ...string) error {
	ctx, cancel := context.WithTimeout(ctx, createTimeout)
	defer cancel()
	_, err := n.client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: dryRun, FieldManager: manager})
	return err
}

// remove deletes a pod of ours with a context of its own, so that Ctrl-C in the
// middle of anything still cleans up. A pod that was maybe made is looked for a
// little longer.
func (r *run) remove(ctx context.Context, namespace, name string, was made) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTimeout)
	defer cancel()
	late := time.Now().Add(lateCreation)
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		request, done := context.WithTimeout(ctx, deleteTimeout/3)
		err := r.client.CoreV1().Pods(namespace).Delete(request, name, metav1.DeleteOptions{})
		done()
		if err == nil || (apierrors.IsNotFound(err) && (was == madeYes || time.Now().After(late))) {
			return
		}
		if apierrors.IsForbidden(err) || ctx.Err() != nil {
			r.leftBehind(namespace, name, err)
			return
		}
		select {
		case <-ctx.Done():
			r.leftBehind(namespace, name, err)
			return
		case <-time.After(pause):
		}
	}
}

func (r *run) leftBehind(namespace, name string, err error) {
	r.opts.Warn(fmt.Sprintf("pod %s/%s could not be deleted and ends by itself in %s: %s; kubectl mountdoctor cleanup removes it",
		namespace, name, short(r.opts.Timeout+lifetimeReserve), clean(err.Error())))
}
