package causes

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// furtherWays are what a tenant writes into his pod, what a pod of his beside it says, and events that say that
// all is well. What changes what the system does is no forgery (the class of a claim, a node chosen by hand).
var furtherWays = []forgery{
	{"Annotation", "kubernetes.io/config.mirror", "", ""}, {"Annotation", "kubernetes.io/config.hash", "", ""}, {"Annotation", "example.com/note", "", ""},
	{"Label", "app", "", ""}, {"Label", "longhorn.io/component", "", ""}, {"Label", "app.kubernetes.io/name", "", ""}, {"Finalizer", "", "", ""},
	{"Neighbour", "FailedMount", "kubelet", "MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = "},
	{"Neighbour", "FailedAttachVolume", "attachdetach-controller", "Multi-Attach error for volume \"pv-data\" "},
	{"Normal", "SuccessfulAttachVolume", "attachdetach-controller", "AttachVolume.Attach succeeded for volume \"pv-data\" "},
	{"Normal", "Started", "kubelet", "Started container "}, {"Normal", "Pulled", "kubelet", ""},
	{"Normal", "FileSystemResizeSuccessful", "kubelet", "MountVolume.NodeExpandVolume succeeded for volume \"pv-data\" "},
}

// tails are what he knows of his volume, or would like to be true.
var tails = []string{"", "", " pv-data", " /dev/sdc", " /dev/sdb on node n1", " 10.9.0.5:/export/data", " node n2", " vol-0123456789abcdef0", ": exit status 32", ", volume is already exclusively attached to n2"}

// marks are values that he would choose for a label.
var marks = []string{"n1", "yes", "", "longhorn", "driver.longhorn.io", "csi-node", "instance-manager", "share-manager", "nfs-server"}

// TestTwoForgedWordsProveNothing lets a tenant say two things at once: nothing gets certain by it but what the
// catalog grants to an event of a pod that waits, nothing gives way, no command appears, nothing gets healthy.
// TWO_FORGERIES is how many pairs each world gets.
func TestTwoForgedWordsProveNothing(t *testing.T) {
	t.Parallel()
	said, worlds, pairs := sentences(t), healthyWorlds(), 40
	if n, err := strconv.Atoi(os.Getenv("TWO_FORGERIES")); err == nil {
		pairs = n
	}
	ways := slices.Concat(forgeries, forgeries, furtherWays)
	for i, name := range slices.Sorted(maps.Keys(worlds)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := worlds[name].Snapshot(t)
			was := judged(t, s)
			r := rand.New(rand.NewPCG(uint64(i), uint64(pairs)))
			for range pairs {
				f, g, x, y := ways[r.IntN(len(ways))], ways[r.IntN(len(ways))], said[r.IntN(len(said))], said[r.IntN(len(said))]
				switch r.IntN(4) {
				case 0:
					x += "; " + y
				case 1:
					y = x
				}
				x, y = x+tails[r.IntN(len(tails))], y+tails[r.IntN(len(tails))]
				is := judged(t, g.told(f.told(s, r, x), r, y))
				proveNothing(t, was, is, strings.Contains(name, " waits"), fmt.Sprintf("%s %q and %s %q", f, x, g, y))
			}
		})
	}
}

// proveNothing compares a report with that of the same snapshot and forged words.
func proveNothing(t *testing.T, was, is *report.Report, waits bool, what string) {
	t.Helper()
	had := certain(was)
	for _, name := range certain(is) {
		if !slices.Contains(had, name) && !(waits && slices.Contains(granted, name)) {
			t.Errorf("%s is certain by words alone: %s", name, what)
		}
	}
	for _, name := range had {
		if !slices.Contains(certain(is), name) {
			t.Errorf("%s is not certain any more: %s", name, what)
		}
	}
	for _, c := range corpus.Acting(is) {
		if !slices.Contains(corpus.Acting(was), c) {
			t.Errorf("words alone print %s: %s", c, what)
		}
	}
	if is.Verdict == report.Healthy && was.Verdict != report.Healthy {
		t.Errorf("it gets healthy: %s", what)
	}
}

// told is the snapshot with a sentence said in one of all ways.
func (f forgery) told(s *snapshot.Snapshot, r *rand.Rand, sentence string) *snapshot.Snapshot {
	switch f.kind {
	case "Annotation", "Label", "Finalizer":
		return f.marked(s, append(marks, sentence)[r.IntN(len(marks)+1)])
	case "Neighbour", "Normal":
	default:
		return f.in(s, sentence)
	}
	l, at := *s, s.TakenAt.Add(-10*time.Second)
	e := &snapshot.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "forged-" + f.kind}, Kind: "Pod", ObjNamespace: "shop", ObjName: "web-0", ObjUID: sketchUID,
		Type: corev1.EventTypeNormal, Reason: f.reason, Message: f.before + sentence, Count: 9, Component: f.component, First: at, Last: at, Host: "n1"}
	if f.kind == "Neighbour" {
		const uid = "77777777-0000-4000-8000-000000000077"
		e.Type, e.ObjName, e.ObjUID = corev1.EventTypeWarning, "neighbour", uid
		l.Cluster.Pods = append(slices.Clone(s.Cluster.Pods), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "neighbour", UID: uid, CreationTimestamp: metav1.NewTime(at.Add(-time.Hour))},
			Spec:       corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "app", Image: "x"}}},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
				ContainerStatuses: []corev1.ContainerStatus{{Name: "app", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}}})
	}
	l.Cluster.Events = append(slices.Clone(s.Cluster.Events), e)
	return &l
}

// marked is the snapshot with a mark on the pods of the tenant.
func (f forgery) marked(s *snapshot.Snapshot, value string) *snapshot.Snapshot {
	l := *s
	l.Cluster.Pods = slices.Clone(s.Cluster.Pods)
	with := func(m map[string]string) map[string]string {
		out := map[string]string{f.reason: value}
		maps.Copy(out, m)
		return out
	}
	for i, p := range s.Cluster.Pods {
		if p.Namespace != "shop" {
			continue
		}
		p = p.DeepCopy()
		switch f.kind {
		case "Annotation":
			p.Annotations = with(p.Annotations)
		case "Label":
			p.Labels = with(p.Labels)
		default:
			p.Finalizers = append(p.Finalizers, "example.com/"+value)
		}
		l.Cluster.Pods[i] = p
	}
	return &l
}
