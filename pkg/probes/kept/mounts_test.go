package kept

import (
	"strings"
	"testing"
)

// TestMountsWithParents: of the table of a namespace each mount stays with those that it lies on, or the
// table would look cut; what a runtime adds to every container goes. The table is that of a service of
// systemd on a Debian that serves NFS, then a pod's.
func TestMountsWithParents(t *testing.T) {
	t.Parallel()
	const (
		kept = `31 30 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw
32 31 0:20 / /proc rw,nosuid shared:2 - proc proc rw
33 32 0:30 / /proc/sys/fs/binfmt_misc rw,relatime shared:3 - autofs systemd-1 rw,fd=30,pgrp=1
34 32 0:41 / /proc/fs/nfsd rw,relatime shared:4 - nfsd nfsd rw
35 31 0:19 / /sys rw,nosuid shared:5 - sysfs sysfs rw
`
		gone = `36 35 0:24 / /sys/fs/cgroup rw,nosuid shared:6 - cgroup2 cgroup2 rw
37 38 0:23 / /dev/pts rw,nosuid shared:8 - devpts devpts rw
`
		pod = `60 59 0:60 / / rw,relatime - overlay overlay rw
61 60 0:61 / /proc rw,nosuid - proc proc rw
62 61 0:61 /sys /proc/sys ro,nosuid - proc proc rw
`
	)
	stays := func(text string) string {
		return strings.Join(strings.FieldsFunc(string(Content("proc/77/mountinfo", []byte(text))), func(r rune) bool { return r == '\n' }), "\n")
	}
	for text, want := range map[string]string{kept + gone: kept, gone + kept: kept, pod: pod[:strings.Index(pod, "61 ")]} {
		if got := stays(text); got != strings.TrimSpace(want) {
			t.Errorf("of\n%s\nstays\n%s", text, got)
		}
	}
}
