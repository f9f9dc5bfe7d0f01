package launch

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Leftovers lists the probe pods in a namespace ("" is all of them), also those
// of runs that still go on; Expired tells them apart.
func Leftovers(ctx context.Context, client kubernetes.Interface, namespace string) ([]corev1.Pod, error) {
	var ours []corev1.Pod
	options := metav1.ListOptions{LabelSelector: LabelProbe + "=true", Limit: 500}
	for {
		list, err := client.CoreV1().Pods(namespace).List(ctx, options)
		if err != nil {
			return nil, fmt.Errorf("list probe pods: %w", err)
		}
		for _, p := range list.Items {
			if Ours(&p) {
				ours = append(ours, p)
			}
		}
		if options.Continue = list.Continue; options.Continue == "" {
			return ours, nil
		}
	}
}

// Ours tells whether this tool made a pod. A label alone can be copied by
// anybody, and what is deleted must be ours beyond doubt.
func Ours(p *corev1.Pod) bool {
	_, dated := p.Annotations[AnnotationExpiry]
	return strings.HasPrefix(p.Name, NamePrefix) && p.Labels[LabelProbe] == "true" &&
		p.Labels[managedBy] == manager && dated && len(p.OwnerReferences) == 0
}

// Expired tells whether the run that made a pod must be over, by what the API server's clock shows.
func Expired(p *corev1.Pod, now time.Time) bool {
	end := Expiry(p)
	return !end.IsZero() && now.After(end)
}

// Expiry is when the run that made a pod must be over, by the API server's clock; zero: the pod
// does not say. What its annotation says is by the clock of the machine that made it.
func Expiry(p *corev1.Pod) time.Time {
	if p.CreationTimestamp.IsZero() || p.Spec.ActiveDeadlineSeconds == nil {
		return time.Time{}
	}
	return p.CreationTimestamp.Add(time.Duration(*p.Spec.ActiveDeadlineSeconds) * time.Second)
}

// Remove deletes exactly this pod: not one that got its name later.
func Remove(ctx context.Context, client kubernetes.Interface, p *corev1.Pod) error {
	uid := p.UID
	err := client.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid}})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	return nil
}

// Gone waits until a deleted pod is not there any more: then its kubelet has ended
// it, or the node is gone. Another pod of its name is not waited for.
func Gone(ctx context.Context, client kubernetes.Interface, p *corev1.Pod) error {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		found, err := client.CoreV1().Pods(p.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err), err == nil && found.UID != p.UID:
			return nil
		case apierrors.IsForbidden(err):
			return fmt.Errorf("pod %s/%s was deleted; whether it still runs on node %s is not known: %w", p.Namespace, p.Name, p.Spec.NodeName, err)
		}
		select {
		case <-ctx.Done():
			if err != nil {
				return fmt.Errorf("pod %s/%s was deleted; whether it still runs on node %s is not known: %w", p.Namespace, p.Name, p.Spec.NodeName, err)
			}
			return fmt.Errorf("pod %s/%s was deleted and is still there: node %s has not reported its end, so it may still run", p.Namespace, p.Name, p.Spec.NodeName)
		case <-time.After(pause):
		}
	}
}

// sweep deletes what earlier runs left in the namespace, when it may. It is no
// part of the diagnosis, so its failures are not reported.
func (r *run) sweep(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, createTimeout)
	defer cancel()
	pods, err := Leftovers(ctx, r.client, r.namespace)
	if err != nil {
		return
	}
	for i := range pods {
		if Expired(&pods[i], r.clock.At(time.Now())) && Remove(ctx, r.client, &pods[i]) == nil {
			r.opts.Progress(pods[i].Spec.NodeName, "removed pod "+pods[i].Namespace+"/"+pods[i].Name+" of an earlier run")
		}
	}
}
