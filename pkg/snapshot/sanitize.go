package snapshot

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Sanitize takes out of an object, in place, what may never stand in a
// snapshot: managedFields, the last applied configuration, environment
// variables, and the commands of containers that are neither a CSI driver's nor
// the kubelet's nor Longhorn's. It tells whether the object may be kept at all:
// Secrets never, ConfigMaps only those of Longhorn's share managers.
func Sanitize(obj *unstructured.Unstructured) (keep bool) {
	group := obj.GroupVersionKind().Group
	switch obj.GetKind() {
	case "Secret":
		return group != coreGroup
	case "ConfigMap":
		if group == coreGroup && !strings.HasPrefix(obj.GetName(), RecoveryBackend) {
			return false
		}
	}
	sanitizeMeta(obj.Object)
	for _, path := range podSpecs[schema.GroupKind{Group: group, Kind: obj.GetKind()}] {
		owner := child(obj.Object, path...)
		sanitizeMeta(owner)
		sanitizePodSpec(child(owner, "spec"))
	}
	return true
}

// podSpecs are the places of pods, and of templates of pods, by kind.
var podSpecs = map[schema.GroupKind][][]string{
	{Kind: "Pod"}:                             {nil},
	{Kind: "PodTemplate"}:                     {{"template"}},
	{Kind: "ReplicationController"}:           {{"spec", "template"}},
	{Group: "apps", Kind: "ReplicaSet"}:       {{"spec", "template"}},
	{Group: "apps", Kind: "Deployment"}:       {{"spec", "template"}},
	{Group: "apps", Kind: "StatefulSet"}:      {{"spec", "template"}},
	{Group: "apps", Kind: "DaemonSet"}:        {{"spec", "template"}},
	{Group: "batch", Kind: "Job"}:             {{"spec", "template"}},
	{Group: "batch", Kind: "CronJob"}:         {{"spec", "jobTemplate", "spec", "template"}},
	{Group: "extensions", Kind: "DaemonSet"}:  {{"spec", "template"}},
	{Group: "extensions", Kind: "Deployment"}: {{"spec", "template"}},
	{Group: "extensions", Kind: "ReplicaSet"}: {{"spec", "template"}},
}

func child(m map[string]any, path ...string) map[string]any {
	for _, key := range path {
		m, _ = m[key].(map[string]any)
	}
	return m
}

// lastApplied is where kubectl apply keeps the whole object a second time.
const lastApplied = corev1.LastAppliedConfigAnnotation

func sanitizeMeta(m map[string]any) {
	meta := child(m, "metadata")
	if meta == nil {
		return
	}
	delete(meta, "managedFields")
	if annotations := child(meta, "annotations"); annotations != nil {
		delete(annotations, lastApplied)
		if len(annotations) == 0 {
			delete(meta, "annotations")
		}
	}
}

// sanitizePodSpec keeps the name of a program and drops what it was told.
func sanitizePodSpec(spec map[string]any) {
	var containers []map[string]any
	storage := false
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		items, _ := spec[list].([]any)
		for _, item := range items {
			if c, ok := item.(map[string]any); ok {
				containers = append(containers, c)
				storage = storage || ofStorage(c)
			}
		}
	}
	for _, c := range containers {
		delete(c, "env")
		delete(c, "envFrom")
		if storage {
			continue
		}
		delete(c, "args")
		if command, ok := c["command"].([]any); ok && len(command) > 1 {
			c["command"] = command[:1:1]
		}
		sanitizeHooks(c)
	}
}

// sanitizeHooks drops the commands of probes and hooks.
func sanitizeHooks(c map[string]any) {
	for _, hook := range [][]string{
		{"livenessProbe"}, {"readinessProbe"}, {"startupProbe"},
		{"lifecycle", "postStart"}, {"lifecycle", "preStop"},
	} {
		if exec := child(child(c, hook...), "exec"); exec != nil {
			delete(exec, "command")
		}
	}
}

// ofStorage tells whether a container is one of a CSI driver, of Longhorn or a
// kubelet: its whole pod is, then.
func ofStorage(c map[string]any) bool {
	for _, key := range []string{"name", "image"} {
		text, _ := c[key].(string)
		for _, word := range []string{"csi", "longhorn", "kubelet"} {
			if strings.Contains(text, word) {
				return true
			}
		}
	}
	return false
}

// sanitizeTyped is sanitizeMeta for an object with a type. The object is a
// shallow copy, so that its annotations must not be changed in place.
func sanitizeTyped(o metav1.Object) {
	o.SetManagedFields(nil)
	annotations := o.GetAnnotations()
	if _, ok := annotations[lastApplied]; !ok {
		return
	}
	rest := map[string]string{}
	for key, v := range annotations {
		if key != lastApplied {
			rest[key] = v
		}
	}
	if len(rest) == 0 {
		rest = nil
	}
	o.SetAnnotations(rest)
}
