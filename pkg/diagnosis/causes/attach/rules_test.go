package attach_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// roots prints the root causes as "name certainty subject".
func roots(r *report.Report) []string {
	out := []string{}
	for _, c := range r.RootCauses {
		out = append(out, c.Name+" "+string(c.Certainty)+" "+c.Subject.String())
	}
	return out
}

type branch struct {
	name  string
	build func() *cluster
	want  []string
}

func check(t *testing.T, branches []branch) {
	t.Helper()
	for _, b := range branches {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			r := b.build().diagnose(t)
			if diff := cmp.Diff(b.want, roots(r)); diff != "" {
				t.Errorf("root causes (-want +got):\n%s", diff)
			}
		})
	}
}

func rolling(surge, unavailable string) appsv1.DeploymentStrategy {
	s, u := intstr.Parse(surge), intstr.Parse(unavailable)
	return appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType,
		RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &s, MaxUnavailable: &u}}
}

// rivals has a holder on n1 and a waiter on n2.
func rivals() (c *cluster, holder, waiter *corev1.Pod) {
	c = newCluster().plugin("/var/lib/kubelet", 24*time.Hour, "n1", "n2", "n3")
	c.attached("n1", 24*time.Hour)
	c.node("n1").Status.VolumesInUse = []corev1.UniqueVolumeName{unique}
	return c, c.pod("old", "n1", corev1.PodRunning, 24*time.Hour), c.pod("new", "n2", corev1.PodPending, 20*time.Minute)
}

func TestReadWriteOnceRivals(t *testing.T) {
	t.Parallel()
	deploy := func(s appsv1.DeploymentStrategy) *cluster {
		c, h, w := rivals()
		c.deployment("web", s)
		owned(h, "ReplicaSet", "web-old")
		owned(w, "ReplicaSet", "web-new")
		return c
	}
	check(t, []branch{
		{"default rolling update", func() *cluster { return deploy(rolling("25%", "25%")) },
			[]string{"rwo-rolling-update certain Deployment shop/web"}},
		{"the old pod goes first", func() *cluster { return deploy(rolling("0", "1")) }, []string{}},
		{"recreate", func() *cluster { return deploy(appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}) }, []string{}},
		{"deployments not readable", func() *cluster {
			c := deploy(rolling("25%", "25%"))
			c.s.Cluster.Deployments = nil
			c.s.Gaps = []snapshot.Gap{{Need: "api/apps/deployments", Reason: snapshot.Forbidden}}
			return c
		}, []string{"rwo-rolling-update likely Deployment shop/web"}},
		{"two workloads", func() *cluster {
			c, h, w := rivals()
			owned(h, "StatefulSet", "a")
			owned(w, "StatefulSet", "b")
			return c
		}, []string{"rwo-shared-by-workloads certain PersistentVolumeClaim shop/data"}},
		{"one stateful set with a fixed claim", func() *cluster {
			c, h, w := rivals()
			owned(h, "StatefulSet", "a")
			owned(w, "StatefulSet", "a")
			return c
		}, []string{"rwo-shared-by-workloads likely PersistentVolumeClaim shop/data"}},
		{"holder is being deleted", func() *cluster {
			c, h, _ := rivals()
			terminating(h, 10*time.Second)
			return c
		}, []string{}},
		{"holder has finished", func() *cluster {
			c, h, _ := rivals()
			h.Status.Phase = corev1.PodSucceeded
			return c
		}, []string{}},
		{"both on one node", func() *cluster {
			c, _, w := rivals()
			w.Spec.NodeName = "n1"
			return c
		}, []string{}},
		{"the volume may be shared", func() *cluster {
			c, _, _ := rivals()
			c.s.Cluster.PVs[0].Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
			c.s.Cluster.Claims[0].Spec.AccessModes = c.s.Cluster.PVs[0].Spec.AccessModes
			return c
		}, []string{}},
		{"the driver does not attach", func() *cluster {
			c, _, _ := rivals()
			no := false
			c.s.Cluster.CSIDrivers[0].Spec.AttachRequired = &no
			c.s.Cluster.Attachments = nil
			c.node("n1").Status.VolumesAttached = nil
			return c
		}, []string{}},
	})
}

