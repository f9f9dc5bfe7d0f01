package symptom_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/symptom"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

const busy = `MountVolume.MountDevice failed for volume "pvc-0a1b2c3d" : rpc error: code = Internal desc = mount failed: exit status 32
Mounting arguments: -t ext4 /dev/sdb /g
Output: mount: /g: /dev/sdb already mounted or mount point busy.`

var tests = []struct {
	name string
	make func(*cluster)
	now  []string
	past []string
}{
	{"a pod waits for an hour", func(*cluster) {}, []string{"pod-waiting-for-volume"}, nil},
	{"its image is on its way", pulls, nil, nil},
	{"its image is on its way since the mount", func(c *cluster) { c.says("FailedMount", busy, 21*time.Minute); pulls(c) }, nil, []string{"mount-busy", "mount-failed"}},
	{"its image came, and nobody says more", func(c *cluster) {
		pulls(c)
		c.says("Pulled", `Successfully pulled image "db:16" in 9s`, 19*time.Minute)
	}, []string{"pod-waiting-for-volume"}, nil},
	{"Longhorn detaches since a moment", func(c *cluster) { detaching(c, 20*time.Second) }, nil, nil},
	{"Longhorn detaches for long", func(c *cluster) { detaching(c, 10*time.Minute) }, []string{"detach-stuck"}, nil},
	{"a pod was created just now", func(c *cluster) { c.pod.CreationTimestamp = ago(20 * time.Second) }, nil, nil},
	{"a young pod with an error", func(c *cluster) {
		c.pod.CreationTimestamp = ago(20 * time.Second)
		c.va.CreationTimestamp = ago(30 * time.Second)
		c.says("FailedMount", busy, 5*time.Second)
	}, []string{"mount-busy", "mount-failed", "pod-waiting-for-volume"}, nil},
	{"a pod runs", func(c *cluster) { c.runs() }, nil, nil},
	{"an image is not pulled", func(c *cluster) {
		c.pod.Status.ContainerStatuses[0].State.Waiting.Reason = "ImagePullBackOff"
	}, nil, nil},
	{"the sandbox is ready, so volumes are mounted", func(c *cluster) {
		c.pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionTrue}}
	}, nil, nil},
	{"the sandbox fails without a mount", func(c *cluster) {
		c.says("FailedCreatePodSandBox", "Failed to create pod sandbox: plugin type=\"calico\" failed: no route", time.Minute)
	}, nil, nil},
	{"an old error, the pod runs", func(c *cluster) {
		c.runs()
		c.says("FailedMount", busy, 30*time.Minute)
	}, nil, []string{"mount-busy", "mount-failed"}},
	{"a fresh error of a pod that is Ready", func(c *cluster) {
		c.runs()
		c.pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		c.says("FailedMount", busy, time.Minute)
	}, nil, []string{"mount-busy", "mount-failed"}},
	{"a pod takes over from one that ends", func(c *cluster) { moved(c, 10*time.Second) }, nil, nil},
	{"a pod takes over from one that ended a while ago", func(c *cluster) { moved(c, 20*time.Minute) }, []string{"multi-attach-error", "pod-stuck-terminating", "pod-waiting-for-volume"}, nil},
	{"a pod is started beside one that runs", func(c *cluster) {
		moved(c, 0)
		c.Cluster.Pods[1].DeletionTimestamp = nil
	}, []string{"multi-attach-error", "pod-waiting-for-volume"}, nil},
	{"a pod takes over, and the other node cannot unmount", func(c *cluster) {
		moved(c, 10*time.Second)
		c.Cluster.Events = append(c.Cluster.Events, &snapshot.Event{Kind: "Pod", ObjNamespace: "shop", ObjName: "db-old", Reason: "FailedUnMount", Component: "kubelet", Host: "old",
			Message: `UnmountVolume.NodeUnstageVolume failed for volume "pvc-0a1b2c3d" : rpc error: code = Internal desc = /dev/sdb is in use`, First: ago(5 * time.Second).Time, Last: ago(5 * time.Second).Time, Count: 1})
	}, []string{"multi-attach-error", "pod-waiting-for-volume", "unmount-blocked"}, nil},
	{"a pod took over, and the other node could not unmount for a while", func(c *cluster) {
		tookOver(c, time.Minute)
		c.saysOld(5 * time.Minute)
	}, nil, nil},
	{"a pod took over, and the other node cannot unmount since then", func(c *cluster) {
		tookOver(c, 10*time.Minute)
		c.saysOld(5 * time.Minute)
	}, []string{"unmount-blocked"}, nil},
	{"a pod took over, and the other node still has it in use", func(c *cluster) {
		tookOver(c, time.Minute)
		c.saysOld(5 * time.Minute)
		c.Cluster.Nodes[1].Status.VolumesInUse = []corev1.UniqueVolumeName{"kubernetes.io/csi/csi.example.com^vol-0a1b2c3d4e"}
	}, []string{"unmount-blocked"}, nil},
	{"a pod takes over, and the detachment is done", func(c *cluster) {
		moved(c, 10*time.Second)
		c.Cluster.Attachments = nil
	}, nil, nil},
	{"a pod takes over, and the detachment fails", func(c *cluster) {
		moved(c, 10*time.Second)
		c.va.Status.DetachError = &storagev1.VolumeError{Time: ago(5 * time.Second), Message: "no"}
	}, []string{"detach-stuck", "multi-attach-error", "pod-waiting-for-volume"}, nil},
	{"a young pod's ConfigMaps are not there yet", func(c *cluster) {
		c.pod.CreationTimestamp = ago(6 * time.Second)
		c.says("FailedMount", cacheNotSynced, 2*time.Second)
		c.says("FailedMount", `MountVolume.SetUp failed for volume "conf" : object "shop"/"conf" not registered`, 2*time.Second)
	}, nil, nil},
	{"a young pod's claim may not be read yet", func(c *cluster) {
		c.pod.CreationTimestamp = ago(6 * time.Second)
		c.says("FailedMount", notRelated, 2*time.Second)
	}, nil, nil},
	{"a young pod's claim is being made", func(c *cluster) { unbound(c, 20*time.Second) }, nil, nil},
	{"a young pod's claim is not made", func(c *cluster) { unbound(c, time.Hour) }, []string{"claim-pending", "pod-waiting-for-volume"}, nil},
	{"a young pod's claim is refused", func(c *cluster) {
		unbound(c, 20*time.Second)
		c.Cluster.Events = append(c.Cluster.Events, &snapshot.Event{Kind: "PersistentVolumeClaim", ObjNamespace: "shop", ObjName: c.claim.Name, Reason: "ProvisioningFailed", Type: "Warning", Message: "no", First: now.Add(-time.Second), Last: now.Add(-time.Second), Count: 1})
	}, []string{"claim-pending", "pod-waiting-for-volume"}, nil},
	{"a pod's ConfigMaps never come", func(c *cluster) {
		c.says("FailedMount", cacheNotSynced, 2*time.Second)
	}, []string{"mount-failed", "pod-waiting-for-volume"}, nil},
	{"a kubelet complains of a pod that ran to its end", func(c *cluster) {
		c.ended()
		c.says("FailedMount", `MountVolume.SetUp failed for volume "conf" : object "shop"/"conf" not registered`, 2*time.Second)
	}, nil, []string{"mount-failed"}},
	{"a pod's time was over before it had its volumes", func(c *cluster) {
		c.pod.Status.Phase, c.pod.Status.ContainerStatuses = corev1.PodFailed, nil
		c.says("FailedMount", cacheNotSynced, 2*time.Second)
	}, []string{"detach-stuck", "mount-failed"}, nil},
	{"Docker cannot make the source of a mount", func(c *cluster) {
		c.runs()
		c.hostPath("/mnt/s3")
		c.pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
		c.pod.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{Reason: "ContainerCannotRun",
			Message: `error while creating mount source path '/mnt/s3': mkdir /mnt/s3: file exists`}
	}, []string{"mount-failed", "pod-waiting-for-volume"}, nil},
	{"containerd cannot look at the source of a mount", func(c *cluster) {
		c.hostPath("/mnt/s3")
		c.pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: c.pod.Status.ContainerStatuses[0].Name, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CreateContainerError",
			Message: `failed to generate container "1a" spec: failed to generate spec: failed to stat "/mnt/s3": stat /mnt/s3: transport endpoint is not connected`}}}}
	}, []string{"mount-failed", "pod-waiting-for-volume", "volume-io-error"}, nil},
	{"a container starts a program that lies in the host's directory", func(c *cluster) {
		c.hostPath("/mnt/s3")
		c.pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: c.pod.Status.ContainerStatuses[0].Name, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CreateContainerError",
			Message: `exec: "/mnt/s3/run": stat /mnt/s3/run: no such file or directory`}}}}
	}, nil, nil},
	{"a container loops because a file is mounted onto a directory", func(c *cluster) {
		c.runs()
		c.pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
		c.pod.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{Reason: "StartError",
			Message: `error mounting "/x" to rootfs at "/etc/app.conf": not a directory`}
	}, []string{"mount-failed", "pod-waiting-for-volume"}, nil},
	{"a container loops by itself", func(c *cluster) {
		c.runs()
		c.pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
		c.pod.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 1}
	}, nil, nil},
	{"a claim goes away for an hour under a running pod", func(c *cluster) {
		c.runs()
		at := ago(time.Hour)
		c.claim.DeletionTimestamp = &at
	}, []string{"claim-pending"}, nil},
	{"a claim was deleted a moment ago", func(c *cluster) {
		c.runs()
		at := ago(20 * time.Second)
		c.claim.DeletionTimestamp = &at
	}, nil, nil},
	{"a claim was deleted a moment ago, and no pod keeps it", func(c *cluster) {
		at := ago(20 * time.Second)
		c.claim.DeletionTimestamp, c.claim.Finalizers, c.Cluster.Pods, c.Cluster.Attachments = &at, []string{"backup.example.com/protect"}, nil, nil
	}, []string{"claim-pending"}, nil},
	{"an attach was refused before it was made", func(c *cluster) {
		c.pod.CreationTimestamp = ago(20 * time.Second)
		c.says("FailedAttachVolume", `AttachVolume.Attach failed for volume "pvc-0a1b2c3d" : rpc error: code = FailedPrecondition desc = volume pvc-0a1b2c3d is attached to node n9`, 5*time.Second)
		c.Cluster.Events[len(c.Cluster.Events)-1].Host = ""
	}, []string{"pod-waiting-for-volume"}, []string{"attach-failed"}},
	{"the attachment was not there when the kubelet asked", func(c *cluster) {
		c.va.Status.Attached, c.va.CreationTimestamp, c.pod.CreationTimestamp = false, ago(20*time.Second), ago(30*time.Second)
		c.says("FailedMount", `MountVolume.WaitForAttach failed for volume "pvc-0a1b2c3d" : volumeattachments.storage.k8s.io "csi-1" is forbidden: User "system:node:new" cannot get resource "volumeattachments": no relationship found between node 'new' and this object`, 25*time.Second)
	}, nil, []string{"attach-failed"}},
	{"a container cannot be made because of a stale subPath", func(c *cluster) {
		c.runs()
		c.pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CreateContainerError",
			Message: `failed to prepare subPath for volumeMount "data" of container "db"`}}
	}, []string{"mount-failed", "pod-waiting-for-volume"}, nil},
	{"the attachment is late", func(c *cluster) { c.va.Status.Attached = false }, []string{"attach-failed", "pod-waiting-for-volume"}, nil},
	{"the attachment is seconds old", func(c *cluster) {
		c.va.Status.Attached = false
		c.va.CreationTimestamp = ago(10 * time.Second)
		c.pod.CreationTimestamp = ago(12 * time.Second)
	}, nil, nil},
	{"an attach error beside attached is stale", func(c *cluster) {
		c.runs()
		c.va.Status.AttachError = &storagev1.VolumeError{Time: ago(time.Minute), Message: "rpc error: code = Internal desc = no"}
	}, nil, nil},
	{"another node has the exclusive volume", func(c *cluster) {
		c.Cluster.Attachments = []*storagev1.VolumeAttachment{c.attachment("old", true)}
		c.Cluster.Pods = append(c.Cluster.Pods, onOldNode(c))
	}, []string{"multi-attach-error", "pod-waiting-for-volume"}, nil},
	{"an old Multi-Attach event after the attach", func(c *cluster) {
		c.runs()
		c.says("FailedAttachVolume", `Multi-Attach error for volume "pvc-0a1b2c3d" Volume is already exclusively attached to one node and can't be attached to another`, 55*time.Minute)
	}, nil, []string{"multi-attach-error"}},
	{"an attachment is being deleted for an hour", func(c *cluster) {
		c.runs()
		old := c.attachment("old", true)
		t := ago(time.Hour)
		old.DeletionTimestamp = &t
		c.Cluster.Attachments = append(c.Cluster.Attachments, old)
	}, []string{"detach-stuck"}, nil},
	{"nobody uses an attachment", func(c *cluster) { c.Cluster.Pods = nil }, []string{"detach-stuck"}, nil},
	{"its namespace is being deleted, and took its events along", func(c *cluster) {
		at := ago(20 * time.Second)
		c.Cluster.Pods, c.claim.DeletionTimestamp = nil, &at
	}, nil, nil},
	{"a claim waits for its first consumer", func(c *cluster) {
		unbind(c)
		mode := storagev1.VolumeBindingWaitForFirstConsumer
		c.class.VolumeBindingMode = &mode
		c.Cluster.Pods = nil
	}, nil, nil},
	{"a claim is not bound", unbind, []string{"claim-pending", "pod-waiting-for-volume"}, nil},
	{"a format fails", func(c *cluster) {
		c.says("FailedMount", `MountVolume.MountDevice failed for volume "pvc-0a1b2c3d" : rpc error: code = Internal desc = format of disk "/dev/sdb" failed: type:("ext4") target:("/g") errcode:exit status 1 output:mke2fs: /dev/sdb is apparently in use by the system; will not make a filesystem here!`, time.Minute)
	}, []string{"format-failed", "mount-failed", "pod-waiting-for-volume"}, nil},
	{"the check before mounting fails", func(c *cluster) {
		c.says("FailedMount", `MountVolume.MountDevice failed for volume "pvc-0a1b2c3d" : 'fsck' found errors on device /dev/sdb but could not correct them: UNEXPECTED INCONSISTENCY`, time.Minute)
	}, []string{"fsck-failed", "mount-failed", "pod-waiting-for-volume"}, nil},
	{"a filesystem went read-only", func(c *cluster) { c.runs(); c.mounted("ro") }, []string{"volume-readonly"}, nil},
	{"an image is a volume", func(c *cluster) {
		c.runs()
		c.mounted("ro").Namespaces[0].Mounts[0].FSType = "iso9660"
	}, nil, nil},
	{"a pod asks for read-only", func(c *cluster) {
		c.runs()
		c.mounted("ro")
		c.pod.Spec.Volumes[0].PersistentVolumeClaim.ReadOnly = true
	}, nil, nil},
	{"a mount answers EIO", func(c *cluster) {
		c.runs()
		c.mounted("rw").Statfs[publish] = probes.FSStat{Err: "EIO"}
	}, []string{"volume-io-error"}, nil},
	{"a mount hangs", func(c *cluster) {
		c.runs()
		c.mounted("rw").Statfs[publish] = probes.FSStat{Err: "hang"}
	}, []string{"volume-hung"}, nil},
	{"a read of the device hangs", func(c *cluster) {
		c.runs()
		f := c.mounted("rw")
		f.Contents = map[probes.Dev]probes.Content{f.Namespaces[0].Mounts[len(f.Namespaces[0].Mounts)-1].Dev: {Err: "hang"}}
	}, []string{"volume-hung"}, nil},
	{"a healthy mount", func(c *cluster) { c.runs(); c.mounted("rw") }, nil, nil},
	{"kernel errors of yesterday", func(c *cluster) {
		c.runs()
		c.mounted("rw").Kernel = []probes.KernelLine{{At: now.Add(-24 * time.Hour), Text: "I/O error, dev sdb", Names: []string{"sdb"}, Kind: "io-error"}}
	}, nil, []string{"volume-io-error"}},
	{"kernel errors of the mount before", func(c *cluster) {
		c.runs()
		f := c.mounted("rw")
		f.Superblocks = []probes.Superblock{{KName: "sdb", FSType: "ext4", Sysfs: true, ErrorsCount: 2}}
		f.Kernel = []probes.KernelLine{
			{At: now.Add(-4 * time.Minute), Micros: 1, Text: "Aborting journal on device sdb-8.", Names: []string{"sdb"}, Kind: "ext4-aborted"},
			{At: now.Add(-2 * time.Minute), Micros: 2, Text: "EXT4-fs (sdb): mounted filesystem", Names: []string{"sdb"}, Kind: "mounted"},
		}
	}, nil, []string{"volume-io-error"}},
	{"kernel errors of this mount", func(c *cluster) {
		c.runs()
		c.mounted("rw").Kernel = []probes.KernelLine{
			{At: now.Add(-4 * time.Minute), Micros: 1, Text: "EXT4-fs (sdb): mounted filesystem", Names: []string{"sdb"}, Kind: "mounted"},
			{At: now.Add(-2 * time.Minute), Micros: 2, Text: "Aborting journal on device sdb-8.", Names: []string{"sdb"}, Kind: "ext4-aborted"},
		}
	}, []string{"volume-io-error"}, nil},
	{"an expansion is not done", func(c *cluster) {
		c.runs()
		c.claim.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("2Gi")
		c.claim.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	}, []string{"expansion-pending"}, nil},
	{"a pod does not end", func(c *cluster) {
		c.runs()
		t, g := ago(10*time.Minute), int64(30)
		c.pod.DeletionTimestamp, c.pod.DeletionGracePeriodSeconds = &t, &g
	}, []string{"pod-stuck-terminating"}, nil},
	{"a pod is ending", func(c *cluster) {
		c.runs()
		t, g := ago(10*time.Second), int64(30)
		c.pod.DeletionTimestamp, c.pod.DeletionGracePeriodSeconds = &t, &g
	}, nil, nil},
}

