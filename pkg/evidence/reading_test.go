package evidence

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

func pod(namespace, name, uid string, change func(*corev1.PodSpec)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	p.UID = types.UID("00000000-0000-4000-8000-00000000000" + uid)
	if change != nil {
		change(&p.Spec)
	}
	return p
}

// TestTablesTouch: what one pod keeps from being read matters to a volume only where
// that pod can have something of it.
func TestTablesTouch(t *testing.T) {
	t.Parallel()
	yes := true
	claim := func(s *corev1.PodSpec) {
		s.Volumes = []corev1.Volume{{Name: "d", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	}
	privileged := func(s *corev1.PodSpec) {
		s.Containers = []corev1.Container{{SecurityContext: &corev1.SecurityContext{Privileged: &yes}}}
	}
	hostPath := func(s *corev1.PodSpec) {
		s.Volumes = []corev1.Volume{{Name: "h", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}}}
	}
	consumer := pod("shop", "db-0", "1", claim)
	pods := []*corev1.Pod{consumer, pod("other", "web", "2", nil), pod("other", "agent", "3", privileged), pod("other", "logs", "4", hostPath), pod("other", "db-0", "5", claim)}
	facts := &probes.Facts{}
	for i, p := range pods {
		facts.Processes = append(facts.Processes, probes.Process{PID: 10 + i, PodUID: string(p.UID)})
	}
	facts.Processes = append(facts.Processes, probes.Process{PID: 20})
	for name, c := range map[string]struct {
		problem probes.Problem
		table   probes.Table
		whole   bool
	}{
		"consumer":                     {probes.Problem{Probe: "openfiles", Path: "proc/10/fd", Text: "EACCES"}, probes.Descriptors, false},
		"plain pod of others":          {probes.Problem{Probe: "openfiles", Path: "proc/11/fd", Text: "EACCES", PID: 11}, probes.Descriptors, true},
		"plain pod of others, mounts":  {probes.Problem{Probe: "mountns", Path: "proc/11/mountinfo", Text: "EACCES"}, probes.Mounts, true},
		"privileged pod":               {probes.Problem{Probe: "mountns", Path: "proc/12/mountinfo", Text: "EACCES"}, probes.Mounts, false},
		"pod with a hostPath":          {probes.Problem{Probe: "mountns", Path: "proc/13/mountinfo", Text: "EACCES"}, probes.Mounts, false},
		"same claim name, other space": {probes.Problem{Probe: "mountns", Path: "proc/14/mountinfo", Text: "EACCES"}, probes.Mounts, true},
		"process of the host":          {probes.Problem{Probe: "mountns", Path: "proc/20/mountinfo", Text: "EACCES"}, probes.Mounts, false},
		"unknown process":              {probes.Problem{Probe: "mountns", Path: "proc/99/mountinfo", Text: "EACCES"}, probes.Mounts, false},
		"another table":                {probes.Problem{Probe: "swap", Path: "proc/swaps", Text: "EACCES"}, probes.Mounts, true},
	} {
		f := *facts
		f.Problems = []probes.Problem{c.problem}
		x := snapshot.NewIndex(&snapshot.Snapshot{
			Cluster: snapshot.Cluster{Pods: pods}, Nodes: map[string]*snapshot.NodeRecord{"n": {Name: "n", Facts: &f}},
		})
		v := &snapshot.Volume{Consumers: []*snapshot.Consumer{{Pod: consumer}}}
		r := TablesFor(x, v, "n", c.table)
		if r.Complete() != c.whole {
			t.Errorf("%s: complete %v, want %v: %v", name, r.Complete(), c.whole, r.Lacks())
		}
		if c.problem.Probe != "swap" && Tables(x, "n", c.table).Complete() {
			t.Errorf("%s: for the node as a whole nothing is missing", name)
		}
	}
}

func TestResourceIn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		need        string
		here, whole bool
	}{
		"cluster":         {"api//pods", false, false},
		"this namespace":  {"api//pods/shop", false, false},
		"another":         {"api//pods/kube-system", true, false},
		"nothing":         {"api//nodes", true, true},
		"everything":      {"api", false, false},
		"written as core": {"api/core/pods", false, false},
	} {
		x := snapshot.NewIndex(&snapshot.Snapshot{Gaps: []snapshot.Gap{{Need: c.need, Reason: snapshot.Forbidden}}})
		if got := ResourceIn(x, "/pods", "shop").Complete(); got != c.here {
			t.Errorf("%s: in the namespace %v, want %v", name, got, c.here)
		}
		if got := Resource(x, "/pods").Complete(); got != c.whole {
			t.Errorf("%s: everywhere %v, want %v", name, got, c.whole)
		}
	}
}

func TestEndedAndCut(t *testing.T) {
	t.Parallel()
	view := func(state string, gaps ...snapshot.Gap) *snapshot.Index {
		f := &probes.Facts{Status: map[string]probes.ProbeState{"blockdev": {State: state}}}
		if state == "problem" {
			f.Status["blockdev"] = probes.ProbeState{State: "ok"}
			f.Problems = []probes.Problem{{Probe: "blockdev", Path: "sys/class/block/sda/size", Text: "EIO"}}
		}
		return snapshot.NewIndex(&snapshot.Snapshot{Gaps: gaps, Nodes: map[string]*snapshot.NodeRecord{"n": {Name: "n", Facts: f}}})
	}
	cut := snapshot.Gap{Need: "node/n", Reason: snapshot.Truncated}
	for name, c := range map[string]struct {
		x            *snapshot.Index
		ended, whole bool
	}{
		"ok":                         {view("ok"), true, true},
		"one entry":                  {view("problem"), true, false},
		"timeout":                    {view("timeout"), false, false},
		"cut off beside a recording": {view("ok", cut), false, false},
		"not looked at":              {snapshot.NewIndex(&snapshot.Snapshot{}), false, false},
	} {
		if got := Ended(c.x, "n", probes.Block).Complete(); got != c.ended {
			t.Errorf("%s: ended %v, want %v", name, got, c.ended)
		}
		if got := Tables(c.x, "n", probes.Block).Complete(); got != c.whole {
			t.Errorf("%s: whole %v, want %v", name, got, c.whole)
		}
	}
}