func TestLostNode(t *testing.T) {
	t.Parallel()
	lost := func() *cluster {
		c, h, _ := rivals()
		terminating(h, 5*time.Minute)
		return c.down("n1", 12*time.Minute)
	}
	mounted := func(f *probes.Facts) {
		f.Namespaces[0].Mounts = append(f.Namespaces[0].Mounts, probes.Mount{ID: 2, Dev: probes.Dev{Major: 8, Minor: 16}, Root: "/",
			Point: "/var/lib/kubelet/pods/uid-old/volumes/kubernetes.io~csi/" + pvName + "/mount", FSType: "ext4", Raw: "2 1 8:16 / …", Line: 2})
	}
	check(t, []branch{
		{"silent and not probed", lost, []string{"node-down certain Node n1"}},
		{"no sign of life", func() *cluster { return lost().probed("n1", nil) }, []string{"node-down certain Node n1"}},
		{"the volume is mounted there", func() *cluster { return lost().probed("n1", mounted) },
			[]string{"node-kubelet-down-workload-alive certain Node n1"}},
		{"its pod's process runs", func() *cluster {
			return lost().probed("n1", func(f *probes.Facts) {
				f.Processes = append(f.Processes, probes.Process{PID: 77, Comm: "postgres", MntNS: 1, PodUID: "uid-old", Cgroup: "/kubepods/poduid-old/x"})
			})
		}, []string{"node-kubelet-down-workload-alive certain Node n1"}},
		{"only other pods run", func() *cluster {
			return lost().probed("n1", func(f *probes.Facts) {
				f.Processes = append(f.Processes, probes.Process{PID: 78, Comm: "nginx", MntNS: 1, PodUID: "uid-other", Cgroup: "/kubepods/poduid-other/x"})
			})
		}, []string{"node-kubelet-down-workload-alive likely Node n1"}},
		{"the recording is old", func() *cluster {
			return lost().probed("n1", func(f *probes.Facts) { mounted(f); f.Identity.Clock = now.Add(-time.Hour) })
		}, []string{"node-kubelet-down-workload-alive likely Node n1"}},
		{"out of service already", func() *cluster {
			c := lost()
			c.node("n1").Spec.Taints = []corev1.Taint{{Key: "node.kubernetes.io/out-of-service", Effect: corev1.TaintEffectNoExecute}}
			return c
		}, []string{}},
		{"silent for seconds", func() *cluster { return lost().down("n1", 30*time.Second) }, []string{"node-down possible Node n1"}},
		{"nodes not readable", func() *cluster {
			c := lost()
			c.s.Cluster.Nodes, c.s.Cluster.Attachments = nil, nil
			c.s.Gaps = []snapshot.Gap{{Need: "api//nodes", Reason: snapshot.Forbidden}}
			c.s.Cluster.Pods[len(c.s.Cluster.Pods)-2].Status.Reason = "NodeLost"
			return c
		}, []string{"node-down likely Node n1"}},
		{"node object gone", func() *cluster { return lost().remove("n1") }, []string{"node-removed certain Node n1"}},
		{"node object gone, the volume may be shared", func() *cluster {
			c := lost().remove("n1")
			c.s.Cluster.PVs[0].Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
			c.s.Cluster.Pods = c.s.Cluster.Pods[len(c.s.Cluster.Pods)-1:]
			return c
		}, []string{}},
		{"the waiting pod's node has the volume", func() *cluster {
			c := lost()
			c.attached("n2", 10*time.Minute)
			c.s.Cluster.Pods[len(c.s.Cluster.Pods)-2].Status.Phase = corev1.PodFailed
			return c
		}, []string{}},
		{"node object gone, nobody waits", func() *cluster {
			c := lost().remove("n1")
			c.s.Cluster.Pods = nil
			return c
		}, []string{}},
	})
}

