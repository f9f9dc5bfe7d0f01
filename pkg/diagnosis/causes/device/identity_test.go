package device_test

import (
	"strings"
	"testing"
)

func TestMapper(t *testing.T) {
	t.Parallel()
	const uuid = "CRYPT-LUKS2-0123-" + handle
	exists := `MountVolume.MountDevice failed for volume "pv-1": rpc error: code = Internal desc = cryptsetup luksOpen failed: Device ` + handle + ` already exists.`
	own := dm("dm-3", "253:3", handle, uuid, "sdb")
	bare := dm("dm-3", "253:3", handle, uuid)
	old := join(dm("dm-3", "253:3", handle, uuid, "sdx"), []string{"sys/class/block/sdx/dev", "8:240", "sys/class/block/sdx/device/state", "running"})
	fd := []string{"proc/77/comm", "dd", "proc/77/cgroup", "0::/user.slice", "proc/77/ns/mnt", "@link mnt:[4026531841]", "proc/77/fd/5", "@link /dev/dm-3", "@dev/proc/77/fd/5", "253:3"}
	tests := []struct {
		name     string
		scene    scene
		want     []string
		remedies []string
	}{
		{"its disk is gone", scene{message: exists, entries: bare}, []string{"certain crypt-mapper-stale Device a/253:3"}, []string{"crypt-close"}},
		{"over another disk", scene{message: exists, entries: old}, []string{"certain crypt-mapper-stale Device a/253:3"}, []string{"crypt-close"}},
		{"a volume group on it", scene{message: exists, entries: join(bare, dm("dm-4", "253:4", "guest-root", vg+"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "dm-3"))}, []string{"certain lvm-claims-device Device a/8:16"}, nil},
		{"in use", scene{message: exists, entries: join(bare, fd)}, []string{"certain crypt-mapper-stale Device a/253:3"}, nil},
		{"the rightful one", scene{attrs: "encrypted: 'true'", entries: own}, nil, nil},
		{"of an unknown form", scene{message: exists, entries: dm("dm-3", "253:3", "other", "CRYPT-LUKS2-9-other", "sda2")}, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			check(t, tt.scene.run(t, claim), tt.want, tt.remedies)
		})
	}
}

func TestRBD(t *testing.T) {
	t.Parallel()
	const rbd, image = "rook-ceph.rbd.csi.ceph.com", "pool: fast, imageName: csi-vol-1"
	used := `MountVolume.MountDevice failed for volume "pv-1": rpc error: code = Internal desc = rbd image fast/csi-vol-1 is still being used`
	mismatch := `MountVolume.MountDevice failed for volume "pv-1": rpc error: code = Internal desc = rbd: map failed with error an error (exit status 6) occurred while running rbd, rbd output: rbd: sysfs write failed RBD image feature set mismatch. You can disable features unsupported by the kernel with "rbd feature disable csi-vol-1 object-map fast-diff". rbd: map failed: (6) No such device or address`
	kmsg := func(text string) []string { return []string{"@kmsg", "6,900,86390000000,-;" + text} }
	other := []string{"sys/bus/rbd/devices/4/pool", "fast", "sys/bus/rbd/devices/4/name", "csi-vol-2", "sys/bus/rbd/devices/4/major", "252", "sys/bus/rbd/devices/4/minor", "64", "sys/class/block/rbd4/dev", "252:64"}
	tests := []struct {
		name  string
		scene scene
		want  []string
	}{
		{"the kernel may not blocklist", scene{driver: rbd, attrs: image, message: used, entries: kmsg("rbd: rbd3: failed to blocklist client4711: -13")}, []string{"certain rbd-lock-or-watcher-stale PersistentVolume pv-1"}},
		{"the line is about another image", scene{driver: rbd, attrs: image, entries: join(other, kmsg("rbd: rbd4: failed to blocklist client4711: -13"))}, nil},
		{"words alone, and nobody was seen to go", scene{driver: rbd, attrs: image, message: used}, nil},
		{"nobody watches", scene{driver: rbd, attrs: image, message: used + "; Watchers: none"}, nil},
		{"not probed, and nobody was seen to go", scene{driver: rbd, attrs: image, message: used, noProbe: true}, nil},
		{"features", scene{driver: rbd, attrs: image, message: mismatch, noProbe: true}, []string{"certain rbd-feature-unsupported PersistentVolume pv-1"}},
		{"features, by the kernel", scene{driver: rbd, attrs: image, entries: kmsg("rbd: image csi-vol-1: image uses unsupported features: 0x38")}, []string{"certain rbd-feature-unsupported PersistentVolume pv-1"}},
		{"another image's features", scene{driver: rbd, attrs: image, entries: kmsg("rbd: image csi-vol-2: image uses unsupported features: 0x38")}, nil},
		{"the image is missing", scene{driver: rbd, attrs: image, message: `MountVolume.MountDevice failed for volume "pv-1": rpc error: code = Internal desc = rbd: map failed: (6) No such device or address`}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := tt.scene.run(t, claim)
			got := []string{}
			for _, c := range r.RootCauses {
				got = append(got, string(c.Certainty)+" "+c.Name+" "+c.Subject.String())
			}
			if len(got) != len(tt.want) || len(got) > 0 && got[0] != tt.want[0] {
				t.Errorf("roots %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSAN(t *testing.T) {
	t.Parallel()
	const id = "naa.600c0ff000aabbccddeeff0011223344"
	attrs := "wwn: 600c0ff000aabbccddeeff0011223344"
	refused := `MountVolume.MountDevice failed for volume "pv-1": rpc error: code = Internal desc = multipath device not found: no multipath device found for wwn 600c0ff000aabbccddeeff0011223344`
	path := []string{"sys/class/block/sdb/device/wwid", id, "sys/class/block/sdb/device/vendor", "SEAGATE", "sys/class/block/sdb/device/model", "4006"}
	off := []string{"@multipathd/show maps json", "ECONNREFUSED"}
	mixed := join(dm("dm-5", "253:5", "mpathc", "mpath-3600c0ff000aabbccddeeff0011229999", "sdb", "sdx"), path,
		[]string{"sys/class/block/sdx/dev", "8:240", "sys/class/block/sdx/device/state", "running", "sys/class/block/sdx/device/wwid", "naa.600c0ff000aabbccddeeff0011229999"})
	tests := []struct {
		name     string
		scene    scene
		want     []string
		remedies []string
	}{
		{"no daemon", scene{attrs: attrs, message: refused, entries: join(path, off)}, []string{"certain multipath-off-for-san Node a"}, nil},
		{"no daemon, in another driver's words", scene{attrs: attrs, message: strings.Replace(refused, "multipath device not found: no multipath device found for wwn", "timed out waiting for multipath device of lun", 1) + " to appear", entries: join(path, off)}, []string{"certain multipath-off-for-san Node a"}, nil},
		{"the daemon was not asked", scene{attrs: attrs, message: refused, entries: path}, []string{"likely multipath-off-for-san Node a"}, nil},
		{"not probed", scene{attrs: attrs, message: refused, noProbe: true}, []string{"likely multipath-off-for-san Node a"}, nil},
		{"a map is there", scene{attrs: attrs, message: refused, entries: join(path, dm("dm-5", "253:5", "mpathc", "mpath-3600c0ff000aabbccddeeff0011223344", "sdb"))}, nil, nil},
		{"the disk at the volume's number is another", scene{attrs: attrs, entries: []string{"@claim/8:16", "free", "sys/class/block/sdb/device/wwid", "naa.600c0ff000aabbccddeeff0011229999"}}, []string{"certain device-lun-reused Device a/8:16"}, []string{"unmap-device"}},
		{"a pool or a target has that other disk", scene{attrs: attrs, entries: []string{"@claim/8:16", "EBUSY", "sys/class/block/sdb/device/wwid", "naa.600c0ff000aabbccddeeff0011229999"}}, []string{"certain device-lun-reused Device a/8:16"}, nil},
		{"the kernel remembers another identity than the disk tells", scene{entries: []string{"sys/class/block/sdb/device/wwid", id, "sys/class/block/sdb/device/vpd_pg83", "@hex\n00 83 00 14 01 03 00 10 60 0c 0f f0 00 aa bb cc dd ee ff 00 11 22 99 99"}}, []string{"certain device-lun-reused Device a/8:16"}, nil},
		{"a port's name is no identity", scene{attrs: "wwn: 50002ac0001c2d9e", entries: []string{"sys/class/block/sdb/device/wwid", "naa.50001234abcd5678"}}, nil, nil},
		{"the driver compared identities, not probed", scene{attrs: attrs, noProbe: true, message: "rpc error: code = Internal desc = failed to stage volume: multipath device 'dm-76' serial check failed"}, []string{"possible device-lun-reused PersistentVolume pv-1"}, nil},
		{"two disks in one map", scene{attrs: attrs, entries: mixed}, []string{"certain device-lun-reused Device a/253:5"}, []string{"unmap-device"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			check(t, tt.scene.run(t, claim), tt.want, tt.remedies)
		})
	}
}
