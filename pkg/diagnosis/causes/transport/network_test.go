package transport_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// TestServerInTheCluster judges the way to an NFS server that is a pod behind a Service.
func TestServerInTheCluster(t *testing.T) {
	t.Parallel()
	const podIP = "10.42.0.5"
	ready := func(t corev1.ConditionStatus) []corev1.PodCondition {
		return []corev1.PodCondition{{Type: corev1.PodReady, Status: t}}
	}
	build := func(service, pod string, change func(*world)) *world {
		w := newWorld(nfsPV()).pod("web", "n1", corev1.PodPending).says("web", "MountVolume.SetUp failed for volume \"pv-data\" : mount.nfs: Connection timed out")
		for _, n := range w.s.Cluster.Nodes {
			n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		}
		svc := &corev1.Service{ObjectMeta: meta("nfs", "nfs"), Spec: corev1.ServiceSpec{ClusterIP: server, Selector: map[string]string{"app": "nfs"}}}
		nfs := &corev1.Pod{ObjectMeta: meta("nfs", "nfs-0"), Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: podIP, Conditions: ready(corev1.ConditionTrue)}}
		nfs.Spec.NodeName, nfs.Labels = "n2", map[string]string{"app": "nfs"}
		w.s.Cluster.Services, w.s.Cluster.Pods = append(w.s.Cluster.Services, svc), append(w.s.Cluster.Pods, nfs)
		if service+pod != "" {
			w.probed("n1", func(f *probes.Facts) {
				f.Files["usr/sbin/mount.nfs"] = probes.File{Kind: "file"}
				for k, a := range map[string]string{server: service, podIP: pod} {
					if a != "" {
						f.Dials[k+":2049"] = a
					}
				}
			})
		}
		if change != nil {
			change(w)
		}
		return w
	}
	policy := func(w *world) {
		w.s.Cluster.NetworkPolicies = []*networkingv1.NetworkPolicy{{ObjectMeta: meta("nfs", "closed"), Spec: networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}}}}
	}
	byName := func(w *world) {
		w.s.Cluster.PVs[0].Spec.NFS.Server = "nfs.nfs.svc.cluster.local"
		w.s.Nodes["n1"].Facts.Resolves = map[string]string{"nfs.nfs.svc.cluster.local": server}
	}
	other := func(w *world) {
		w.probed("n2", func(f *probes.Facts) { f.Dials[podIP+":2049"] = "ok 0.3ms" })
	}
	blocked := []string{"network-host-to-pod-blocked certain Node n1"}
	unreachable := []string{"nfs-server-unreachable certain Node n1"}
	check(t, []branch{
		{"neither service nor pod answers", build("timeout 3s", "timeout 3s", nil), blocked},
		{"the service times out and its pod answers", build("timeout 3s", "ok 0.4ms", nil), blocked},
		{"a server by its name", build("timeout 3s", "ok 0.4ms", byName), blocked},
		{"a policy that keeps nobody off", build("timeout 3s", "ok 0.4ms", policy), blocked},
		{"a policy keeps the node off", build("timeout 3s", "timeout 3s", policy), []string{"network-host-to-pod-blocked certain NetworkPolicy nfs/closed"}},
		{"the policy alone, with the client's words", build("", "", policy), []string{"network-host-to-pod-blocked likely NetworkPolicy nfs/closed"}},
		{"nobody listens", build("ECONNREFUSED", "ECONNREFUSED", nil), unreachable},
		{"refused here, and another node is let in", build("", "ECONNREFUSED", other), blocked},
		{"an answer after many seconds", build("ok 7.2s", "ok 6.9s", nil), []string{"network-host-to-pod-blocked likely Node n1"}},
		{"the pod is not ready", build("timeout 3s", "timeout 3s", func(w *world) {
			w.s.Cluster.Pods[1].Status.Conditions = ready(corev1.ConditionFalse)
		}), unreachable},
	})
}
