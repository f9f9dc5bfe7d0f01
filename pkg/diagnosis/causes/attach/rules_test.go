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
		c := newCluster().plugin("/var/lib/kubelet", 24*time.Hour, "n1", "n2", "n3")
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

func TestStateOutOfStep(t *testing.T) {
	t.Parallel()
	waiting := func() *cluster {
		c := newCluster().plugin("/var/lib/kubelet", 24*time.Hour, "n1", "n2", "n3")
		owned(c.pod("new", "n1", corev1.PodPending, 20*time.Minute), "StatefulSet", "db")
		return c
	}
	check(t, []branch{
		{"attached and not listed", func() *cluster {
			c := waiting()
			c.attached("n1", 20*time.Minute)
			c.node("n1").Status.VolumesAttached = nil
			return c
		}, []string{"attach-state-out-of-step certain Node n1"}},
		{"attached a moment ago", func() *cluster {
			c := waiting()
			c.attached("n1", time.Minute)
			c.node("n1").Status.VolumesAttached = nil
			return c
		}, []string{}},
		{"listed and no attachment", func() *cluster {
			c := waiting()
			c.attached("n1", time.Hour)
			c.s.Cluster.Attachments = nil
			return c
		}, []string{"attach-state-out-of-step certain Node n1"}},
		{"listed elsewhere and no attachment", func() *cluster {
			c := waiting()
			c.attached("n2", time.Hour)
			c.s.Cluster.Attachments = nil
			return c
		}, []string{"attach-state-out-of-step likely Node n2"}},
		{"attachments not readable", func() *cluster {
			c := waiting()
			c.attached("n1", time.Hour)
			c.s.Cluster.Attachments = nil
			c.s.Gaps = []snapshot.Gap{{Need: "api/storage.k8s.io/volumeattachments", Reason: snapshot.Forbidden}}
			return c
		}, []string{}},
		{"both agree", func() *cluster { c := waiting(); c.attached("n1", time.Hour); return c }, []string{}},
	})
}

func TestPlugin(t *testing.T) {
	t.Parallel()
	waiting := func(root string, age time.Duration, nodes ...string) *cluster {
		c := newCluster().plugin(root, age, nodes...).unregister("n1")
		c.pod("new", "n1", corev1.PodPending, 20*time.Minute)
		return c
	}
	kubelet := func(root, from string) func(*probes.Facts) {
		return func(f *probes.Facts) { f.Kubelet = probes.Kubelet{PID: 900, Root: root, RootFrom: from} }
	}
	check(t, []branch{
		{"tainted node", func() *cluster {
			c := waiting("/var/lib/kubelet", 24*time.Hour, "n2", "n3")
			c.node("n1").Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "db", Effect: corev1.TaintEffectNoSchedule}}
			return c
		}, []string{"csi-plugin-not-on-node certain Node n1"}},
		{"reason unknown", func() *cluster { return waiting("/var/lib/kubelet", 24*time.Hour, "n2", "n3") },
			[]string{"csi-plugin-not-on-node likely Node n1"}},
		{"new node", func() *cluster {
			c := waiting("/var/lib/kubelet", 24*time.Hour, "n2", "n3")
			c.node("n1").CreationTimestamp = metav1.NewTime(now.Add(-time.Minute))
			return c
		}, []string{"csi-plugin-not-on-node possible Node n1"}},
		{"pod there, driver unknown, root not seen", func() *cluster { return waiting("/var/lib/kubelet", 24*time.Hour, "n1", "n2", "n3") },
			[]string{"csi-plugin-not-registered likely Pod kube-system/disk-node-n1"}},
		{"pod there and crashing", func() *cluster {
			c := waiting("/var/lib/kubelet", 24*time.Hour, "n1", "n2", "n3")
			for _, p := range c.s.Cluster.Pods {
				if p.Name == "disk-node-n1" {
					p.Status.Conditions[0].Status = corev1.ConditionFalse
					p.Status.ContainerStatuses[0] = corev1.ContainerStatus{Name: "registrar", RestartCount: 9,
						State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}}
				}
			}
			return c
		}, []string{"csi-plugin-not-registered certain Pod kube-system/disk-node-n1"}},
		{"pod there, started a minute ago", func() *cluster { return waiting("/var/lib/kubelet", time.Minute, "n1", "n2", "n3") },
			[]string{"csi-plugin-not-registered possible Pod kube-system/disk-node-n1"}},
		{"other root, read on the node", func() *cluster {
			return waiting("/var/lib/kubelet", 24*time.Hour, "n1", "n2", "n3").probed("n1", kubelet("/data/kubelet", "--root-dir"))
		}, []string{"kubelet-root-dir-wrong certain DaemonSet kube-system/disk-node"}},
		{"other root, read on another node", func() *cluster {
			return waiting("/var/lib/kubelet", 24*time.Hour, "n1", "n2", "n3").unregister("n2").probed("n2", kubelet("/data/kubelet", "--root-dir"))
		}, []string{"kubelet-root-dir-wrong likely DaemonSet kube-system/disk-node"}},
		{"same root", func() *cluster {
			return waiting("/data/kubelet", 24*time.Hour, "n1", "n2", "n3").probed("n1", kubelet("/data/kubelet", "--root-dir"))
		}, []string{"csi-plugin-not-registered certain Pod kube-system/disk-node-n1"}},
		{"one directory through a link", func() *cluster {
			return waiting("/var/lib/kubelet", 24*time.Hour, "n1", "n2", "n3").probed("n1", func(f *probes.Facts) {
				kubelet("/data/kubelet", "--root-dir")(f)
				f.Files = map[string]probes.File{"var/lib/kubelet": {Kind: "link", Target: "../../data/kubelet"}}
			})
		}, []string{"csi-plugin-not-registered certain Pod kube-system/disk-node-n1"}},
		{"root only guessed", func() *cluster {
			return waiting("/data/kubelet", 24*time.Hour, "n1", "n2", "n3").probed("n1", kubelet("/var/lib/kubelet", "default"))
		}, []string{"csi-plugin-not-registered likely Pod kube-system/disk-node-n1"}},
		{"registered", func() *cluster {
			c := newCluster().plugin("/var/lib/kubelet", 24*time.Hour, "n1", "n2", "n3")
			c.pod("new", "n1", corev1.PodPending, 20*time.Minute)
			return c
		}, []string{}},
	})
}

