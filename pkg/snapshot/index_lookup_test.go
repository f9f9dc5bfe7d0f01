package snapshot

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var testNow = time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)

func meta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-" + name)}
}

// claimPod is a pod of namespace shop that uses a claim.
func claimPod(name, node, claim string, phase corev1.PodPhase) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: meta("shop", name)}
	p.Spec.NodeName = node
	p.Status.Phase = phase
	if claim != "" {
		p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}}}
	}
	return p
}

func csiPV(name, driver, handle string, modes ...corev1.PersistentVolumeAccessMode) *corev1.PersistentVolume {
	pv := &corev1.PersistentVolume{ObjectMeta: meta("", name)}
	pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: handle}
	pv.Spec.AccessModes = modes
	return pv
}

func boundClaim(name, pv string) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: meta("shop", name)}
	c.Spec.VolumeName = pv
	return c
}

func attachment(pv, driver, handle, node string, attached bool) *storagev1.VolumeAttachment {
	va := &storagev1.VolumeAttachment{ObjectMeta: meta("", AttachmentName(handle, driver, node))}
	va.Spec.Attacher, va.Spec.NodeName = driver, node
	va.Spec.Source.PersistentVolumeName = &pv
	va.Status.Attached = attached
	return va
}

func TestPodByUID(t *testing.T) {
	t.Parallel()
	static := claimPod("etcd-a", "a", "", corev1.PodRunning)
	static.Annotations = map[string]string{"kubernetes.io/config.hash": "a01f55c8e2b94d0d93f5a7c0b1d2e3f4"}
	plainPod := claimPod("web", "a", "", corev1.PodRunning)
	plainPod.UID = "1f358b9f-8f56-59f7-a6cf-c7e44279a65e"
	x := NewIndex(&Snapshot{Cluster: Cluster{Pods: []*corev1.Pod{static, plainPod}}})
	tests := map[string]string{
		"1f358b9f-8f56-59f7-a6cf-c7e44279a65e": "web",
		"1f358b9f_8f56_59f7_a6cf_c7e44279a65e": "web",
		"a01f55c8e2b94d0d93f5a7c0b1d2e3f4":     "etcd-a",
		"ffffffff-8f56-59f7-a6cf-c7e44279a65e": "",
		"":                                     "",
	}
	for uid, want := range tests {
		got := ""
		if p := x.PodByUID(uid); p != nil {
			got = p.Name
		}
		if got != want {
			t.Errorf("pod of %q: got %q, want %q", uid, got, want)
		}
	}
}

func TestHasDriver(t *testing.T) {
	t.Parallel()
	node := &storagev1.CSINode{ObjectMeta: meta("", "a")}
	node.Spec.Drivers = []storagev1.CSINodeDriver{{Name: "ebs.csi.aws.com"}}
	gap := Gap{Need: "api/storage.k8s.io/csinodes", Reason: Forbidden}
	tests := map[string]struct {
		snapshot          Snapshot
		node, driver      string
		registered, known bool
	}{
		"registered":       {Snapshot{Cluster: Cluster{CSINodes: []*storagev1.CSINode{node}}}, "a", "ebs.csi.aws.com", true, true},
		"other driver":     {Snapshot{Cluster: Cluster{CSINodes: []*storagev1.CSINode{node}}}, "a", "x", false, true},
		"no CSINode":       {Snapshot{}, "a", "x", false, true},
		"CSINodes unknown": {Snapshot{Gaps: []Gap{gap}}, "a", "x", false, false},
	}
	for name, tt := range tests {
		registered, known := NewIndex(&tt.snapshot).HasDriver(tt.node, tt.driver)
		if registered != tt.registered || known != tt.known {
			t.Errorf("%s: got %v, %v, want %v, %v", name, registered, known, tt.registered, tt.known)
		}
	}
}

