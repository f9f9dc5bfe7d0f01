package plugin

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"
)

// liveObjects resolves in a cluster, as kubectl get finds its objects.
type liveObjects struct {
	config *genericclioptions.ConfigFlags
}

// find gets one object, or lists those with a selector when name is empty.
func (r liveObjects) find(kind, name, namespace, selector, fields string) ([]*unstructured.Unstructured, error) {
	if nowhere(r.config) {
		return nil, noCluster()
	}
	b := resource.NewBuilder(r.config).Unstructured().NamespaceParam(namespace).DefaultNamespace().AllNamespaces(namespace == "").Flatten().Latest()
	if name != "" {
		b = b.ResourceNames(plural(kind), name)
	} else {
		b = b.ResourceTypes(plural(kind)).LabelSelectorParam(selector).FieldSelectorParam(fields).SelectAllParam(selector == "" && fields == "").RequestChunksOf(500)
	}
	infos, err := b.Do().Infos()
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", strings.TrimSpace(kind+" "+name), err)
	}
	var out []*unstructured.Unstructured
	for _, i := range infos {
		if u, ok := i.Object.(*unstructured.Unstructured); ok {
			out = append(out, u)
		}
	}
	return out, nil
}

// plural is a kind as the API serves it.
func plural(kind string) string {
	switch kind {
	case "pvc":
		return "persistentvolumeclaims"
	case "volume":
		return "persistentvolumes"
	}
	return kind + "s"
}

func (r liveObjects) pods(_ context.Context, namespace string, t target) ([]*corev1.Pod, error) {
	list, err := r.find(t.kind, t.name, namespace, "", "")
	if err != nil {
		return nil, err
	}
	selector := ""
	for _, o := range list {
		if selector, err = selectorOf(o); err != nil {
			return nil, fmt.Errorf("read the selector of %s: %w", t, err)
		}
	}
	found, err := r.find("pod", "", namespace, selector, "")
	if err != nil {
		return nil, err
	}
	var out []*corev1.Pod
	for _, u := range found {
		p := &corev1.Pod{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, p); err != nil {
			return nil, fmt.Errorf("read pod %s/%s: %w", u.GetNamespace(), u.GetName(), err)
		}
		if t.kind != "cronjob" || ofCronJob(p, t.name) {
			out = append(out, p)
		}
	}
	return out, nil
}

// selectorOf is spec.selector of a workload; a CronJob has none.
func selectorOf(o *unstructured.Unstructured) (string, error) {
	var w struct {
		Spec struct {
			Selector *metav1.LabelSelector `json:"selector"`
		} `json:"spec"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &w); err != nil || w.Spec.Selector == nil {
		return "", err
	}
	selector, err := metav1.LabelSelectorAsSelector(w.Spec.Selector)
	if err != nil {
		return "", err
	}
	return selector.String(), nil
}

// ofCronJob tells the pods of the jobs of a CronJob, which are named after it and the
// minute at which they were due (kubernetes: pkg/controller/cronjob/utils.go).
func ofCronJob(p *corev1.Pod, name string) bool {
	owner := controller(p)
	due, ok := strings.CutPrefix(owner.name, name+"-")
	return owner.kind == "job" && ok && due != "" && strings.Trim(due, "0123456789") == ""
}

func (r liveObjects) volume(_ context.Context, name string) (string, error) {
	list, err := r.find(attachment, name, "", "", "")
	if err != nil {
		return "", err
	}
	for _, o := range list {
		var a storagev1.VolumeAttachment
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &a); err == nil && a.Spec.Source.PersistentVolumeName != nil {
			return *a.Spec.Source.PersistentVolumeName, nil
		}
	}
	return "", fmt.Errorf("VolumeAttachment %s names no PersistentVolume", name)
}

func (r liveObjects) labelled(_ context.Context, kind, namespace string, selector labels.Selector) ([]metav1.ObjectMeta, error) {
	list, err := r.find(kind, "", namespace, selector.String(), "")
	if err != nil {
		return nil, err
	}
	var out []metav1.ObjectMeta
	for _, o := range list {
		out = append(out, metav1.ObjectMeta{Namespace: o.GetNamespace(), Name: o.GetName()})
	}
	return out, nil
}
