package probes_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// hidden is a node whose volume sdb is in no mount table, while process 77 still
// works in it; another namespace lives on without a process.
const hidden = `A volume was unmounted lazily while a shell worked in it.
-- @clock --
2026-05-04T10:00:00Z
600.5
-- @hostname --
w1
-- @dev/proc/77/cwd --
8:16
-- proc/1/stat --
1 (systemd) S 0 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 1
-- proc/1/ns/mnt --
@link mnt:[4026531841]
-- proc/1/mountinfo --
21 1 8:2 / / rw shared:1 - ext4 /dev/sda2 rw
22 21 0:4 mnt:[4026539999] /run/keep rw - nsfs nsfs rw
30 21
-- proc/60/stat --
60 (gone) S 1 60 60 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 1
-- proc/60/ns/mnt --
@link mnt:[4026532000]
-- proc/60/mountinfo --
@error EACCES
-- proc/77/stat --
77 (sh) S 1 77 77 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 1
-- proc/77/ns/mnt --
@link mnt:[4026532000]
-- proc/77/mountinfo --
40 39 8:2 / / rw - ext4 /dev/sda2 rw
-- proc/77/cwd --
@link /
-- proc/77/fd/5 --
@link mnt:[4026538888]
-- sys/class/block/sdb/dev --
8:16
-- proc/fs/jbd2/sdb-8/info --
-- sys/fs/ext4/sdb/errors_count --
0
`

func TestHiddenHolders(t *testing.T) {
	t.Parallel()
	h, err := host.ParseRecording([]byte(hidden))
	if err != nil {
		t.Fatal(err)
	}
	f := gather(t, h)
	refs := []probes.NamespaceRef{{ID: 4026539999, HeldBy: "/run/keep", PID: 1}, {ID: 4026538888, HeldBy: "proc/77/fd/5", PID: 77}}
	if diff := cmp.Diff(refs, f.NSRefs); diff != "" {
		t.Errorf("namespaces without a process (-want +got):\n%s", diff)
	}
	ns := f.Namespaces[1]
	want(t, "table read from the second process", ns.TablePID, 77)
	var open []probes.Descriptor
	for _, p := range f.Processes {
		open = append(open, p.Open...)
	}
	if diff := cmp.Diff([]probes.Descriptor{{Path: "proc/77/cwd", Target: "/", Dev: sdb}}, open); diff != "" {
		t.Errorf("descriptors (-want +got):\n%s", diff)
	}
	var problems []string
	for _, p := range f.Problems {
		problems = append(problems, p.Path+": "+p.Text)
		if p.Namespace != f.Identity.InitMntNS || p.PID != 1 {
			t.Errorf("whose table is torn: %+v", p)
		}
	}
	torn := []string{`proc/1/mountinfo: line 3: device number "" has no colon: "30 21"`}
	if diff := cmp.Diff(torn, problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}
