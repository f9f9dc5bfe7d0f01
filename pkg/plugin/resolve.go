package plugin

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/kubectl/pkg/util/podutils"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// resolver finds what a question can be asked about behind what the user named.
type resolver interface {
	// pods of a workload.
	pods(ctx context.Context, namespace string, t target) ([]*corev1.Pod, error)
	// workload is the object itself, nil where it is not there, and why its controller cannot make pods.
	workload(ctx context.Context, namespace string, t target) (object *unstructured.Unstructured, refused string, err error)
	// volume of a VolumeAttachment, by the name of its PersistentVolume.
	volume(ctx context.Context, attachment string) (string, error)
	// labelled are the objects of an asked kind with these labels.
	labelled(ctx context.Context, kind, namespace string, selector labels.Selector) ([]metav1.ObjectMeta, error)
}

// mostPods bounds how many pods of one workload are asked about.
const mostPods = 5

// questions are what is asked, in the order of the arguments, each once.
func (o *diagnoseOptions) questions(ctx context.Context) ([]diagnosis.Question, error) {
	if o.question.Kind == "cluster" {
		q := o.question
		q.Outline = slices.Contains([]string{"text", "brief", "name", "junit"}, o.output)
		return []diagnosis.Question{q}, nil
	}
	var out []diagnosis.Question
	seen := map[diagnosis.Question]bool{}
	add := func(q diagnosis.Question) {
		if !seen[q] {
			seen[q] = true
			out = append(out, q)
		}
	}
	for _, t := range o.targets {
		list, err := o.behind(ctx, t)
		if err != nil {
			return nil, err
		}
		for _, q := range list {
			add(q)
		}
	}
	if len(o.targets) > 0 {
		return out, nil
	}
	list, err := o.selected(ctx)
	if err != nil {
		return nil, err
	}
	for _, q := range list {
		add(q)
	}
	return out, nil
}

// behind are the questions that a target leads to.
func (o *diagnoseOptions) behind(ctx context.Context, t target) ([]diagnosis.Question, error) {
	q := diagnosis.Question{Kind: t.kind, Name: t.name}
	switch t.kind {
	case "pvc", "pod":
		q.Namespace = o.question.Namespace
		return []diagnosis.Question{q}, nil
	case "volume", "node":
		return []diagnosis.Question{q}, nil
	case attachment:
		name, err := o.resolver.volume(ctx, t.name)
		return []diagnosis.Question{{Kind: "volume", Name: name}}, err
	}
	pods, err := o.resolver.pods(ctx, o.question.Namespace, t)
	if err != nil {
		return nil, err
	}
	if len(pods) == 0 {
		return o.withoutPods(ctx, t)
	}
	chosen := worst(pods)
	fmt.Fprintf(o.streams.ErrOut, "%s has %s; asking about %s\n", t, count(len(pods), "pod"), strings.Join(podNames(chosen), ", "))
	var out []diagnosis.Question
	for _, p := range chosen {
		out = append(out, diagnosis.Question{Kind: "pod", Namespace: p.Namespace, Name: p.Name})
	}
	missing, err := o.missing(ctx, t, pods)
	return append(out, missing...), err
}

// worst are the pods that are not ready, at most mostPods, those that wait longest
// first; one of them when all are well. A pod that was evicted stays behind as an object
// of its Deployment and tells little of the volumes: it comes after all that may run.
func worst(pods []*corev1.Pod) []*corev1.Pod {
	sort.Slice(pods, func(i, j int) bool {
		a, b := pods[i], pods[j]
		if over := a.Status.Phase == corev1.PodFailed; over != (b.Status.Phase == corev1.PodFailed) {
			return !over
		}
		if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
			return a.CreationTimestamp.Before(&b.CreationTimestamp)
		}
		return a.Name < b.Name
	})
	var out []*corev1.Pod
	for _, p := range pods {
		if p.Status.Phase == corev1.PodFailed && pods[0].Status.Phase != corev1.PodFailed {
			break // the others were told of
		}
		if !podutils.IsPodReady(p) && p.Status.Phase != corev1.PodSucceeded && len(out) < mostPods {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return pods[:1]
	}
	return out
}

