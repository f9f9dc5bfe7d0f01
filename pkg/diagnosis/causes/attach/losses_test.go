package attach_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// without says that something could not be read; what was read of it stays.
func without(c *cluster, needs ...string) *cluster {
	for _, n := range needs {
		c.s.Gaps = append(c.s.Gaps, snapshot.Gap{Need: "api/" + n, Reason: snapshot.Forbidden})
	}
	return c
}

// TestUnread takes one thing away from an answer that is certain: it is likely then, or not
// given at all.
func TestUnread(t *testing.T) {
	t.Parallel()
	shared := func() *cluster {
		c, h, w := rivals()
		owned(h, "StatefulSet", "a")
		owned(w, "StatefulSet", "b")
		return c
	}
	lost := func() *cluster {
		c, h, _ := rivals()
		terminating(h, 5*time.Minute)
		return c.down("n1", 12*time.Minute)
	}
	left := func() *cluster {
		c := newCluster().plugin("/var/lib/kubelet", 24*time.Hour, "n1", "n2", "n3").attacher().probed("n1", nil)
		c.attached("n1", 24*time.Hour)
		owned(c.pod("new", "n2", corev1.PodPending, 20*time.Minute), "StatefulSet", "db")
		return c
	}
	tainted := func() *cluster {
		c := newCluster().plugin("/var/lib/kubelet", 24*time.Hour, "n2", "n3").unregister("n1")
		c.pod("new", "n1", corev1.PodPending, 20*time.Minute)
		c.node("n1").Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "db", Effect: corev1.TaintEffectNoSchedule}}
		return c
	}
	unlisted := func() *cluster {
		c := newCluster().plugin("/var/lib/kubelet", 24*time.Hour, "n1", "n2", "n3")
		owned(c.pod("new", "n1", corev1.PodPending, 20*time.Minute), "StatefulSet", "db")
		c.attached("n1", time.Hour)
		c.s.Cluster.Attachments = nil
		return c
	}
	notReady := func() *cluster {
		c := failing("").attacher()
		c.s.Cluster.Pods[len(c.s.Cluster.Pods)-1].Status.Conditions = nil
		return c
	}
	const claim, stale, attacher = "PersistentVolumeClaim shop/data", "volumeattachment-stale", "attacher-not-working"
	va := "VolumeAttachment " + snapshot.AttachmentName(handle, driver, "n1")
	check(t, []branch{
		{"rivals", shared, []string{"rwo-shared-by-workloads certain " + claim}},
		{"rivals, nodes", func() *cluster { c := without(shared(), "/nodes"); c.s.Cluster.Nodes = nil; return c }, []string{"rwo-shared-by-workloads likely " + claim}},
		{"lost node, pods of its claim", func() *cluster { return without(lost(), "/pods/shop") }, []string{"node-down likely Node n1"}},
		{"lost node, pods of another namespace", func() *cluster { return without(lost(), "/pods/other") }, []string{"node-down certain Node n1"}},
		{"lost node, a node beside it", func() *cluster { return without(lost(), "/nodes") }, []string{"node-down likely Node n1"}},
		{"removed node, nodes", func() *cluster { return without(lost().remove("n1"), "/nodes") }, []string{}},
		{"leftover", left, []string{stale + " certain " + va}},
		{"leftover, pods", func() *cluster { return without(left(), "/pods/shop") }, []string{}},
		{"leftover, claims", func() *cluster { return without(left(), "/persistentvolumeclaims/other") }, []string{}},
		{"plugin", tainted, []string{"csi-plugin-not-on-node certain Node n1"}},
		{"plugin, pods of its namespace", func() *cluster { return without(tainted(), "/pods/kube-system") }, []string{}},
		{"plugin, pods of another namespace", func() *cluster { return without(tainted(), "/pods/other") }, []string{"csi-plugin-not-on-node certain Node n1"}},
		{"out of step", unlisted, []string{"attach-state-out-of-step certain Node n1"}},
		{"out of step, attachments", func() *cluster { return without(unlisted(), "storage.k8s.io/volumeattachments") }, []string{}},
		{"attacher", notReady, []string{attacher + " certain Pod kube-system/disk-controller-0"}},
		{"attacher, pods of another namespace", func() *cluster { return without(notReady(), "/pods/other") }, []string{attacher + " likely Pod kube-system/disk-controller-0"}},
		{"the disk is on a foreign machine", func() *cluster { return elsewhere() }, []string{"attachment-stale-in-backend certain PersistentVolume pv-data"}},
		{"the disk is on a foreign machine, attachments", func() *cluster { return without(elsewhere(), "storage.k8s.io/volumeattachments") },
			[]string{"attachment-stale-in-backend likely PersistentVolume pv-data"}},
		{"the disk is on a foreign machine, nodes", func() *cluster { return without(elsewhere(), "/nodes") },
			[]string{"attachment-stale-in-backend likely PersistentVolume pv-data"}},
	})
}

// elsewhere is a volume that its backend calls attached to a machine of no node.
func elsewhere() *cluster {
	c := failing("")
	for i, n := range c.s.Cluster.Nodes {
		n.Spec.ProviderID = "aws:///eu-1a/i-0aaa" + string(rune('1'+i))
	}
	c.s.Cluster.Attachments[0].Status.AttachError = &storagev1.VolumeError{Message: "volume is already attached to i-0ffff9", Time: meta("", "", time.Minute).CreationTimestamp}
	return c
}

// TestLeftOpen asks whether a report names the causes that nobody could look for.
func TestLeftOpen(t *testing.T) {
	t.Parallel()
	c := newCluster().plugin("/var/lib/kubelet", 24*time.Hour, "n1", "n2", "n3")
	owned(c.pod("new", "n2", corev1.PodPending, 20*time.Minute), "StatefulSet", "db")
	open := map[string]bool{}
	for _, n := range without(c, "storage.k8s.io/volumeattachments").diagnose(t).NotChecked {
		for _, name := range n.Causes {
			open[name] = true
		}
	}
	for _, name := range []string{"volumeattachment-stale", "volumeattachment-volume-gone", "attacher-not-working", "csidriver-object-wrong", "node-removed", "attach-state-out-of-step"} {
		if !open[name] {
			t.Errorf("%s is not named as open", name)
		}
	}
}
