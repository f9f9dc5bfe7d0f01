package diagnosis

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// crowd is n pods with one claim each and some events each.
func crowd(n, events int) *snapshot.Snapshot {
	s := &snapshot.Snapshot{TakenAt: noon}
	for i := range n {
		pv, claim, pod := fmt.Sprintf("pvc-%08d", i), fmt.Sprintf("data-%d", i), fmt.Sprintf("pod-%d", i)
		s.Cluster.PVs = append(s.Cluster.PVs, &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: pv}, Spec: corev1.PersistentVolumeSpec{
			ClaimRef:               &corev1.ObjectReference{Namespace: "a", Name: claim},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "d", VolumeHandle: "handle-" + pv}}}})
		s.Cluster.Claims = append(s.Cluster.Claims, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: claim},
			Spec: corev1.PersistentVolumeClaimSpec{VolumeName: pv}})
		s.Cluster.Pods = append(s.Cluster.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: pod, UID: types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", i)),
			CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour))},
			Spec: corev1.PodSpec{NodeName: "n", Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}}})
		for k := range events {
			s.Cluster.Events = append(s.Cluster.Events, &snapshot.Event{Kind: "Pod", ObjNamespace: "a", ObjName: pod, Reason: "FailedMount",
				Message: fmt.Sprintf("MountVolume.SetUp failed for volume %q : attempt %d", pv, k), Last: noon.Add(-time.Duration(k) * time.Minute)})
		}
	}
	return s
}

func TestTexts(t *testing.T) {
	t.Parallel()
	s := crowd(2, 3)
	s.Logs = []snapshot.Log{{Namespace: "kube-system", Pod: "plugin", Container: "driver", Lines: []string{
		"E0504 11:59:00.000000 1 x.go:1] UnmountVolume.TearDown failed for volume \"pvc-00000000\" : target is busy",
		"2026-05-04T11:00:00Z volume handle-pvc-00000001 published",
		"  a line without a date continues the record", "2026-05-04T11:00:01Z nothing about anybody", "nor here",
	}}}
	x := snapshot.NewIndex(s)
	first, second := x.VolumeOfPV("pvc-00000000"), x.VolumeOfPV("pvc-00000001")
	texts := newTexts(x, scope{volumes: []*snapshot.Volume{first, second}})
	list := texts.of(first)
	if len(list) != 4 {
		t.Fatalf("%d texts, want 3 events and 1 line: %+v", len(list), list)
	}
	for i := 1; i < len(list); i++ {
		if list[i].At.After(list[i-1].At) {
			t.Errorf("text %d is newer than the one before", i)
		}
	}
	var line Text
	for _, x := range list {
		if x.Source == "log" {
			line = x
		}
	}
	if !line.Is(message.TargetBusy) || !line.Fresh || line.Locator != "logs/kube-system/plugin/driver:1" {
		t.Errorf("log line read as %+v", line)
	}
	if got := texts.of(second); len(got) != 5 || got[len(got)-1].Fresh || got[len(got)-1].At.IsZero() {
		t.Errorf("texts of the second volume: %+v", got)
	}
}

// TestNormalEvents: nobody complains in an event that is normal, whatever object it is about.
func TestNormalEvents(t *testing.T) {
	t.Parallel()
	for reason, fresh := range map[string]bool{"ResizeInProgress": false, "ExternalProvisioning": true} {
		s := crowd(1, 0)
		s.Cluster.Events = []*snapshot.Event{{Type: corev1.EventTypeNormal, Kind: "PersistentVolumeClaim", ObjNamespace: "a", ObjName: "data-0", Reason: reason,
			Message: "resize of pvc-00000000 is tried again: an earlier attempt met code = ResourceExhausted", Last: noon.Add(-time.Minute)}}
		x := snapshot.NewIndex(s)
		v := x.VolumeOfPV("pvc-00000000")
		if list := newTexts(x, scope{volumes: []*snapshot.Volume{v}}).of(v); len(list) != 1 || list[0].Fresh != fresh || list[0].Ordinary == fresh {
			t.Errorf("%s: %+v", reason, list)
		}
	}
}

func TestStandsIn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line string
		want bool
	}{
		{"Could not login to [target: iqn.x:archive1, portal: 10.0.0.1]", true},
		{"Could not login to iqn.x:archive1.", true},
		{"Could not login to iqn.x:archive19 and iqn.x:archive1", true},
		{"Could not login to [target: iqn.x:archive19, portal: 10.0.0.1]", false},
		{"Could not login to iqn.x:archive1.old", false},
	} {
		if got := standsIn(tt.line, "iqn.x:archive1"); got != tt.want {
			t.Errorf("%q: %v", tt.line, got)
		}
	}
}

func BenchmarkTexts(b *testing.B) {
	x := snapshot.NewIndex(crowd(5000, 20))
	b.ResetTimer()
	for b.Loop() {
		newTexts(x, scope{volumes: x.Volumes})
	}
}
