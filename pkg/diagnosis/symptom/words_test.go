package symptom_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/symptom"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

const setUp = `MountVolume.SetUp failed for volume "pvc-0a1b2c3d" : rpc error: code = `

// logs adds the newest line of a kubelet's or plugin's log on the pod's node.
func (c *cluster) logs(line string) {
	c.Cluster.Pods = append(c.Cluster.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "csi-node-x", UID: "plugin"},
		Spec: corev1.PodSpec{NodeName: "new"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}})
	c.Logs = append(c.Logs, snapshot.Log{Namespace: "kube-system", Pod: "csi-node-x", Container: "driver", Lines: []string{now.Add(-time.Minute).Format(time.RFC3339) + " " + line}})
}

// TestWords: what components say, each in the words of one version or tool.
func TestWords(t *testing.T) {
	t.Parallel()
	catalog, err := diagnosis.NewCatalog(nil, symptom.Rules, nil)
	if err != nil {
		t.Fatal(err)
	}
	unscheduled := func(text string) func(*cluster) {
		return func(c *cluster) {
			c.pod.Spec.NodeName, c.pod.Status.ContainerStatuses, c.Cluster.Attachments = "", nil, nil
			c.says("FailedScheduling", text, time.Minute)
		}
	}
	mount := func(text string) func(*cluster) {
		return func(c *cluster) { c.says("FailedMount", setUp+text, time.Minute) }
	}
	log := func(text string) func(*cluster) { return func(c *cluster) { c.runs(); c.logs(text) } }
	for _, tt := range []struct {
		name string
		make func(*cluster)
		want []string
	}{
		{"scheduler: no zone", unscheduled("0/3 nodes are available: 3 node(s) had no available volume zone."), []string{"pod-waiting-for-volume"}},
		{"scheduler: nothing to bind", unscheduled("0/3 nodes are available: 3 node(s) didn't find available persistent volumes to bind."), []string{"pod-waiting-for-volume"}},
		{"scheduler: the PV is gone", unscheduled("0/3 nodes are available: 3 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)."), []string{"pod-waiting-for-volume"}},
		{"scheduler: the disk is taken", unscheduled("0/3 nodes are available: 3 node(s) had no available disk."), []string{"pod-waiting-for-volume"}},
		{"scheduler: no memory", unscheduled("0/3 nodes are available: 3 Insufficient memory."), nil},
		{"dockershim: runc of 2019", func(c *cluster) {
			c.runs()
			c.pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "RunContainerError",
				Message: `failed to start container: rootfs_linux.go:58: mounting \"/mnt/d\" to rootfs \"/x\" caused \"stale\"`}}
		}, []string{"mount-failed", "pod-waiting-for-volume"}},
		{"dockershim: ContainerCannotRun", func(c *cluster) {
			c.runs()
			c.pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
			c.pod.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{Reason: "ContainerCannotRun",
				FinishedAt: ago(time.Minute), Message: `error mounting "/var/lib/kubelet/pods/u/volume-subpaths/data/db/0" to rootfs: no such file or directory`}
		}, []string{"mount-failed", "pod-waiting-for-volume"}},
		{"busybox: mount", mount("Internal desc = mount: mounting /dev/sdb on /g failed: Resource busy"), []string{"mount-busy", "mount-failed", "pod-waiting-for-volume"}},
		{"mount.nfs: busy", mount("Internal desc = mount.nfs: /g is busy or already mounted or sharecache fail"), []string{"mount-busy", "mount-failed", "pod-waiting-for-volume"}},
		{"mkfs.xfs: busy", mount("Internal desc = mkfs.xfs: cannot open /dev/sdb: Device or resource busy"), []string{"format-failed", "mount-busy", "mount-failed", "pod-waiting-for-volume"}},
		{"a call hangs and its retry finds it", func(c *cluster) {
			mount("DeadlineExceeded desc = context deadline exceeded")(c)
			mount("Aborted desc = An operation with the given Volume ID vol-0a1b2c3d4e already exists")(c)
		}, []string{"mount-failed", "pod-waiting-for-volume", "volume-hung"}},
		{"a call is only late", mount("DeadlineExceeded desc = context deadline exceeded"), []string{"mount-failed", "pod-waiting-for-volume"}},
		{"only the kubelet's log tells", func(c *cluster) {
			c.logs(`E0504 nestedpendingoperations.go:348] "` + setUp + `Internal desc = mount failed: exit status 32" pod "db-0"`)
		}, []string{"mount-failed", "pod-waiting-for-volume"}},
		{"the disk holds another filesystem", func(c *cluster) {
			c.Cluster.Events = append(c.Cluster.Events, &snapshot.Event{Kind: "PersistentVolume", ObjName: "pvc-0a1b2c3d", Reason: "FailedMountOnFilesystemMismatch",
				Message: `MountVolume failed for volume "pvc-0a1b2c3d" mount failed`, First: ago(time.Minute).Time, Last: ago(time.Minute).Time, Count: 1})
		}, []string{"mount-failed", "pod-waiting-for-volume"}},
		{"the attachment was deleted under the kubelet", func(c *cluster) {
			c.Cluster.Attachments = nil
			c.Cluster.CSIDrivers = []*storagev1.CSIDriver{{ObjectMeta: metav1.ObjectMeta{Name: "csi.example.com"}}}
			c.says("FailedMount", `MountVolume.WaitForAttach failed for volume "pvc-0a1b2c3d" : volume vol-0a1b2c3d4e has GET error for volume attachment csi-1: not found`, time.Minute)
		}, []string{"attach-failed", "mount-failed", "pod-waiting-for-volume"}},
		{"umount of busybox", log("pvc-0a1b2c3d: umount: can't unmount /g: Device or resource busy"), []string{"unmount-blocked"}},
		{"umount.nfs4", log("pvc-0a1b2c3d: umount.nfs4: /g: device is busy"), []string{"unmount-blocked"}},
		{"a plugin cannot unmount", log("failed to unmount volume pvc-0a1b2c3d mount point /g: exit status 1"), []string{"unmount-blocked"}},
		{"a probe writes to a read-only volume", func(c *cluster) {
			c.runs()
			c.pod.Spec.Containers = []corev1.Container{{Name: "db", VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}}}
			c.says("Unhealthy", "Liveness probe failed: touch: cannot touch '/data/alive': Read-only file system", time.Minute)
		}, []string{"volume-readonly"}},
		{"a probe writes elsewhere", func(c *cluster) {
			c.runs()
			c.pod.Spec.Containers = []corev1.Container{{Name: "db", VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}}}
			c.says("Unhealthy", "Liveness probe failed: touch: cannot touch '/etc/alive': Read-only file system", time.Minute)
		}, nil},
		{"the filesystem cannot grow", func(c *cluster) {
			c.says("FailedMount", `MountVolume.MountDevice failed for volume "pvc-0a1b2c3d" : resize of device /dev/sdb failed: exit status 1. resize2fs output: Please run 'e2fsck -f /dev/sdb' first.`, time.Minute)
		}, []string{"expansion-pending", "mount-failed", "pod-waiting-for-volume"}},
		{"the filesystem has grown since", func(c *cluster) {
			c.runs()
			c.says("VolumeResizeFailed", `NodeExpandVolume.NodeExpandVolume failed for volume "pvc-0a1b2c3d" : rpc error: code = DeadlineExceeded desc = context deadline exceeded`, 5*time.Minute)
			c.says("FileSystemResizeSuccessful", `MountVolume.NodeExpandVolume succeeded for volume "pvc-0a1b2c3d"`, time.Minute)
		}, nil},
		{"it failed again since", func(c *cluster) {
			c.runs()
			c.says("FileSystemResizeSuccessful", `MountVolume.NodeExpandVolume succeeded for volume "pvc-0a1b2c3d"`, 5*time.Minute)
			c.says("VolumeResizeFailed", `NodeExpandVolume.NodeExpandVolume failed for volume "pvc-0a1b2c3d" : rpc error: code = DeadlineExceeded desc = context deadline exceeded`, time.Minute)
		}, []string{"expansion-pending"}},
		{"an old pod ends and still runs", func(c *cluster) {
			old := onOldNode(c)
			gone, grace := ago(20*time.Minute), int64(30)
			old.DeletionTimestamp, old.DeletionGracePeriodSeconds = &gone, &grace
			old.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "db", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
			c.Cluster.Pods = append(c.Cluster.Pods, old)
			c.Cluster.Attachments = []*storagev1.VolumeAttachment{c.attachment("old", true)}
			c.Cluster.Nodes[1].Status.VolumesInUse = []corev1.UniqueVolumeName{"kubernetes.io/csi/csi.example.com^vol-0a1b2c3d4e"}
		}, []string{"multi-attach-error", "pod-stuck-terminating", "pod-waiting-for-volume"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newCluster()
			tt.make(c)
			r := catalog.Evaluate(snapshot.NewIndex(c.Snapshot), diagnosis.Question{Kind: "pvc", Namespace: "shop", Name: "data-db-0"})
			var got []string
			for _, s := range r.Symptoms {
				if !s.Past {
					got = add(got, s.Name)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, tt.want) {
				t.Errorf("symptoms %v, want %v", got, tt.want)
			}
		})
	}
}
