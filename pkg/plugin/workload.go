package plugin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// workload is what the kinds that make pods have in common.
type workload struct {
	Spec struct {
		Replicas *int32 `json:"replicas"`
		Suspend  bool   `json:"suspend"`
		Ordinals struct {
			Start int32 `json:"start"`
		} `json:"ordinals"`
		Template struct {
			Spec corev1.PodSpec `json:"spec"`
		} `json:"template"`
		Claims      []corev1.PersistentVolumeClaim `json:"volumeClaimTemplates"`
		JobTemplate struct {
			Spec struct {
				Template struct {
					Spec corev1.PodSpec `json:"spec"`
				} `json:"template"`
			} `json:"spec"`
		} `json:"jobTemplate"`
	} `json:"spec"`
	Status struct {
		Desired    *int32             `json:"desiredNumberScheduled"`
		Conditions []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

// withoutPods are the questions about the claims of a workload that has no pods; what its
// objects say about why is said first.
func (o *diagnoseOptions) withoutPods(ctx context.Context, t target) ([]diagnosis.Question, error) {
	namespace := o.question.Namespace
	object, refused, err := o.resolver.workload(ctx, namespace, t)
	if err != nil {
		return nil, err
	}
	if object == nil {
		return nil, fmt.Errorf("%s in namespace %s has no pods, and is not in the snapshot; ask about its claims: kubectl mountdoctor pvc NAME -n %[2]s", t, namespace)
	}
	var w workload
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &w); err != nil {
		return nil, fmt.Errorf("read %s: %w", t, err)
	}
	has := printable(fmt.Sprintf("%s in namespace %s has no pods (%s)", t, namespace, cmp.Or(w.why(), refused, "nothing says why: kubectl -n "+namespace+" describe "+t.String())))
	list, err := o.resolver.labelled(ctx, "pvc", namespace, labels.Everything())
	if err != nil {
		return nil, err
	}
	var out []diagnosis.Question
	var names []string
	for i := range list {
		if n := list[i].Name; len(out) < mostPods && w.uses(t.name, n) {
			out, names = append(out, diagnosis.Question{Kind: "pvc", Namespace: namespace, Name: n}), append(names, n)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s, and no claim of its template exists", has)
	}
	fmt.Fprintf(o.streams.ErrOut, "%s; asking about %s\n", has, strings.Join(names, ", "))
	return out, nil
}

// missing is the question about the first pod of a StatefulSet that is not there although its
// controller was told to make it: of one that was refused, or whose claim was, nothing else tells.
func (o *diagnoseOptions) missing(ctx context.Context, t target, pods []*corev1.Pod) ([]diagnosis.Question, error) {
	if t.kind != "statefulset" {
		return nil, nil
	}
	object, refused, err := o.resolver.workload(ctx, o.question.Namespace, t)
	if err != nil || object == nil || refused == "" {
		return nil, err
	}
	var w workload
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &w); err != nil {
		return nil, fmt.Errorf("read %s: %w", t, err)
	}
	for i := range w.wanted() {
		name := fmt.Sprintf("%s-%d", t.name, w.Spec.Ordinals.Start+i)
		if !slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return p.Name == name }) {
			fmt.Fprintf(o.streams.ErrOut, "%s has no pod %s (%s)\n", t, name, printable(refused))
			return []diagnosis.Question{{Kind: "pod", Namespace: o.question.Namespace, Name: name}}, nil
		}
	}
	return nil, nil
}

// wanted is how many pods there shall be.
func (w *workload) wanted() int32 {
	if w.Spec.Replicas == nil {
		return 1
	}
	return *w.Spec.Replicas
}

// uses tells whether a claim is one of a template's pods. That of a StatefulSet is named
// after the template, the set and the number of the pod.
func (w *workload) uses(name, claim string) bool {
	for i := range w.Spec.Claims {
		number, ok := strings.CutPrefix(claim, w.Spec.Claims[i].Name+"-"+name+"-")
		if ok && number != "" && strings.Trim(number, "0123456789") == "" {
			return true
		}
	}
	return slices.ContainsFunc(slices.Concat(w.Spec.Template.Spec.Volumes, w.Spec.JobTemplate.Spec.Template.Spec.Volumes), func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim
	})
}

// why says what in the object itself keeps it from having pods.
func (w *workload) why() string {
	for _, c := range w.Status.Conditions {
		if c.Type == "ReplicaFailure" && c.Status == metav1.ConditionTrue { // of a Deployment or ReplicaSet
			return c.Reason + ": " + c.Message
		}
	}
	switch {
	case w.wanted() == 0:
		return "spec.replicas is 0"
	case w.Spec.Suspend:
		return "spec.suspend is true"
	case w.Status.Desired != nil && *w.Status.Desired == 0:
		return "no node is to have one, status.desiredNumberScheduled is 0"
	}
	return ""
}

func (r savedObjects) workload(_ context.Context, namespace string, t target) (object *unstructured.Unstructured, refused string, err error) {
	s, err := r.load()
	if err != nil {
		return nil, "", err
	}
	if o := savedWorkload(&s.Cluster, namespace, t); o != nil {
		raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		if err != nil {
			return nil, "", fmt.Errorf("read %s: %w", t, err)
		}
		object = &unstructured.Unstructured{Object: raw}
	}
	for _, e := range s.Cluster.Events {
		if e.Reason == failedCreate && e.ObjNamespace == namespace && e.ObjName == t.name && strings.EqualFold(e.Kind, t.kind) {
			refused = e.Reason + ": " + e.Message
		}
	}
	return object, refused, nil
}

func savedWorkload(c *snapshot.Cluster, namespace string, t target) any {
	switch t.kind {
	case "deployment":
		return pick(c.Deployments, namespace, t.name)
	case "statefulset":
		return pick(c.StatefulSets, namespace, t.name)
	case "daemonset":
		return pick(c.DaemonSets, namespace, t.name)
	case "replicaset":
		return pick(c.ReplicaSets, namespace, t.name)
	case "job":
		return pick(c.Jobs, namespace, t.name)
	}
	return pick(c.CronJobs, namespace, t.name)
}

func pick[T metav1.Object](list []T, namespace, name string) any {
	for _, o := range list {
		if o.GetNamespace() == namespace && o.GetName() == name {
			return o
		}
	}
	return nil
}

// failedCreate is the reason of the events of controllers that cannot make a pod, or its
// claims (kubernetes: pkg/controller/controller_utils.go, statefulset/stateful_pod_control.go).
const failedCreate = "FailedCreate"

func (r liveObjects) workload(_ context.Context, namespace string, t target) (object *unstructured.Unstructured, refused string, err error) {
	list, err := r.find(t.kind, t.name, namespace, "", "")
	if err != nil {
		return nil, "", err
	}
	for _, o := range list {
		object = o
	}
	events, err := r.find("event", "", namespace, "", "reason="+failedCreate+",involvedObject.name="+t.name)
	if err != nil { // they only say why
		events, refused = nil, "its events cannot be read"
	}
	for _, u := range events {
		var e corev1.Event
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &e); err == nil {
			refused = failedCreate + ": " + e.Message
		}
	}
	return object, refused, nil
}
