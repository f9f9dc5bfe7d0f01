package filesystem_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

func TestWatchLimit(t *testing.T) {
	t.Parallel()
	log := func(path, line string, free uint64) *host {
		h := newHost(corev1.PodPending)
		h.f.Files = map[string]probes.File{path: {Kind: "file", Content: line}, "proc/sys/fs/inotify/max_user_watches": {Kind: "file", Content: "8192"}}
		h.f.Statfs = map[string]probes.FSStat{"/var/lib/kubelet": {Blocks: 100, Avail: free, Files: 100, FilesFree: 50}}
		return h
	}
	const klog = "E0302 02:58:00.000000    1234 plugin_manager.go:120] \"Failed to start Plugin Watcher\" err=\"failed to watch /var/lib/kubelet/plugins_registry: no space left on device\""
	reached := []string{"node-watch-limit-reached certain Node n1"}
	check(t, []branch{
		{"the kubelet's own log", log("var/log/kubelet.log", klog, 50), reached},
		{"the system's log, too many instances", log("var/log/syslog", "Mar  2 02:58:00 n1 k3s[88]: E0302 02:58:00.1 88 x.go:1] Failed to start Plugin Watcher: too many open files", 50), reached},
		{"the disk is full", log("var/log/kubelet.log", klog, 0), []string{}},
		{"an old line", log("var/log/kubelet.log", "E0302 01:58:00.000000    1234 x.go:120] Failed to start Plugin Watcher: no space left on device", 50), []string{}},
		{"another program", log("var/log/syslog", "Mar  2 02:58:00 n1 tail[77]: inotify cannot be used: no space left on device", 50), []string{}},
	})
}

