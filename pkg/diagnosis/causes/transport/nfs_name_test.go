package transport_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

func TestNFSServerNameUnresolvable(t *testing.T) {
	t.Parallel()
	const inside, outside = "nfs.store.svc.cluster.local", "filer.example"
	refused := func(name string) string {
		return "MountVolume.SetUp failed for volume \"pv-data\" : mount failed: exit status 32\nOutput: mount.nfs: Failed to resolve server " + name + ": Name or service not known"
	}
	named := func(name string) *world {
		return newWorld(corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: name, Path: "/export/data"}}).pod("web", "n1", corev1.PodPending)
	}
	viaUnknown := func() *world {
		return newWorld(corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "nfs.csi.k8s.io", VolumeHandle: "h",
			VolumeAttributes: map[string]string{"server": inside, "share": "/export/data"}}}).pod("web", "n1", corev1.PodPending)
	}
	viaCSI := func(policy corev1.DNSPolicy) *world {
		w := viaUnknown()
		plugin := &corev1.Pod{ObjectMeta: meta("kube-system", "csi-nfs-node-x")}
		plugin.Spec = corev1.PodSpec{NodeName: "n1", HostNetwork: true, DNSPolicy: policy,
			Containers: []corev1.Container{{Name: "registrar", Args: []string{"--kubelet-registration-path=/var/lib/kubelet/plugins/nfs.csi.k8s.io/csi.sock"}}}}
		plugin.Status.Phase = corev1.PodRunning
		w.s.Cluster.Pods = append(w.s.Cluster.Pods, plugin)
		return w
	}
	answers := func(name, answer string) func(*probes.Facts) {
		return func(f *probes.Facts) {
			f.Files["usr/sbin/mount.nfs"] = probes.File{Kind: "file"}
			if answer != "" {
				f.Resolves = map[string]string{name: answer}
			}
		}
	}
	certain := []string{"nfs-server-name-unresolvable certain PersistentVolume pv-data"}
	likely := []string{"nfs-server-name-unresolvable likely PersistentVolume pv-data"}
	check(t, []branch{
		{"unknown now, events expired", named(inside).probed("n1", answers(inside, "NXDOMAIN")), certain},
		{"unknown name outside the cluster", named(outside).probed("n1", answers(outside, "NXDOMAIN")), certain},
		{"resolver does not answer, a mount failed for it", named(outside).says("web", refused(outside)).probed("n1", answers(outside, "timeout 3s")), certain},
		{"resolver does not answer, nothing failed yet", named(outside).probed("n1", answers(outside, "timeout 3s")), likely},
		{"words about a name of the cluster", named(inside).says("web", refused(inside)), certain},
		{"words about another name, node not seen", named(outside).says("web", refused(outside)), likely},
		{"the outage is over", named(outside).says("web", refused(outside)).probed("n1", answers(outside, "10.9.9.9\n10.9.9.8")), clean},
		{"nobody asked and nothing was said", named(inside).probed("n1", answers(inside, "")), clean},
		{"an address", newWorld(nfsPV()).pod("web", "n1", corev1.PodPending).probed("n1", answers(server, "NXDOMAIN")), clean},
		{"the pod has its mount", named(inside).probed("n1", func(f *probes.Facts) {
			answers(inside, "NXDOMAIN")(f)
			mounted(f, "web", "hard")
		}), clean},
		{"plugin with the cluster's resolver, node does not know the name", viaCSI(corev1.DNSClusterFirstWithHostNet).probed("n1", answers(inside, "NXDOMAIN")), clean},
		{"plugin with the cluster's resolver says so itself", viaCSI(corev1.DNSClusterFirstWithHostNet).says("web", refused(inside)).probed("n1", answers(inside, "10.9.9.9")), likely},
		{"plugin that was not found", viaUnknown().probed("n1", answers(inside, "NXDOMAIN")), likely},
		{"plugin with the host's resolver", viaCSI(corev1.DNSDefault).probed("n1", answers(inside, "NXDOMAIN")), certain},
	})
}
