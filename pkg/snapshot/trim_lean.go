package snapshot

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// emptyMeansNothing are fields that Kubernetes' types write even when they are empty.
var emptyMeansNothing = map[string]bool{
	"resources": true, "lastState": true, "state": true, "status": true, "strategy": true, "updateStrategy": true, "spec": true, "template": true,
	"metadata": true, "image": true, "imageID": true, "loadBalancer": true, "selector": true, "nodeInfo": true, "daemonEndpoints": true,
	"restartCount": true, "jobTemplate": true, "source": true, "currentNumberScheduled": true, "numberMisscheduled": true,
	"desiredNumberScheduled": true, "numberReady": true, "replicas": true, "availableReplicas": true, "bootID": true, "containerRuntimeVersion": true,
	"kubeProxyVersion": true, "operatingSystem": true, "architecture": true, "serviceName": true, "schedule": true,
	"kernelVersion": true, "kubeletVersion": true, "machineID": true, "osImage": true, "systemUUID": true,
}

// lean is an object's JSON without fields that say nothing.
func lean(o metav1.Object) ([]byte, error) {
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, err
	}
	prune(m)
	return json.Marshal(m)
}

func prune(v any) {
	switch x := v.(type) {
	case map[string]any:
		for k, item := range x {
			prune(item)
			if item == nil || k == "daemonEndpoints" || emptyMeansNothing[k] && void(x[k]) {
				delete(x, k)
			}
		}
	case []any:
		for _, item := range x {
			prune(item)
		}
	}
}

// void tells an empty text or object. A number may be zero on purpose.
func void(v any) bool {
	switch x := v.(type) {
	case string:
		return x == ""
	case map[string]any:
		return len(x) == 0
	}
	return false
}
