package snapshot

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

func owned(o metav1.ObjectMeta, kind, name string) metav1.ObjectMeta {
	controller := true
	o.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: name, Controller: &controller}}
	return o
}

func TestTopOwner(t *testing.T) {
	t.Parallel()
	rs := &appsv1.ReplicaSet{ObjectMeta: owned(meta("shop", "web-5d"), "Deployment", "web")}
	x := NewIndex(&Snapshot{Cluster: Cluster{
		ReplicaSets: []*appsv1.ReplicaSet{rs}, Deployments: []*appsv1.Deployment{{ObjectMeta: meta("shop", "web")}},
	}})
	tests := map[string]struct {
		pod   metav1.ObjectMeta
		owner string
		chain []string
		bare  bool
	}{
		"deployment":          {owned(meta("shop", "web-5d-x"), "ReplicaSet", "web-5d"), "Deployment shop/web", []string{"ReplicaSet shop/web-5d", "Deployment shop/web"}, false},
		"owner not collected": {owned(meta("shop", "db-0"), "StatefulSet", "db"), "StatefulSet shop/db", []string{"StatefulSet shop/db"}, false},
		"bare pod":            {meta("shop", "lone"), "Pod shop/lone", nil, true},
	}
	for name, tt := range tests {
		pod := &corev1.Pod{ObjectMeta: tt.pod}
		o := x.TopOwner(pod)
		if o.String() != tt.owner || o.Pod != tt.bare || HasController(pod) == tt.bare {
			t.Errorf("%s: got %s, bare %v", name, o, o.Pod)
		}
		if diff := cmp.Diff(tt.chain, o.Chain); diff != "" {
			t.Errorf("%s: chain mismatch (-want +got):\n%s", name, diff)
		}
	}
}

func TestWhoIs(t *testing.T) {
	t.Parallel()
	p := claimPod("web", "n", "data", corev1.PodRunning)
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", ContainerID: "containerd://abc123"}}
	x := NewIndex(&Snapshot{
		Cluster: Cluster{Pods: []*corev1.Pod{p}, Claims: []*corev1.PersistentVolumeClaim{boundClaim("data", "")}},
		Nodes:   map[string]*NodeRecord{"n": {Facts: &probes.Facts{}}},
	})
	v := x.VolumeOfClaim("shop", "data")
	tests := map[string]struct {
		process  probes.Process
		pod      string
		unknown  bool
		consumer bool
	}{
		"container of the pod":         {probes.Process{PodUID: string(p.UID), ContainerID: "abc123"}, "web/app", false, true},
		"container without pod UID":    {probes.Process{ContainerID: "abc123"}, "web/app", false, true},
		"pod that the API has lost":    {probes.Process{PodUID: "gone"}, "", true, false},
		"daemon of the host":           {probes.Process{Unit: "multipathd.service"}, "", false, false},
		"container of another machine": {probes.Process{ContainerID: "zzz"}, "", false, false},
	}
	for name, tt := range tests {
		w := x.WhoIs(x.View("n"), &tt.process)
		got := ""
		if w.Pod != nil {
			got = w.Pod.Name + "/" + w.Container
		}
		if got != tt.pod || w.Unknown() != tt.unknown || x.IsConsumerProcess(v, "n", w) != tt.consumer {
			t.Errorf("%s: got %q unknown %v consumer %v", name, got, w.Unknown(), x.IsConsumerProcess(v, "n", w))
		}
	}
}
