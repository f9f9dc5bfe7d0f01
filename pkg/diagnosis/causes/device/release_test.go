package device_test

import "testing"

const globalmount = "/var/lib/kubelet/plugins/kubernetes.io/csi/pv/pv-1/globalmount"

// TestReleaseBlocked has a pod that ended an hour ago and a volume that should go.
func TestReleaseBlocked(t *testing.T) {
	t.Parallel()
	staged := "31 21 8:16 / " + globalmount + " rw shared:9 - ext4 /dev/sdb rw\n"
	alive := []string{"sys/fs/ext4/sdb/errors_count", "0"}
	proc := func(cgroup, link, target, number string) []string {
		return []string{"proc/77/comm", "backupd", "proc/77/cgroup", "0::" + cgroup, "proc/77/ns/mnt", "@link mnt:[4026531841]", "proc/77/" + link, "@link " + target, "@dev/proc/77/" + link, number}
	}
	tests := []struct {
		name     string
		scene    scene
		want     []string
		remedies []string
	}{
		{"a file is open", scene{state: "ended", table: staged, entries: join(alive, proc("/system.slice/backupd.service", "fd/5", globalmount+"/x", "8:16"))}, []string{"certain device-held-by-process Process a/77"}, []string{"restart-holder"}},
		{"a shell stands in it", scene{state: "ended", table: staged, entries: join(alive, proc("/user.slice/user-0.slice/session-4.scope", "cwd", globalmount, "8:16"))}, []string{"certain device-held-by-process Process a/77"}, []string{"restart-holder"}},
		{"a detached mount with a holder", scene{state: "ended", entries: join(alive, []string{"@claim/8:16", "EBUSY"}, proc("/user.slice", "cwd", "/", "8:16"))}, []string{"certain mount-lazily-detached Device a/8:16"}, []string{"restart-holder"}},
		{"a mount of the host", scene{state: "ended", table: "31 21 8:16 / /mnt/rescue rw shared:9 - ext4 /dev/sdb rw", entries: alive}, []string{"certain device-held-by-process Device a/8:16"}, nil},
		{"left mounted where the attachment still is", scene{state: "moved", table: staged, entries: alive}, []string{"certain device-mapped-on-other-node Device a/8:16"}, nil},
		{"left mounted, a dead mount has its name", scene{state: "moved", table: staged + "32 21 8:99 / /var/lib/kubelet/plugins/kubernetes.io/csi/pv/pv-2/globalmount rw shared:8 - ext4 /dev/sdb rw", entries: alive}, []string{"likely mount-of-dead-device Device a/8:99"}, nil},
		{"a container of a pod deleted by force", scene{state: "moved", table: staged + "32 21 8:16 / /var/lib/kubelet/pods/33333333-3333-3333-3333-333333333333/volumes/kubernetes.io~csi/pv-1/mount rw shared:9 - ext4 /dev/sdb rw\n", entries: join(alive, []string{"proc/77/comm", "db", "proc/77/cgroup", "0::/kubepods/pod33333333-3333-3333-3333-333333333333/0123", "proc/77/ns/mnt", "@link mnt:[4026532000]", "proc/77/mountinfo", "40 30 8:16 / /data rw - ext4 /dev/sdb rw"})}, []string{"likely device-held-by-process Process a/77"}, nil},
		{"the pod runs", scene{state: "running", table: staged + "32 21 8:16 / /var/lib/kubelet/pods/" + podUID + "/volumes/kubernetes.io~csi/pv-1/mount rw shared:9 - ext4 /dev/sdb rw", entries: join(alive, proc("/kubepods/pod"+podUID+"/0123", "fd/5", "/data/x", "8:16"))}, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			check(t, tt.scene.run(t, claim), tt.want, tt.remedies)
		})
	}
}
