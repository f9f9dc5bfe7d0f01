package filesystem_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
)

func TestEncryptionToolsMissing(t *testing.T) {
	t.Parallel()
	build := func(files map[string]string) *host {
		h := encrypted(corev1.PodPending)
		h.f.Identity.Kernel = "6.1.0"
		h.f.Files = map[string]probes.File{"usr/sbin/mkfs.ext4": {Kind: "file"}, "proc/modules": {Kind: "file", Content: "xfs 1 0 - Live\n"}}
		for path, content := range files {
			h.f.Files[path] = probes.File{Kind: "file", Content: content}
		}
		return h
	}
	const dep = "lib/modules/6.1.0/modules.dep"
	without, with := map[string]string{dep: "kernel/fs/xfs/xfs.ko:\n"}, map[string]string{dep: "kernel/drivers/md/dm-crypt.ko.zst: x\n"}
	const unknown = "device-mapper: table: 253:4: crypt: unknown target type"
	const cookie = "       key      semid perms nsems   uid   gid  cuid  cgid otime ctime\n 223211093          0   600     1     0     0     0     0     1     1"
	hung := func(h *host) {
		h.f.Processes = append(h.f.Processes, probes.Process{PID: 204, Comm: "cryptsetup", WChan: "do_semtimedop", MntNS: 1})
	}
	rules := map[string]string{dep: with[dep], "usr/lib/udev/rules.d/10-dm.rules": "x", "proc/sysvipc/sem": cookie}
	noRules := map[string]string{dep: with[dep], "usr/lib/udev/rules.d/50-udev-default.rules": "x", "proc/sysvipc/sem": cookie}
	certain, likely := []string{"encryption-tools-missing certain Node n1"}, []string{"encryption-tools-missing likely Node n1"}
	check(t, []branch{
		{"no dm_crypt in any list", build(without), certain},
		{"a module list was not read to its end", build(without).lacks(probes.Files), []string{}},
		{"status 127, and the node was not seen", build(with).says("MountVolume.MountDevice failed : failed to run cryptsetup luksOpen: exit status 127").unprobed(), certain},
		{"waits for udev, and the rules were not read", build(noRules).change(hung).lacks(probes.Files), []string{}},
		{"loads on demand", build(with), []string{}},
		{"the kernel could not get it when it was wanted", build(with).log(2, kmsg.DMTargetError, unknown), certain},
		{"only the driver says that it opens the volume", build(with).change(func(h *host) { delete(h.pv.Spec.CSI.VolumeAttributes, "encrypted") }).
			says("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = failed to publish volume: unable to open LUKS device /dev/sdb: device-mapper: reload ioctl on sdb (253:4) failed: Invalid argument").
			log(2, kmsg.DMTargetError, unknown), certain},
		{"only the kernel says that somebody opens the volume", build(with).change(func(h *host) { delete(h.pv.Spec.CSI.VolumeAttributes, "encrypted") }).log(2, kmsg.DMTargetError, unknown), certain},
		{"the kernel says it of another volume", build(with).typed("ext4").change(func(h *host) { delete(h.pv.Spec.CSI.VolumeAttributes, "encrypted") }).log(2, kmsg.DMTargetError, unknown), []string{}},
		{"loaded since", build(map[string]string{dep: with[dep], "proc/modules": "dm_crypt 61440 0 - Live\n"}).log(2, kmsg.DMTargetError, unknown), []string{}},
		{"status 127", build(with).says("MountVolume.MountDevice failed : failed to run cryptsetup luksOpen: exit status 127"), certain},
		{"not found in the driver's image", build(with).says(`MountVolume.MountDevice failed : exec: "cryptsetup": executable file not found in $PATH`), likely},
		{"waits for udev without its rules", build(noRules).change(hung), certain},
		{"waits for udev with its rules", build(rules).change(hung), []string{}},
		{"no rules, and nothing waits", build(noRules), []string{}},
	})
}
