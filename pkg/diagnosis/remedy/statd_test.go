package remedy

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

func TestStartStatd(t *testing.T) {
	t.Parallel()
	for system, want := range map[string]string{
		"Ubuntu 24.04.1 LTS": "systemctl add-wants remote-fs.target rpc-statd.service",
		"Talos (v1.8.0)":     "siderolabs/nfs-utils",
	} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{OSImage: system}}}
		x := snapshot.NewIndex(&snapshot.Snapshot{Cluster: snapshot.Cluster{Nodes: []*corev1.Node{node}}})
		if got := StartStatd(x, "n").Title; !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", system, got, want)
		}
	}
}