func unbind(c *cluster) {
	name := c.class.Name
	c.claim.Status.Phase, c.claim.Spec.VolumeName, c.claim.Spec.StorageClassName = corev1.ClaimPending, "", &name
	c.pod.Spec.NodeName = ""
	c.pod.Status.ContainerStatuses = nil
	c.Cluster.PVs, c.Cluster.Attachments = nil, nil
}

const notRelated = `Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: error processing PVC shop/data: failed to fetch PVC from API server: persistentvolumeclaims "data" is forbidden: User "system:node:new" cannot get resource "persistentvolumeclaims" in API group "" in the namespace "shop": no relationship found between node 'new' and this object`

const cacheNotSynced = `MountVolume.SetUp failed for volume "kube-api-access-x7k2p" : failed to sync configmap cache: timed out waiting for the condition`

// unbound lets a young pod wait for a claim of an age for which no volume was made.
func unbound(c *cluster, age time.Duration) {
	c.pod.CreationTimestamp, c.claim.CreationTimestamp = ago(20*time.Second), ago(age)
	c.pod.Spec.NodeName, c.claim.Spec.VolumeName, c.claim.Status.Phase = "", "", corev1.ClaimPending
	c.Cluster.PVs, c.Cluster.Attachments = nil, nil
	c.says("FailedScheduling", "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.", 5*time.Second)
}

