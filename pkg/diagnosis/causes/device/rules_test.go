package device_test

import (
	"slices"
	"testing"
)

func join(lists ...[]string) []string { return slices.Concat(lists...) }

func TestHoldersOfTheDisk(t *testing.T) {
	t.Parallel()
	taken := []string{"@claim/8:16", "EBUSY"}
	read := []string{"proc/swaps", "Filename Type Size Used Priority", "proc/mdstat", "Personalities :"}
	lv := dm("dm-3", "253:3", "guest-root", vg+"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "sdb")
	stretched := dm("dm-4", "253:4", "guest-home", vg+"cccccccccccccccccccccccccccccccc", "sdx")
	array := []string{"sys/class/block/sdb/holders/md127", "@dir", "sys/class/block/md127/dev", "9:127", "sys/class/block/md127/slaves/sdb", "@dir", "sys/class/block/md127/md/array_state", "read-auto"}
	mpath := dm("dm-5", "253:5", "mpatha", "mpath-3600", "sdb")
	fd := func(flags string) []string {
		return []string{"proc/77/comm", "backupd", "proc/77/cgroup", "0::/system.slice/backupd.service", "proc/77/ns/mnt", "@link mnt:[4026531841]", "proc/77/fd/5", "@link /dev/sdb", "@dev/proc/77/fd/5", "8:16", "proc/77/fdinfo/5", "pos:\t0\nflags:\t" + flags + "\n"}
	}
	consumer := []string{"proc/78/comm", "qemu", "proc/78/cgroup", "0::/kubepods/pod" + podUID + "/0123", "proc/78/ns/mnt", "@link mnt:[4026531841]", "proc/78/fd/5", "@link /dev/sdb", "@dev/proc/78/fd/5", "8:16", "proc/78/fdinfo/5", "pos:\t0\nflags:\t0100200\n"}
	tests := []struct {
		name     string
		scene    scene
		want     []string
		remedies []string
	}{
		{"multipath", scene{message: busy, entries: join(mpath, taken)}, []string{"certain multipath-claims-device Device a/8:16"}, []string{"multipath-flush", "delete-pod"}},
		{"multipath, no event left", scene{entries: join(mpath, taken)}, []string{"certain multipath-claims-device Device a/8:16"}, []string{"multipath-flush", "delete-pod"}},
		{"the map is gone, the error is fresh", scene{message: busy, entries: []string{"@claim/8:16", "free", "run/udev/data/b8:16", "E:DM_MULTIPATH_DEVICE_PATH=1", "@multipathd/show maps json", `{"maps":[]}`}}, []string{"likely multipath-claims-device Device a/8:16"}, nil},
		{"the map is mounted for the pod", scene{state: "running", entries: mpath, table: "31 21 253:5 / /var/lib/kubelet/pods/" + podUID + "/volumes/kubernetes.io~csi/pv-1/mount rw shared:9 - ext4 /dev/mapper/mpatha rw"}, nil, nil},
		{"a logical volume of a guest", scene{message: busy, entries: join(lv, taken)}, []string{"certain lvm-claims-device Device a/8:16"}, []string{"vgchange-deactivate"}},
		{"the group of ceph-volume", scene{message: busy, entries: join(dm("dm-3", "253:3", "ceph--0a1b-osd--block--2c", vg+"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "sdb"), taken)}, nil, nil},
		{"a guest's partition", scene{message: busy, entries: join(dm("dm-3", "253:3", "guest-root", vg+"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "sdb2"), taken, []string{"sys/class/block/sdb2/dev", "8:18", "sys/class/block/sdb2/partition", "2"})}, []string{"certain lvm-claims-device Device a/8:16"}, []string{"vgchange-deactivate"}},
		{"a group on two disks", scene{message: busy, entries: join(lv, stretched, taken, []string{"sys/class/block/sdx/dev", "8:240"})}, []string{"certain lvm-claims-device Device a/8:16"}, nil},
		{"the logical volume is mounted", scene{message: busy, entries: join(lv, taken), table: "31 21 253:3 / /mnt/rescue rw shared:9 - ext4 /dev/mapper/guest-root rw"}, []string{"certain device-held-by-process Device a/8:16"}, nil},
		{"the host has the map mounted", scene{message: busy, entries: join(mpath, taken), table: "31 21 253:5 / /srv rw shared:9 - ext4 /dev/mapper/mpatha rw"}, []string{"certain device-held-by-process Device a/8:16"}, nil},
		{"an md array", scene{message: busy, entries: join(array, taken, []string{"sys/class/block/sdb/device/wwid", "naa.6000"})}, []string{"certain md-claims-device Device a/8:16"}, []string{"unmap-device"}},
		{"an md array of a disk that nothing tells from another", scene{message: busy, entries: join(array, taken)}, []string{"certain md-claims-device Device a/8:16"}, nil},
		{"an md array with a mount", scene{message: busy, entries: join(array, taken), table: "31 21 9:127 / /srv rw shared:9 - ext4 /dev/md127 rw"}, []string{"certain device-held-by-process Device a/8:16"}, nil},
		{"claimed, nobody seen", scene{message: busy, entries: join(read, taken)}, []string{"certain device-claimed-by-unknown Device a/8:16"}, nil},
		{"claimed, a namespace unread", scene{message: busy, entries: join(read, taken, []string{"proc/88/comm", "x", "proc/88/ns/mnt", "@link mnt:[4026539999]"})}, []string{"possible device-claimed-by-unknown Device a/8:16"}, nil},
		{"free now", scene{message: busy, entries: join(read, []string{"@claim/8:16", "free"})}, nil, nil},
		{"swap", scene{message: busy, entries: join(taken, []string{"proc/swaps", "Filename Type Size Used Priority\n/dev/sdb partition 1048572 0 -2"})}, []string{"certain device-held-by-process Device a/8:16"}, nil},
		{"opened exclusively", scene{message: busy, entries: join(read, taken, fd("0100200"))}, []string{"certain device-held-by-process Process a/77"}, []string{"restart-holder"}},
		{"opened exclusively, the claim was not tested", scene{message: busy, entries: join(read, fd("0100200"))}, []string{"certain device-held-by-process Process a/77"}, []string{"restart-holder"}},
		{"opened, the flag unseen, the claim was not tested", scene{message: busy, entries: join(read, fd("0100000"))}, nil, nil},
		{"opened, the flag unseen", scene{message: busy, entries: join(read, taken, fd("0100000"))}, []string{"likely device-held-by-process Process a/77"}, nil},
		{"a partition is mounted by the host", scene{message: busy, entries: join(read, taken, []string{"sys/class/block/sdb1/dev", "8:17", "sys/class/block/sdb1/partition", "1"}), table: "31 21 8:17 / /srv rw shared:9 - ext4 /dev/sdb1 rw"}, []string{"certain device-held-by-process Device a/8:16"}, nil},
		{"another kind of holder", scene{message: busy, entries: join(read, taken, []string{"sys/class/block/sdb/holders/bcache0", "@dir"})}, []string{"likely device-claimed-by-unknown Device a/8:16"}, nil},
		{"opened by the pod itself", scene{mode: "Block", message: busy, entries: join(read, taken, consumer)}, nil, nil},
		{"a plain descriptor on a free disk", scene{message: busy, entries: join(read, fd("0100000"), []string{"@claim/8:16", "free"})}, nil, nil},
		{"a filesystem without a mount", scene{message: busy, entries: join(read, taken, []string{"sys/fs/ext4/sdb/errors_count", "0"})}, []string{"certain mount-lazily-detached Device a/8:16"}, nil},
		{"not probed, busy text only", scene{message: busy, noProbe: true}, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			check(t, tt.scene.run(t, claim), tt.want, tt.remedies)
		})
	}
}