func TestFSGroupChownSlow(t *testing.T) {
	t.Parallel()
	group, once := int64(2000), corev1.FSGroupChangeOnRootMismatch
	build := func(files uint64, policy *corev1.PodFSGroupChangePolicy) *host {
		h := newHost(corev1.PodPending).says("Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[data]: timed out waiting for the condition").mounts("ext4", "rw")
		h.s.Cluster.Pods[0].Spec.SecurityContext = &corev1.PodSecurityContext{FSGroup: &group, FSGroupChangePolicy: policy}
		h.f.Statfs = map[string]probes.FSStat{h.f.Namespaces[0].Mounts[1].Point: {Blocks: 10, Avail: 5, Files: 10_000_000, FilesFree: 10_000_000 - files}}
		return h
	}
	walks := func(h *host) {
		h.f.Kubelet.PID = 9
		h.f.Processes = append(h.f.Processes, probes.Process{PID: 9, Comm: "kubelet", MntNS: 1, Threads: []probes.Thread{{TID: 12, State: "R", Stack: "[<0>] chown_common+0x16e/0x1b0"}}})
	}
	frozen := func(h *host) { // recorded on 6.18: the kubelet of a pod with fsGroup, after fsfreeze -f
		h.f.Processes[len(h.f.Processes)-1].Threads[0] = probes.Thread{TID: 12, State: "D", WChan: "percpu_rwsem_wait",
			Stack: "[<0>] percpu_rwsem_wait+0x15f/0x1d0\n[<0>] mnt_want_write+0x96/0xc0\n[<0>] do_fchownat+0x75/0xf0\n[<0>] __x64_sys_fchownat+0x1b/0x30"}
	}
	uncounted := func(h *host) {
		h.f.Statfs = map[string]probes.FSStat{h.f.Namespaces[0].Mounts[1].Point: {Blocks: 10, Avail: 5, Files: 731904, FilesFree: 1<<64 - 1}}
	}
	attached := func(h *host) {
		h.pv.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "disk.example.org", VolumeHandle: "d-1", FSType: "ext4"}}
		name := "pv-data"
		h.s.Cluster.Attachments = append(h.s.Cluster.Attachments, &storagev1.VolumeAttachment{ObjectMeta: meta("", "csi-1"), Status: storagev1.VolumeAttachmentStatus{Attached: true},
			Spec: storagev1.VolumeAttachmentSpec{Attacher: "disk.example.org", NodeName: "n1", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name}}})
	}
	const reports = "Setting volume ownership for uid-db/volumes/x/mount, processed 110453 files."
	silent := func(h *host) { h.s.Cluster.Events[len(h.s.Cluster.Events)-1].Last = now.Add(-20 * time.Minute) }
	check(t, []branch{
		{"the kubelet reports, node not seen", build(500, nil).says(reports).unprobed(), []string{"fsgroup-chown-slow likely Pod shop/db"}},
		{"the kubelet fell silent, node not seen", build(500, nil).says(reports).change(silent).unprobed(), []string{}},
		{"it fell silent, and time runs out, node not seen", build(500, nil).change(attached).says(reports).change(silent).unprobed(), []string{}},
		{"it fell silent, and its thread changes owners", build(500, nil).says(reports).change(silent).change(walks), []string{"fsgroup-chown-slow certain Pod shop/db"}},
		{"millions of files", build(4_000_000, nil), []string{"fsgroup-chown-slow likely Pod shop/db"}},
		{"and a thread that changes owners", build(4_000_000, nil).change(walks), []string{"fsgroup-chown-slow certain Pod shop/db"}},
		{"the kubelet says so", build(500, nil).says("Setting volume ownership for /x and fsGroup set. If the volume has a lot of files then setting volume ownership could be slow"), []string{"fsgroup-chown-slow certain Pod shop/db"}},
		{"the filesystem is frozen under it", build(4_000_000, nil).says("Setting volume ownership for /x is taking longer than expected, consider using OnRootMismatch").change(walks).change(frozen), []string{}},
		{"files are not counted", build(0, nil).change(uncounted), []string{}},
		{"not counted, a thread that changes owners", build(0, nil).change(uncounted).change(walks), []string{"fsgroup-chown-slow likely Pod shop/db"}},
		{"not counted, the kubelet says so", build(0, nil).change(uncounted).says("Setting volume ownership for /x and fsGroup set. If the volume has a lot of files then setting volume ownership could be slow"), []string{"fsgroup-chown-slow certain Pod shop/db"}},
		{"a thread on another filesystem", build(0, nil).change(uncounted).change(walks).change(func(h *host) {
			h.f.Processes[len(h.f.Processes)-1].Threads[0].Stack = "[<0>] nfs_setattr+0x1/0x2 [nfs] chown_common"
		}), []string{}},
		{"the kubelet hangs on a server", build(4_000_000, nil).change(walks).change(func(h *host) { h.f.Processes[len(h.f.Processes)-1].Threads[0].Stack = "[<0>] ext4_lookup" }), []string{"fsgroup-chown-slow likely Pod shop/db"}},
		{"only time runs out, nobody attaches it, node not seen", build(4_000_000, nil).unprobed(), []string{}},
		{"attached, only time runs out, node not seen", build(4_000_000, nil).change(attached).unprobed(), []string{"fsgroup-chown-slow likely Pod shop/db"}},
		{"refused, node not seen", build(4_000_000, nil).says(wrongType).unprobed(), []string{}},
		{"few files", build(500, nil), []string{}},
		{"only on mismatch", build(4_000_000, &once), []string{}},
		{"an error of the mount", build(4_000_000, nil).says(wrongType), []string{}},
	})
}

func TestSELinuxLabelConflict(t *testing.T) {
	t.Parallel()
	check(t, []branch{
		{"the kubelet's words", newHost(corev1.PodPending).says(`conflicting SELinux labels of volume data: "system_u:object_r:container_file_t:s0:c1,c2" and "system_u:object_r:container_file_t:s0:c3,c4"`), []string{"selinux-label-conflict certain Pod shop/db"}},
		{"waits for an unmount", newHost(corev1.PodPending).says("waiting for unmount of volume pv-data, because it is already mounted to a different pod with a different SELinux label"), []string{"selinux-label-conflict certain Pod shop/db"}},
		{"plain permissions", newHost(corev1.PodPending).says("open /data/x: permission denied"), []string{}},
	})
}