func TestMissingDisk(t *testing.T) {
	t.Parallel()
	say := func(c *cluster) *cluster {
		c.s.Cluster.Events = append(c.s.Cluster.Events, &snapshot.Event{
			ObjectMeta: meta("shop", "ev", time.Minute), Kind: "Pod", ObjNamespace: "shop", ObjName: "new", ObjUID: "uid-new", Reason: "FailedMount", Type: "Warning",
			Message:   `MountVolume.MountDevice failed for volume "` + pvName + `" : rpc error: code = Internal desc = could not find attached disk`,
			Component: "kubelet", Host: "n1", Count: 4, First: now.Add(-9 * time.Minute), Last: now.Add(-time.Minute)})
		return c
	}
	waiting := func(more ...probes.BlockDevice) *cluster {
		c := newCluster().plugin("/var/lib/kubelet", 24*time.Hour, "n1", "n2", "n3")
		c.attached("n1", 10*time.Minute)
		owned(c.pod("new", "n1", corev1.PodPending, 10*time.Minute), "StatefulSet", "db")
		return c.probed("n1", func(f *probes.Facts) { f.Block = append(f.Block, more...) })
	}
	va := "VolumeAttachment " + snapshot.AttachmentName(handle, driver, "n1")
	disk := func(name, serial string, size int64) probes.BlockDevice {
		return probes.BlockDevice{Name: name, Dev: probes.Dev{Major: 8, Minor: 16}, Serial: serial, Sectors: size / 512}
	}
	check(t, []branch{
		{"every disk is another one", func() *cluster { return say(waiting(disk("sdb", "vol0ffffffffff", 5<<30))) },
			[]string{"attached-in-api-missing-on-node certain " + va}},
		{"a disk without identity", func() *cluster { return say(waiting(disk("sdb", "", 5<<30))) },
			[]string{"attached-in-api-missing-on-node possible " + va}},
		{"an unused disk of the size", func() *cluster { return say(waiting(disk("sdb", "", 10<<30))) }, []string{}},
		{"the disk is there", func() *cluster { return say(waiting(disk("sdb", "vol0a1b2c3d4e5f", 10<<30))) }, []string{}},
		{"nobody says so", func() *cluster { return waiting(disk("sdb", "vol0ffffffffff", 5<<30)) }, []string{}},
	})
}

func TestLonghornNodeGone(t *testing.T) {
	t.Parallel()
	stuck := func(state, replica string) *cluster {
		c := newCluster()
		c.s.Cluster.PVs[0].Spec.CSI.Driver = "driver.longhorn.io"
		owned(c.pod("new", "n1", corev1.PodPending, 10*time.Minute), "StatefulSet", "db")
		v := &snapshot.LHVolume{ObjectMeta: meta("longhorn-system", handle, time.Hour), NodeID: "n1"}
		v.Status.State, v.Status.OwnerID = state, "n1"
		r := &snapshot.LHReplica{ObjectMeta: meta("longhorn-system", handle+"-r-1", time.Hour)}
		r.VolumeName, r.NodeID, r.DesireState, r.CurrentState = handle, "gone", replica, "stopped"
		c.s.Cluster.Longhorn.Volumes, c.s.Cluster.Longhorn.Replicas = []*snapshot.LHVolume{v}, []*snapshot.LHReplica{r}
		return c
	}
	check(t, []branch{
		{"the replica that is wanted", func() *cluster { return stuck("attaching", "running") }, []string{"node-removed certain Node gone"}},
		{"a replica that nobody starts", func() *cluster { return stuck("attaching", "stopped") }, []string{"node-removed likely Node gone"}},
		{"the volume is attached", func() *cluster {
			c := stuck("attached", "running")
			c.s.Cluster.Longhorn.Volumes[0].Status.CurrentNodeID = "n1"
			return c
		}, []string{}},
	})
}