// moved lets the pod wait for a volume that node old has, whose pod was deleted so long ago.
func moved(c *cluster, deleted time.Duration) {
	c.pod.CreationTimestamp = ago(20 * time.Second)
	c.va = c.attachment("old", true)
	c.Cluster.Attachments = []*storagev1.VolumeAttachment{c.va}
	old, at := onOldNode(c), ago(deleted)
	old.DeletionTimestamp = &at
	c.Cluster.Pods = append(c.Cluster.Pods, old)
	c.says("FailedAttachVolume", `Multi-Attach error for volume "pvc-0a1b2c3d" Volume is already exclusively attached to one node and can't be attached to another`, 5*time.Second)
}

// tookOver lets the pod run since then with a volume that node old had before.
func tookOver(c *cluster, since time.Duration) {
	c.Cluster.Attachments = nil
	c.runs()
	c.pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: ago(since)}}
	c.pod.Status.ContainerStatuses[0].State.Running.StartedAt = ago(since)
}

func onOldNode(c *cluster) *corev1.Pod {
	p := c.pod.DeepCopy()
	p.Name, p.UID, p.Spec.NodeName = "db-old", "other", "old"
	p.Status = corev1.PodStatus{Phase: corev1.PodRunning}
	return p
}

func TestSymptoms(t *testing.T) {
	t.Parallel()
	catalog, err := diagnosis.NewCatalog(nil, symptom.Rules, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newCluster()
			tt.make(c)
			r := catalog.Evaluate(snapshot.NewIndex(c.Snapshot), diagnosis.Question{Kind: "pvc", Namespace: "shop", Name: "data-db-0"})
			var present, past []string
			for _, s := range r.Symptoms {
				if len(s.Evidence) == 0 || s.Message == "" || s.Subject.Name == "" {
					t.Errorf("%s has no evidence, message or subject: %+v", s.Name, s)
				}
				if s.Past {
					past = add(past, s.Name)
				} else {
					present = add(present, s.Name)
				}
			}
			slices.Sort(present)
			slices.Sort(past)
			if !slices.Equal(present, tt.now) || !slices.Equal(past, tt.past) {
				t.Errorf("present %v, past %v; want %v and %v", present, past, tt.now, tt.past)
			}
		})
	}
}

func add(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
