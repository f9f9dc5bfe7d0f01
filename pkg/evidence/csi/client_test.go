package csi

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

func TestClientLives(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "w-12"}, Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{{Address: "10.9.0.12"}}}}
	x := snapshot.NewIndex(&snapshot.Snapshot{TakenAt: now, Cluster: snapshot.Cluster{Nodes: []*corev1.Node{node}}})
	for name, c := range map[string]struct {
		node, text string
		age        time.Duration
		want       bool
	}{
		"an initiator is logged in":           {"w-07", "initiator iqn.1994-05.com.redhat:w-07 (10.9.0.17) is logged in and has outstanding writes", time.Minute, true},
		"another array's words":               {"w-07", "cannot unexport vol-1: host w-07 has active sessions on 2 ports", time.Minute, true},
		"an NVMe host, by its NQN":            {"w-07", "namespace 3 is still connected from nqn.2014-08.org.nvmexpress:uuid:1b4e28ba", time.Minute, true},
		"in use by an address of nobody":      {"w-07", "lun 4 is in use by 10.9.0.17", time.Minute, true},
		"in use by an address of a node":      {"w-07", "lun 4 is in use by 10.9.0.12", time.Minute, false},
		"it is only written down as attached": {"w-07", "volume vol-1 is attached to w-07", time.Minute, false},
		"the instance is gone":                {"w-07", "instance w-07 not found", time.Minute, false},
		"nobody is logged in":                 {"w-07", "host w-07: no active sessions, but the export is locked", time.Minute, false},
		"another machine's name begins so":    {"w-1", "host w-12 has active sessions", time.Minute, false},
		"said an hour ago":                    {"w-07", "host w-07 has active sessions", time.Hour, false},
		"the node exists":                     {"w-12", "host w-12 has active sessions", time.Minute, false},
		"it names no machine":                 {"w-07", "the volume has active sessions", time.Minute, false},
	} {
		va := &storagev1.VolumeAttachment{Spec: storagev1.VolumeAttachmentSpec{NodeName: c.node},
			Status: storagev1.VolumeAttachmentStatus{DetachError: &storagev1.VolumeError{Time: metav1.NewTime(now.Add(-c.age)), Message: c.text}}}
		if a := ClientLives(x, va); a.Yes() != c.want {
			t.Errorf("%s: got %t, want %t", name, a.Yes(), c.want)
		}
	}
}
