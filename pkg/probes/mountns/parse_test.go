package mountns

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

func TestParseLine(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, line string
		want       probes.Mount
	}{
		{"shared volume", "30 24 8:16 / /var/lib/kubelet/x/globalmount rw,relatime shared:10 - ext4 /dev/longhorn/pvc-1 rw,stripe=4",
			probes.Mount{ID: 30, Parent: 24, Dev: probes.Dev{Major: 8, Minor: 16}, Root: "/", Point: "/var/lib/kubelet/x/globalmount", Options: []string{"rw", "relatime"}, Shared: 10, FSType: "ext4", Source: "/dev/longhorn/pvc-1", Super: []string{"rw", "stripe=4"}}},
		{"all optional fields and an unknown one", "1 0 8:1 /a /b ro shared:3 master:2 propagate_from:1 unbindable future:9 - xfs /dev/sda1 rw",
			probes.Mount{ID: 1, Dev: probes.Dev{Major: 8, Minor: 1}, Root: "/a", Point: "/b", Options: []string{"ro"}, Shared: 3, Master: 2, PropagateFrom: 1, Unbindable: true, FSType: "xfs", Source: "/dev/sda1", Super: []string{"rw"}}},
		{"empty source", "1 0 0:5 / /dev rw - devtmpfs  rw,mode=755",
			probes.Mount{ID: 1, Dev: probes.Dev{Minor: 5}, Root: "/", Point: "/dev", Options: []string{"rw"}, FSType: "devtmpfs", Super: []string{"rw", "mode=755"}}},
		{"escapes", `1 0 0:50 /a\040b /mnt/t\011ab\134x rw - nfs4 srv:/a\040b rw,addr=10.0.0.1`,
			probes.Mount{ID: 1, Dev: probes.Dev{Minor: 50}, Root: "/a b", Point: "/mnt/t\tab\\x", Options: []string{"rw"}, FSType: "nfs4", Source: "srv:/a b", Super: []string{"rw", "addr=10.0.0.1"}}},
		{"a dash as mount point", "1 0 0:50 / - rw - fuse.x - rw",
			probes.Mount{ID: 1, Dev: probes.Dev{Minor: 50}, Root: "/", Point: "-", Options: []string{"rw"}, FSType: "fuse.x", Source: "-", Super: []string{"rw"}}},
		{"spaces in the superblock's options", "1 0 0:50 / /m rw - cifs //srv/a rw,username=John Doe,uid=0",
			probes.Mount{ID: 1, Dev: probes.Dev{Minor: 50}, Root: "/", Point: "/m", Options: []string{"rw"}, FSType: "cifs", Source: "//srv/a", Super: []string{"rw", "username=John Doe", "uid=0"}}},
		{"deleted directory", "1 0 8:1 /pods/1//deleted /m rw - ext4 /dev/sda1 rw",
			probes.Mount{ID: 1, Dev: probes.Dev{Major: 8, Minor: 1}, Root: "/pods/1//deleted", Point: "/m", Options: []string{"rw"}, FSType: "ext4", Source: "/dev/sda1", Super: []string{"rw"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var p Parser
			got, bad := p.Parse(tt.line + "\n")
			tt.want.Raw, tt.want.Line = tt.line, 1
			if diff := cmp.Diff([]probes.Mount{tt.want}, got); diff != "" || len(bad) > 0 {
				t.Errorf("problems %v, mismatch (-want +got):\n%s", bad, diff)
			}
		})
	}
}

func TestParseTorn(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, line, why string
		kept            bool
	}{
		{"no device", "30 24", "no colon", false},
		{"bad id", "x 24 8:1 / / rw - ext4 a rw", "bad mount id", false},
		{"cut after the mount point", "30 24 8:16 / /mnt", "ends before the separator", true},
		{"cut in the optional fields", "30 24 8:16 / /mnt rw shared:1", "no separator", true},
		{"bad peer group", "30 24 8:16 / /mnt rw shared:x - ext4 a rw", "bad peer group", true},
		{"cut after the type", "30 24 8:16 / /mnt rw - ext4", "ends before the source", true},
		{"cut after the source", "30 24 8:16 / /mnt rw - ext4 /dev/sdb", "ends before the superblock", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var p Parser
			got, bad := p.Parse("21 1 8:2 / / rw - ext4 /dev/sda2 rw\n" + tt.line)
			if len(bad) != 1 || bad[0].Line != 2 || !strings.Contains(bad[0].Error(), tt.why) {
				t.Fatalf("got %v, want one problem on line 2 with %q", bad, tt.why)
			}
			if kept := len(got) == 2; kept != tt.kept {
				t.Errorf("kept %t, want %t", kept, tt.kept)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("30 24 8:16 / /a\\040b rw shared:1 master:2 - ext4  rw\n\n31 24")
	f.Add("1 0 0:5 / - rw - - - -\n")
	f.Fuzz(func(t *testing.T, table string) {
		var p Parser
		mounts, bad := p.Parse(table)
		whole := map[int]bool{}
		for _, m := range mounts {
			whole[m.Line] = true
		}
		for _, b := range bad {
			whole[b.Line] = true
		}
		for i, line := range strings.Split(table, "\n") {
			if strings.TrimSpace(line) != "" && !whole[i+1] {
				t.Errorf("line %d %q was dropped silently", i+1, line)
			}
		}
	})
}

// BenchmarkParse is one namespace of a busy node.
func BenchmarkParse(b *testing.B) {
	line := "2154 1903 8:16 / /var/lib/kubelet/pods/0d6a2c1e-5f0e-4a6b-8b9c-2f1f1f8f6a01/volumes/kubernetes.io~csi/pvc-1/mount rw,relatime shared:10 - ext4 /dev/longhorn/pvc-1 rw,stripe=4\n"
	table := strings.Repeat(line, 200)
	b.SetBytes(int64(len(table)))
	b.ReportAllocs()
	var p Parser
	for b.Loop() {
		p.Parse(table)
	}
}
