package mounts

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestCopyOf: the pod's own mount table decides; one that was not read leaves it open.
func TestCopyOf(t *testing.T) {
	t.Parallel()
	const uid = "11111111-1111-1111-1111-111111111111"
	pod := func(host string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "agent", UID: uid}, Status: corev1.PodStatus{Phase: corev1.PodRunning}, Spec: corev1.PodSpec{NodeName: "n",
			Volumes:    []corev1.Volume{{Name: "h", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: host}}}},
			Containers: []corev1.Container{{Name: "c", VolumeMounts: []corev1.VolumeMount{{Name: "h", MountPath: "/host/"}}}}}}
	}
	table := func(m probes.Mount) *probes.Facts {
		m.Point = "/host"
		return &probes.Facts{Processes: []probes.Process{{PID: 7, PodUID: uid, MntNS: 2}}, Namespaces: []probes.MountNamespace{{ID: 2, PIDs: []int{7}, TablePID: 7, Mounts: []probes.Mount{m}}}}
	}
	for name, c := range map[string]struct {
		host  string
		facts *probes.Facts
		found bool
		want  string // of the table
	}{
		"private":           {"/", table(probes.Mount{}), true, "yes"},
		"a slave":           {"/", table(probes.Mount{Master: 1}), true, "no"},
		"above the kubelet": {"/var/lib", table(probes.Mount{}), true, "yes"},
		"beside it":         {"/var/log", table(probes.Mount{}), false, "unseen"},
		"its table unread":  {"/", &probes.Facts{}, true, "unseen"},
		"nobody looked":     {"/", nil, true, "unseen"},
	} {
		s := &snapshot.Snapshot{Cluster: snapshot.Cluster{Pods: []*corev1.Pod{pod(c.host)}}}
		if c.facts != nil {
			s.Nodes = map[string]*snapshot.NodeRecord{"n": {Name: "n", Facts: c.facts}}
		}
		x := snapshot.NewIndex(s)
		got, word := CopyOf(&evidence.Place{X: x, Node: "n", View: x.View("n")}, s.Cluster.Pods[0]), "unseen"
		if got.Table.Yes() {
			word = "yes"
		} else if got.Table.No() {
			word = "no"
		}
		if (got.Host != "") != c.found || word != c.want {
			t.Errorf("%s: found %q, table %s", name, got.Host, word)
		}
	}
}
