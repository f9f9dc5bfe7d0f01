package attach_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

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
		{"attachments not readable, the kubelet says that there is none", func() *cluster {
			c := waiting()
			c.attached("n1", time.Hour)
			c.s.Cluster.Attachments = nil
			c.s.Gaps = []snapshot.Gap{{Need: "api/storage.k8s.io/volumeattachments", Reason: snapshot.Forbidden}}
			c.s.Cluster.Events = append(c.s.Cluster.Events, &snapshot.Event{
				ObjectMeta: meta("shop", "ev", time.Minute), Kind: "Pod", ObjNamespace: "shop", ObjName: "new", ObjUID: "uid-new", Reason: "FailedAttachVolume", Type: "Warning",
				Message:   `MountVolume.WaitForAttach failed for volume "` + pvName + `" : volume x has GET error for volume attachment csi-1: is forbidden: no relationship found between node 'n1' and this object`,
				Component: "kubelet", Host: "n1", Count: 4, Last: now.Add(-time.Minute)})
			return c
		}, []string{"attach-state-out-of-step likely Node n1"}},
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
		{"its pod was evicted and stays", func() *cluster {
			c := waiting("/var/lib/kubelet", 24*time.Hour, "n1", "n2", "n3")
			for _, pod := range c.s.Cluster.Pods {
				if pod.Spec.NodeName == "n1" && pod.Name != "new" {
					pod.Status.Phase, pod.Status.Reason = corev1.PodFailed, "Evicted"
				}
			}
			return c
		}, []string{"csi-plugin-not-on-node certain Node n1"}},
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

