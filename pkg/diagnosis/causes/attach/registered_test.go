package attach_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// tainted keeps the plugin off n1.
func tainted(c *cluster) *cluster {
	c.node("n1").Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "db", Effect: corev1.TaintEffectNoSchedule}}
	return c
}

// unknownTo makes the kubelet of n1 say, a minute ago, that it does not know the driver.
func unknownTo(c *cluster) *cluster {
	c.s.Cluster.Events = append(c.s.Cluster.Events, &snapshot.Event{
		ObjectMeta: meta("shop", "ev", time.Minute), Kind: "Pod", ObjNamespace: "shop", ObjName: "new", ObjUID: "uid-new", Reason: "FailedMount", Type: "Warning",
		Message:   `MountVolume.MountDevice failed for volume "` + pvName + `" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name ` + driver + ` not found in the list of registered CSI drivers`,
		Component: "kubelet", Host: "n1", Count: 4, Last: now.Add(-90 * time.Second)})
	return c
}

// TestRegistered: CSINode is a copy; the kubelet and the sockets where it looks go first.
func TestRegistered(t *testing.T) {
	t.Parallel()
	check(t, []branch{
		{"CSINode still lists it, the kubelet says otherwise", func() *cluster {
			c := newCluster().plugin("/var/lib/kubelet", 24*time.Hour, "n2", "n3")
			c.pod("new", "n1", corev1.PodPending, 20*time.Minute)
			return unknownTo(tainted(c))
		}, []string{"csi-plugin-not-on-node certain Node n1"}},
		{"CSINode still lists it, no socket is left", func() *cluster {
			c := newCluster().plugin("/var/lib/kubelet", 24*time.Hour, "n2", "n3")
			c.pod("new", "n1", corev1.PodPending, 20*time.Minute)
			return tainted(c).probed("n1", func(f *probes.Facts) {
				f.Kubelet = probes.Kubelet{PID: 900, Root: "/var/lib/kubelet", RootFrom: "--root-dir", Registry: []string{"/var/lib/kubelet/plugins_registry/other.example.org-reg.sock"}}
			})
		}, []string{"csi-plugin-not-on-node certain Node n1"}},
		{"CSINode lists it, nobody says otherwise", func() *cluster {
			c := newCluster().plugin("/var/lib/kubelet", 24*time.Hour, "n2", "n3")
			c.pod("new", "n1", corev1.PodPending, 20*time.Minute)
			return tainted(c)
		}, []string{}},
		{"said before the plugin started", func() *cluster {
			c := newCluster().plugin("/var/lib/kubelet", 3*time.Minute, "n1", "n2", "n3")
			c.attached("n1", 20*time.Minute)
			c.pod("new", "n1", corev1.PodPending, 20*time.Minute)
			return unknownTo(c)
		}, []string{}},
	})
}