func podNames(pods []*corev1.Pod) []string {
	var out []string
	for _, p := range pods {
		out = append(out, p.Name)
	}
	return out
}

// selected are the questions of -l and -A.
func (o *diagnoseOptions) selected(ctx context.Context) ([]diagnosis.Question, error) {
	selector, err := labels.Parse(o.selector)
	if err != nil {
		return nil, usagef("--selector %q: %v", o.selector, err)
	}
	namespace := o.question.Namespace
	if o.all {
		namespace = ""
	}
	list, err := o.resolver.labelled(ctx, o.question.Kind, namespace, selector)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no %s %s", o.question.Kind, o.where())
	}
	var out []diagnosis.Question
	for i := range list {
		out = append(out, diagnosis.Question{Kind: o.question.Kind, Namespace: list[i].Namespace, Name: list[i].Name})
	}
	return out, nil
}

// where says where was looked.
func (o *diagnoseOptions) where() string {
	var out []string
	if o.selector != "" {
		out = append(out, "with labels "+o.selector)
	}
	if o.namespaced && o.all {
		out = append(out, "in any namespace")
	} else if o.namespaced {
		out = append(out, "in namespace "+o.question.Namespace)
	}
	return strings.Join(append(out, "found"), " ")
}

// savedObjects resolves within a snapshot.
type savedObjects struct {
	load func() (*snapshot.Snapshot, error)
}

func (r savedObjects) pods(_ context.Context, namespace string, t target) ([]*corev1.Pod, error) {
	s, err := r.load()
	if err != nil {
		return nil, err
	}
	above := map[string]target{}
	for _, rs := range s.Cluster.ReplicaSets {
		if owner := controller(rs); owner.kind != "" && rs.Namespace == namespace {
			above["replicaset/"+rs.Name] = owner
		}
	}
	for _, j := range s.Cluster.Jobs {
		if owner := controller(j); owner.kind != "" && j.Namespace == namespace {
			above["job/"+j.Name] = owner
		}
	}
	var out []*corev1.Pod
	for _, p := range s.Cluster.Pods {
		if p.Namespace != namespace {
			continue
		}
		owner := controller(p)
		if owner == t || above[owner.String()] == t {
			out = append(out, p)
		}
	}
	return out, nil
}

// controller is the object that keeps another alive.
func controller(o metav1.Object) target {
	if c := metav1.GetControllerOf(o); c != nil {
		return target{strings.ToLower(c.Kind), c.Name}
	}
	return target{}
}

func (r savedObjects) volume(_ context.Context, name string) (string, error) {
	s, err := r.load()
	if err != nil {
		return "", err
	}
	for _, a := range s.Cluster.Attachments {
		if a.Name == name && a.Spec.Source.PersistentVolumeName != nil {
			return *a.Spec.Source.PersistentVolumeName, nil
		}
	}
	return "", fmt.Errorf("VolumeAttachment %s is not in the snapshot, or names no PersistentVolume", name)
}

func (r savedObjects) labelled(_ context.Context, kind, namespace string, selector labels.Selector) ([]metav1.ObjectMeta, error) {
	s, err := r.load()
	if err != nil {
		return nil, err
	}
	var all []metav1.ObjectMeta
	switch kind {
	case "pvc":
		for _, c := range s.Cluster.Claims {
			all = append(all, c.ObjectMeta)
		}
	case "pod":
		for _, p := range s.Cluster.Pods {
			all = append(all, p.ObjectMeta)
		}
	case "volume":
		for _, v := range s.Cluster.PVs {
			all = append(all, v.ObjectMeta)
		}
	case "node":
		for _, n := range s.Cluster.Nodes {
			all = append(all, n.ObjectMeta)
		}
	}
	var out []metav1.ObjectMeta
	for i := range all {
		if (namespace == "" || all[i].Namespace == namespace) && selector.Matches(labels.Set(all[i].Labels)) {
			out = append(out, all[i])
		}
	}
	return out, nil
}