func TestDriverObject(t *testing.T) {
	t.Parallel()
	pending := func(age time.Duration) *cluster {
		c := newCluster().plugin("/var/lib/kubelet", 24*time.Hour, "n1", "n2", "n3")
		c.s.Cluster.CSIDrivers = nil
		c.attached("n1", age).Status.Attached = false
		c.node("n1").Status.VolumesAttached = nil
		c.pod("new", "n1", corev1.PodPending, age)
		return c
	}
	check(t, []branch{
		{"no object and no attacher", func() *cluster { return pending(20 * time.Minute) },
			[]string{"csidriver-object-wrong certain CSIDriver " + driver}},
		{"a moment ago", func() *cluster { return pending(time.Minute) }, []string{}},
		{"drivers not readable", func() *cluster {
			c := pending(20 * time.Minute)
			c.s.Gaps = []snapshot.Gap{{Need: "api/storage.k8s.io/csidrivers", Reason: snapshot.Forbidden}}
			return c
		}, []string{}},
		{"pods of a namespace not readable", func() *cluster {
			c := pending(20 * time.Minute)
			c.s.Gaps = []snapshot.Gap{{Need: "api//pods/kube-system", Reason: snapshot.Forbidden}}
			return c
		}, []string{"csidriver-object-wrong likely CSIDriver " + driver}},
		{"the attacher answers", func() *cluster {
			c := pending(20 * time.Minute)
			c.s.Cluster.Attachments[0].Status.AttachError = &storagev1.VolumeError{Message: "quota"}
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
			[]string{"attached-in-api-missing-on-node likely " + va}},
		{"a disk that was not read", func() *cluster {
			c := say(waiting(disk("sdb", "vol0ffffffffff", 5<<30)))
			c.s.Nodes["n1"].Facts.Problems = []probes.Problem{{Probe: "blockdev", Path: "sys/class/block/sdc/dev", Text: "EACCES"}}
			return c
		}, []string{}},
		{"a disk without identity", func() *cluster { return say(waiting(disk("sdb", "", 5<<30))) },
			[]string{"attached-in-api-missing-on-node possible " + va}},
		{"an unused disk of the size", func() *cluster { return say(waiting(disk("sdb", "", 10<<30))) }, []string{"device-link-missing likely Device n1/8:16"}},
		{"an unused disk of the size under another identity", func() *cluster { return say(waiting(disk("sdb", "6000c29aa0017", 10<<30))) },
			[]string{"attached-in-api-missing-on-node possible " + va}},
		{"the disk is there", func() *cluster { return say(waiting(disk("sdb", "vol0a1b2c3d4e5f", 10<<30))) }, []string{"device-link-missing certain Device n1/8:16"}},
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

func TestMissingLink(t *testing.T) {
	t.Parallel()
	waiting := func(links ...probes.DevLink) *cluster {
		c := newCluster().plugin("/var/lib/kubelet", 24*time.Hour, "n1", "n2", "n3")
		c.attached("n1", 20*time.Minute)
		c.pod("new", "n1", corev1.PodPending, 20*time.Minute)
		disk := probes.BlockDevice{Name: "nvme1n1", Dev: probes.Dev{Major: 259, Minor: 2}, Serial: "vol0a1b2c3d4e5f", Sectors: 10 << 21}
		return c.probed("n1", func(f *probes.Facts) { f.Block, f.DevLinks = append(f.Block, disk), links })
	}
	system := probes.DevLink{Path: "/dev/disk/by-id/ata-x", Dev: probes.Dev{Major: 8}}
	check(t, []branch{
		{"the driver's word has expired", func() *cluster { return waiting(system) }, []string{"device-link-missing likely Device n1/259:2"}},
		{"mount names the link", func() *cluster {
			c := waiting()
			c.s.Cluster.Events = append(c.s.Cluster.Events, &snapshot.Event{Kind: "Pod", ObjNamespace: "shop", ObjName: "new", ObjUID: "uid-new", Reason: "FailedMount", Type: "Warning", Component: "kubelet", Host: "n1",
				Message: `MountVolume.MountDevice failed for volume "` + pvName + `" : special device /dev/disk/by-id/scsi-0x1 does not exist`, First: now.Add(-time.Minute), Last: now.Add(-time.Minute)})
			return c
		}, []string{"device-link-missing certain Device n1/259:2"}},
		{"the link is there", func() *cluster {
			return waiting(system, probes.DevLink{Path: "/dev/disk/by-id/nvme-vol0a1b2c3d4e5f", Dev: probes.Dev{Major: 259, Minor: 2}})
		}, []string{}},
		{"links were not read", func() *cluster { return waiting() }, []string{}},
	})
}

func TestPathOnTheNode(t *testing.T) {
	t.Parallel()
	wants := func(kind corev1.HostPathType, found string) func() *cluster {
		return func() *cluster {
			c := newCluster().plugin("/var/lib/kubelet", 24*time.Hour, "n1", "n2", "n3")
			c.attached("n1", 20*time.Minute)
			p := c.pod("new", "n1", corev1.PodPending, 20*time.Minute)
			p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "etc", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/etc/app/", Type: &kind}}})
			return c.probed("n1", func(f *probes.Facts) { f.Files = map[string]probes.File{"etc/app": {Kind: found}} })
		}
	}
	const mismatch = "hostpath-type-mismatch certain Pod shop/new"
	check(t, []branch{
		{"a file where a directory is wanted, events expired", wants(corev1.HostPathDirectory, "file"), []string{mismatch}},
		{"a directory as wanted", wants(corev1.HostPathDirectory, "dir"), []string{}},
		{"a link may lead to one", wants(corev1.HostPathDirectory, "link"), []string{}},
		{"no type is wanted", wants(corev1.HostPathUnset, "file"), []string{}},
	})
}

func TestOnlyNodeInTheZone(t *testing.T) {
	t.Parallel()
	const key = "topology.disk.csi.example.org/zone"
	zoned := func(zone string) *cluster {
		c := newCluster().plugin("/var/lib/kubelet", 24*time.Hour, "n2", "n3").unregister("n1")
		c.pod("new", "", corev1.PodPending, 20*time.Minute)
		c.s.Cluster.PVs[0].Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{"a"}}}}}}}
		c.node("n1").Labels = map[string]string{corev1.LabelTopologyZone: zone}
		c.node("n1").Spec.Taints = []corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}}
		c.s.Cluster.Pods[len(c.s.Cluster.Pods)-1].Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		for _, n := range []string{"n2", "n3"} {
			c.node(n).Labels = map[string]string{key: "b"}
		}
		return c
	}
	check(t, []branch{
		{"it lacks the driver", func() *cluster { return zoned("a") }, []string{"csi-plugin-not-on-node certain Node n1"}},
		{"a node of another zone lacks it", func() *cluster { return zoned("c") }, []string{}},
	})
}
