package filesystem_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/filesystem"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

func TestSELinuxRelabelSlow(t *testing.T) {
	t.Parallel()
	const taken = "Error: failed to reserve container name \"app_db-0_shop_1_0\": name \"app_db-0_shop_1_0\" is reserved for \"0a1b\""
	container := func(h *host) *corev1.Container { return &h.s.Cluster.Pods[0].Spec.Containers[0] }
	labelled := func(super string, files uint64) *host {
		h := newHost(corev1.PodPending).mounts("xfs", "rw", super).statfs(volumePoint, 9000, 500, 450, files+1000, 1000)
		h.f.Files = map[string]probes.File{"sys/fs/selinux/enforce": {Kind: "file", Content: "1"}}
		h.s.Cluster.Pods[0].Spec.Containers = []corev1.Container{{Name: "app", VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}}}
		return h
	}
	says := func(h *host, reason, text string) *host {
		h.says(text)
		h.s.Cluster.Events[len(h.s.Cluster.Events)-1].Reason = reason
		return h
	}
	system := func(name string) func(*host) {
		return func(h *host) { h.s.Cluster.Nodes[0].Status.NodeInfo.OSImage = name }
	}
	uncounted := func(h *host) {
		h.f.Statfs = map[string]probes.FSStat{volumePoint: {Blocks: 10, Avail: 5, Files: 731904, FilesFree: 1<<64 - 1}}
	}
	sets := func(h *host) {
		h.f.Processes = append(h.f.Processes, probes.Process{PID: 21, Comm: "crio", MntNS: 1, Standing: probes.OfHost, Threads: []probes.Thread{{TID: 22, State: "D", Stack: "[<0>] xfs_attr_set+0x1/0x2 [xfs]\n[<0>] vfs_setxattr"}}})
	}
	yes, group := true, int64(999)
	find := func(certainty string) []string { return []string{"selinux-relabel-slow " + certainty + " Pod shop/db"} }
	checkRules(t, []*diagnosis.Rule{filesystem.SELinuxRelabelSlow}, []branch{
		{"labels, files and words", says(labelled("seclabel", 300_000), "Failed", taken), find("certain")},
		{"a plain time-out of the creation", says(labelled("seclabel", 300_000), "Failed", "Error: context deadline exceeded"), find("certain")},
		{"events expired", labelled("seclabel", 300_000), find("likely")},
		{"a young pod", labelled("seclabel", 300_000).change(func(h *host) {
			h.s.Cluster.Pods[0].CreationTimestamp = metav1.NewTime(now.Add(-time.Minute))
		}), clean},
		{"the kubelet still waits for volumes", labelled("seclabel", 300_000).says("Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[data]: timed out waiting for the condition"), clean},
		{"the kubelet walks for fsGroup", labelled("seclabel", 300_000).change(func(h *host) {
			h.s.Cluster.Pods[0].Spec.SecurityContext = &corev1.PodSecurityContext{FSGroup: &group}
		}), clean},
		{"an image on its way", says(labelled("seclabel", 300_000), "Pulling", "Pulling image \"app\""), clean},
		{"files are not counted", says(labelled("seclabel", 0), "Failed", taken).change(uncounted), find("likely")},
		{"not counted, a thread sets labels", labelled("seclabel", 0).change(uncounted).change(sets), find("likely")},
		{"not counted, not a word", labelled("seclabel", 0).change(uncounted), clean},
		{"many files, a thread sets labels", labelled("seclabel", 300_000).change(sets), find("certain")},
		{"a tenant's process of that name", labelled("seclabel", 0).change(uncounted).change(sets).change(func(h *host) {
			h.f.Processes[len(h.f.Processes)-1].Standing = ""
		}), clean},
		{"few files", says(labelled("seclabel", 3000), "Failed", taken), clean},
		{"one label for the mount", says(labelled("context=\"system_u:object_r:container_file_t:s0:c1,c2\"", 300_000), "Failed", taken), clean},
		{"no SELinux", says(labelled("seclabel", 300_000), "Failed", taken).change(func(h *host) { h.f.Files = nil }), clean},
		{"privileged", says(labelled("seclabel", 300_000), "Failed", taken).change(func(h *host) {
			container(h).SecurityContext = &corev1.SecurityContext{Privileged: &yes}
		}), clean},
		{"type spc_t", says(labelled("seclabel", 300_000), "Failed", taken).change(func(h *host) {
			container(h).SecurityContext = &corev1.SecurityContext{SELinuxOptions: &corev1.SELinuxOptions{Type: "spc_t"}}
		}), clean},
		{"words alone, a system with SELinux", says(labelled("seclabel", 300_000), "Failed", taken).change(system("Red Hat Enterprise Linux CoreOS 414.92")).unprobed(), find("likely")},
		{"words alone, another system", says(labelled("seclabel", 300_000), "Failed", taken).change(system("Ubuntu 22.04")).unprobed(), find("possible")},
		{"a time-out alone, node not seen", says(labelled("seclabel", 300_000), "Failed", "Error: context deadline exceeded").change(system("Rocky Linux 9")).unprobed(), clean},
	})
}
