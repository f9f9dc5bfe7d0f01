package superblock

import (
	"context"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

func TestUnlisted(t *testing.T) {
	t.Parallel()
	sdb := probes.Dev{Major: 8, Minor: 16}
	f := &probes.Facts{
		Block:      []probes.BlockDevice{{Name: "sda", Dev: probes.Dev{Major: 8}}, {Name: "sdb", Dev: sdb}},
		Namespaces: []probes.MountNamespace{{ID: 1, Mounts: []probes.Mount{{Point: "/", Dev: probes.Dev{Major: 8}, FSType: "ext4"}}}},
		Superblocks: []probes.Superblock{
			{KName: "sda", FSType: "ext4"}, {KName: "sdb", FSType: "ext4"}, {KName: "sdz", FSType: "xfs"}, {KName: "sdb", FSType: "jbd2"}},
	}
	var got []string
	for _, sb := range Unlisted(f) {
		got = append(got, sb.KName)
	}
	if len(got) != 2 || got[0] != "sdb" || got[1] != "sdz" {
		t.Errorf("got %v, want sdb and the vanished sdz", got)
	}
}

// moving is a machine on which things happen between two looks: at the second reading the
// first table has another mount, and one filesystem is gone.
type moving struct {
	host.Host
	table string
	gone  string
}

func (m *moving) Recorded() bool { return false }

func (m *moving) ReadFile(p string, limit int) ([]byte, error) {
	if p == "proc/1/mountinfo" {
		return []byte(m.table), nil
	}
	return m.Host.ReadFile(p, limit)
}

func (m *moving) Lstat(p string) (host.Kind, probes.Dev, error) {
	if p == m.gone {
		return host.Absent, probes.Dev{}, nil
	}
	return m.Host.Lstat(p)
}

// TestSettle: a filesystem that was mounted or unmounted while the machine was looked at is
// neither detached nor alive; one that stays without a line is.
func TestSettle(t *testing.T) {
	t.Parallel()
	recording, err := host.ParseRecording([]byte("-- sys/fs/ext4/sdb/errors_count --\n0\n-- sys/fs/ext4/sdc/errors_count --\n0\n-- sys/fs/ext4/sdc1/errors_count --\n0\n-- sys/fs/ext4/sdd/errors_count --\n0\n-- proc/fs/jbd2/sdc-8/info --\nx\n-- proc/1/mountinfo --\n" + root))
	if err != nil {
		t.Fatal(err)
	}
	machine := &moving{Host: recording, table: root}
	recorder := host.NewRecorder(machine)
	_, _ = recorder.ReadFile("proc/1/mountinfo", 0)
	f := &probes.Facts{Namespaces: []probes.MountNamespace{{ID: 1, TablePID: 1, Mounts: []probes.Mount{{Point: "/", Dev: probes.Dev{Major: 8}}, {Point: "/b", Dev: probes.Dev{Major: 8, Minor: 64}}}}}}
	for i, n := range []string{"sda", "sdb", "sdc", "sdd", "sdc1"} {
		f.Block = append(f.Block, probes.BlockDevice{Name: n, Dev: probes.Dev{Major: 8, Minor: uint32(16 * i)}})
	}
	watched := host.Watch(recorder)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // one look is enough here
	c := collector{h: watched, f: f}
	c.sysfs("ext4")
	c.journals()
	f.Superblocks = c.list
	machine.table, machine.gone = root+"40 1 8:16 / /mnt rw - ext4 /dev/sdb rw\n", "sys/fs/ext4/sdc"
	settle(ctx, watched, f)

	var alive []string
	for _, sb := range f.Superblocks {
		alive = append(alive, sb.KName)
	}
	if got := strings.Join(alive, " "); got != "sdb sdc1 sdd" {
		t.Errorf("alive: %s, want sdb, sdc1 and sdd", got)
	}
	var open []string
	for _, sb := range Unlisted(f) {
		open = append(open, sb.KName)
	}
	if got := strings.Join(open, " "); got != "sdd" {
		t.Errorf("without a line: %s, want sdd", got)
	}
	var out strings.Builder
	if err := recorder.Write(&out, "", nil); err != nil {
		t.Fatal(err)
	}
	again, err := host.ParseRecording([]byte(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	g := &probes.Facts{}
	if err := Run(t.Context(), again, g); err != nil || len(g.Superblocks) != 3 {
		t.Errorf("of the recording: %v, %v; want sdb, sdc1 and sdd\n%s", g.Superblocks, err, &out)
	}
	if table, _ := again.ReadFile("proc/1/mountinfo", 0); !strings.Contains(string(table), "/mnt") {
		t.Errorf("the recording lacks the late mount: %s", table)
	}
}

const root = "21 1 8:0 / / rw - ext4 /dev/sda rw\n22 21 8:64 / /b rw - ext4 /dev/sdc1 rw\n"