func TestLeftoverAttachment(t *testing.T) {
	t.Parallel()
	left := func(waited time.Duration) *cluster {
		c := newCluster().plugin("/var/lib/kubelet", 24*time.Hour, "n1", "n2", "n3").attacher()
		c.attached("n1", 24*time.Hour)
		owned(c.pod("new", "n2", corev1.PodPending, waited), "StatefulSet", "db")
		return c
	}
	va := "VolumeAttachment " + snapshot.AttachmentName(handle, driver, "n1")
	check(t, []branch{
		{"not probed", func() *cluster { return left(20 * time.Minute) }, []string{"volumeattachment-stale likely " + va}},
		{"probed and free", func() *cluster { return left(20*time.Minute).probed("n1", nil) }, []string{"volumeattachment-stale certain " + va}},
		{"still mounted", func() *cluster {
			return left(20*time.Minute).probed("n1", func(f *probes.Facts) {
				f.Namespaces[0].Mounts = append(f.Namespaces[0].Mounts, probes.Mount{ID: 2, Dev: probes.Dev{Major: 8, Minor: 16}, Root: "/",
					Point: "/var/lib/kubelet/pods/uid-gone/volumes/kubernetes.io~csi/" + pvName + "/mount", FSType: "ext4", Line: 2})
			})
		}, []string{}},
		{"a disk without a name is there", func() *cluster {
			return left(20*time.Minute).probed("n1", func(f *probes.Facts) {
				f.Block = append(f.Block, probes.BlockDevice{Name: "sdb", Dev: probes.Dev{Major: 8, Minor: 16}, Sectors: 1 << 20})
			})
		}, []string{"volumeattachment-stale likely " + va}},
		{"the waiting pod's node lacks the plugin, too", func() *cluster {
			c := newCluster().plugin("/var/lib/kubelet", 24*time.Hour, "n1", "n3").unregister("n2").probed("n1", nil)
			c.attached("n1", 24*time.Hour)
			owned(c.pod("new", "n2", corev1.PodPending, 20*time.Minute), "StatefulSet", "db")
			return c
		}, []string{"volumeattachment-stale certain " + va, "csi-plugin-not-on-node likely Node n2"}},
		{"never attached to a node that is gone", func() *cluster {
			c := left(20 * time.Minute)
			c.s.Cluster.Attachments[0].Status.Attached = false
			return c.remove("n1")
		}, []string{}},
		{"a namespace could not be read", func() *cluster {
			return left(20*time.Minute).probed("n1", func(f *probes.Facts) {
				f.Namespaces = append(f.Namespaces, probes.MountNamespace{ID: 2, PIDs: []int{99}})
				f.Processes = append(f.Processes, probes.Process{PID: 99, Comm: "x", MntNS: 2})
			})
		}, []string{"volumeattachment-stale likely " + va}},
		{"the kubelet still reports it", func() *cluster {
			c := left(20 * time.Minute)
			c.node("n1").Status.VolumesInUse = []corev1.UniqueVolumeName{unique}
			return c
		}, []string{}},
		{"a moment ago", func() *cluster { return left(time.Minute) }, []string{}},
		{"the PV is deleted behind an attachment that was never made", func() *cluster {
			c := left(20 * time.Minute)
			c.s.Cluster.Attachments[0].Status.Attached = false
			c.node("n1").Status.VolumesAttached = nil
			at := metav1.NewTime(now.Add(-time.Hour))
			c.s.Cluster.PVs[0].DeletionTimestamp = &at
			c.s.Cluster.PVs[0].Finalizers = []string{"external-attacher/disk-csi-example-org"}
			return c
		}, []string{"volumeattachment-volume-gone certain " + va}},
		{"the PV is gone", func() *cluster {
			c := left(20 * time.Minute)
			c.s.Cluster.PVs = nil
			return c
		}, []string{"volumeattachment-volume-gone certain " + va}},
		{"PVs not readable", func() *cluster {
			c := left(20 * time.Minute)
			c.s.Cluster.PVs = nil
			c.s.Gaps = []snapshot.Gap{{Need: "api//persistentvolumes", Reason: snapshot.Forbidden}}
			return c
		}, []string{}},
	})
}