func TestCollected(t *testing.T) {
	t.Parallel()
	x := NewIndex(&Snapshot{Gaps: []Gap{
		{Need: "api//persistentvolumes", Reason: Forbidden},
		{Need: "api/core/nodes", Reason: Forbidden},
		{Need: "api//pods/other", Reason: Forbidden},
		{Need: "api/storage.k8s.io/csinodes", Reason: NotServed},
		{Need: "api/longhorn.io", Reason: NotServed},
		{Need: "node/worker-3", Reason: NodeNotReady},
	}})
	tests := map[string]bool{
		"/persistentvolumes":               false,
		"core/persistentvolumes":           false,
		"/persistentvolumeclaims":          true,
		"/nodes":                           false,
		"/pods":                            false,
		"storage.k8s.io/csinodes":          false,
		"storage.k8s.io/volumeattachments": true,
		"longhorn.io/volumes":              false,
	}
	for resource, want := range tests {
		if got := x.Collected(resource); got != want {
			t.Errorf("%s: got %v, want %v", resource, got, want)
		}
	}
	for node, want := range map[string]string{"worker-3": NodeNotReady, "worker-4": NotRequested} {
		if g, ok := x.NodeGap(node); !ok || g.Reason != want {
			t.Errorf("gap of %s: got %v, %v, want %s", node, g, ok, want)
		}
	}
}

func TestNodeReady(t *testing.T) {
	t.Parallel()
	node := func(name string, status corev1.ConditionStatus) *corev1.Node {
		n := &corev1.Node{ObjectMeta: meta("", name)}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, Reason: "R"}}
		return n
	}
	renewed := metav1.NewMicroTime(testNow.Add(-time.Minute))
	lease := &coordinationv1.Lease{ObjectMeta: meta("kube-node-lease", "lost")}
	lease.Spec.RenewTime = &renewed
	s := &Snapshot{TakenAt: testNow, Cluster: Cluster{
		Nodes:  []*corev1.Node{node("up", "True"), node("lost", "Unknown"), {ObjectMeta: meta("", "new")}},
		Leases: []*coordinationv1.Lease{lease},
	}}
	if NewIndex(s).NodeReady("lost").LeaseOld() {
		t.Error("nothing was written since the lease, and it is old")
	}
	s.Cluster.Events = []*Event{{Last: testNow.Add(time.Hour)}, {Last: testNow}}
	x := NewIndex(s)
	tests := map[string]Readiness{
		"up":   {Exists: true, Known: true, Ready: true, Reason: "R", LeaseAge: -1},
		"lost": {Exists: true, Known: true, Unknown: true, Reason: "R", LeaseAge: time.Minute},
		"new":  {Exists: true, LeaseAge: -1},
		"gone": {LeaseAge: -1},
	}
	for name, want := range tests {
		if got := x.NodeReady(name); got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
	if !x.NodeReady("lost").LeaseOld() || x.NodeReady("up").LeaseOld() {
		t.Error("lease age is misread")
	}
}

func TestEventsAreOrderedAndFresh(t *testing.T) {
	t.Parallel()
	event := func(name, namespace string, age time.Duration) *Event {
		return &Event{ObjectMeta: meta(namespace, name), Kind: "Pod", ObjNamespace: namespace, ObjName: "web", Last: testNow.Add(-age)}
	}
	x := NewIndex(&Snapshot{TakenAt: testNow, Cluster: Cluster{Events: []*Event{
		event("new", "shop", time.Minute), event("old", "shop", time.Hour), event("foreign", "other", 0),
	}}})
	list := x.Events("Pod", "shop", "web")
	if len(list) != 2 || list[0].Name != "old" || list[1].Name != "new" {
		t.Fatalf("events: got %v", list)
	}
	if got := len(x.Events("Pod", "", "web")); got != 3 {
		t.Errorf("events in any namespace: got %d, want 3", got)
	}
	for namespace, want := range map[string]int{"": 1, "default": 1, "evil": 0} {
		for _, kind := range []string{"Node", "PersistentVolume", "VolumeAttachment"} {
			said := event("said", namespace, 0)
			said.Kind = kind
			x := NewIndex(&Snapshot{TakenAt: testNow, Cluster: Cluster{Events: []*Event{said}}})
			if got := len(x.Events(kind, "", "web")); got != want {
				t.Errorf("events of a %s from namespace %q: got %d, want %d", kind, namespace, got, want)
			}
		}
	}
	if x.Fresh(list[0], time.Time{}) || !x.Fresh(list[1], time.Time{}) || x.Fresh(list[1], testNow.Add(-time.Second)) || x.Fresh(nil, time.Time{}) {
		t.Error("freshness is misread")
	}
}
