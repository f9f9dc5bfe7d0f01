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
	n := nodeRun{run: &run{opts: o.complete(), namespace: plan.Namespace, id: random(8)}, target: t}
	image := candidate{Image: t.Image()}
	if len(t.images) > 0 {
		image = t.images[0]
	}
	return n.podFor(image, random(8))
}

// create asks for the pod, first as a dry run: admission answers with its words
// and nothing was made. created tells that there may be a pod now.
func (n *nodeRun) create(ctx context.Context, pod *corev1.Pod) (created bool, why *refusal) {
	pods := n.client.CoreV1().Pods(pod.Namespace)
	for _, dry := range [][]string{{metav1.DryRunAll}, nil} {
		request, cancel := context.WithTimeout(ctx, createTimeout)
		_, err := pods.Create(request, pod, metav1.CreateOptions{DryRun: dry, FieldManager: manager})
		cancel()
		switch {
		case err == nil:
			continue
		case ctx.Err() != nil:
			return dry == nil, interrupted(ctx, "create the probe pod")
		case dry != nil && apierrors.IsBadRequest(err):
			continue // a webhook that does not know dry runs (sideEffects) is no refusal
		}
		// A request without an answer may have made the pod all the same.
		return dry == nil && timedOut(err), refusedCreate(err, pod.Namespace)
	}
	return true, nil
}

// remove deletes a pod of ours with a context of its own, so that Ctrl-C in the
// middle of anything still cleans up.
func (r *run) remove(ctx context.Context, namespace, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTimeout)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		request, done := context.WithTimeout(ctx, deleteTimeout/3)
		err := r.client.CoreV1().Pods(namespace).Delete(request, name, metav1.DeleteOptions{})
		done()
		if err == nil || apierrors.IsNotFound(err) {
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
