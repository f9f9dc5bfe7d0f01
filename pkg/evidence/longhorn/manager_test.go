package longhorn

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestWhyEnds wants a log or last words of a pod that ends again and again.
func TestWhyEnds(t *testing.T) {
	t.Parallel()
	crashing := corev1.ContainerStatus{Name: "c", RestartCount: 41, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}}
	told := crashing
	told.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{Message: "please install iscsiadm"}
	quiet := []snapshot.Log{{Namespace: "lh", Pod: "m", Container: "c", Lines: []string{"started"}}}
	for name, c := range map[string]struct {
		status corev1.ContainerStatus
		logs   []snapshot.Log
		want   string
	}{
		"works":                {corev1.ContainerStatus{Name: "c", Ready: true}, nil, "yes"},
		"ends, nothing read":   {crashing, nil, "unseen"},
		"ends, told the API":   {told, nil, "yes"},
		"ends, its log is dry": {crashing, quiet, "yes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := snapshot.NewIndex(&snapshot.Snapshot{TakenAt: now, Logs: c.logs})
			pod := &corev1.Pod{ObjectMeta: named("m"), Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{c.status}}}
			if got := WhyEnds(x, pod).String(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestAway names the instance-manager that a volume would need, and no other.
func TestAway(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{ObjectMeta: named("im-1"), Spec: corev1.PodSpec{NodeName: "n1"}, Status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"}}
	for name, c := range map[string]struct {
		im   snapshot.LHInstanceManager
		pods []*corev1.Pod
		want []string
	}{
		"it runs":                  {snapshot.LHInstanceManager{NodeID: "n1", CurrentState: "running"}, nil, nil},
		"its pod is away":          {snapshot.LHInstanceManager{NodeID: "n1", CurrentState: "error"}, nil, []string{"error on node n1", "not found"}},
		"its pod was evicted":      {snapshot.LHInstanceManager{NodeID: "n1", CurrentState: "error"}, []*corev1.Pod{pod}, []string{"error on node n1", "spec.nodeName n1, status.phase Failed, Evicted"}},
		"one of the other engine":  {snapshot.LHInstanceManager{NodeID: "n1", CurrentState: "error", DataEngine: "v2"}, nil, []string{"no InstanceManager of data engine v1"}},
		"one of a node without it": {snapshot.LHInstanceManager{NodeID: "n2", CurrentState: "error"}, nil, []string{"no InstanceManager of data engine v1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.im.ObjectMeta = named("im-1")
			x := snapshot.NewIndex(&snapshot.Snapshot{TakenAt: now, Cluster: snapshot.Cluster{Pods: c.pods, Longhorn: snapshot.Longhorn{
				InstanceManagers: []*snapshot.LHInstanceManager{&c.im}, Nodes: []*snapshot.LHNode{{ObjectMeta: named("n1")}}, Volumes: []*snapshot.LHVolume{{ObjectMeta: named("v")}},
			}}})
			var got []string
			for _, e := range Away(x, x.VolumeOfLonghorn("v"), "n1") {
				got = append(got, e.Text)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestNodeWorks: a node that left the cluster serves nobody, whatever Longhorn still has of it.
func TestNodeWorks(t *testing.T) {
	t.Parallel()
	node := func(ready corev1.ConditionStatus) []*corev1.Node {
		return []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}}}}
	}
	for name, c := range map[string]struct {
		nodes []*corev1.Node
		gaps  []snapshot.Gap
		want  bool
	}{
		"it reports":         {node(corev1.ConditionTrue), nil, true},
		"it is silent":       {node(corev1.ConditionUnknown), nil, false},
		"it left":            {nil, nil, false},
		"nodes are not read": {nil, []snapshot.Gap{{Need: "api//nodes", Reason: "Forbidden"}}, true},
	} {
		x := snapshot.NewIndex(&snapshot.Snapshot{TakenAt: now, Gaps: c.gaps, Cluster: snapshot.Cluster{Nodes: c.nodes, Longhorn: snapshot.Longhorn{Nodes: []*snapshot.LHNode{{ObjectMeta: named("n1")}}}}})
		if got := nodeWorks(x, "n1"); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestOlderPods: who is older than the restart of an engine has a dead device only on the
// engine's node, and only where it has the device at all.
func TestOlderPods(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	user := func(name, node string, started time.Time, phase corev1.PodPhase) *snapshot.Consumer {
		began := metav1.NewTime(started)
		return &snapshot.Consumer{Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{NodeName: node}, Status: corev1.PodStatus{Phase: phase, StartTime: &began}}}
	}
	users := []*snapshot.Consumer{
		user("older", "n1", at.Add(-time.Hour), corev1.PodRunning), user("younger", "n1", at.Add(time.Minute), corev1.PodRunning),
		user("waits", "n1", at.Add(-time.Hour), corev1.PodPending), user("elsewhere", "n2", at.Add(-time.Hour), corev1.PodRunning),
	}
	again := user("again", "n1", at.Add(-time.Hour), corev1.PodRunning)
	again.Pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	again.Pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(at.Add(time.Minute))}}}}
	users = append(users, again)
	for mode, want := range map[string]string{"rwo": "older", "rwx": ""} {
		v := &snapshot.Volume{Driver: snapshot.LonghornDriver, Consumers: users, Longhorn: &snapshot.LonghornVolume{Volume: &snapshot.LHVolume{AccessMode: mode}}}
		var got []string
		for _, p := range (Restart{Manager: &snapshot.LHInstanceManager{NodeID: "n1"}, At: at, pl: &evidence.Place{X: index(snapshot.Longhorn{})}}).OlderPods(v) {
			got = append(got, p.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", mode, got, want)
		}
	}
}
