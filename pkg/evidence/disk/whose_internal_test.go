package disk

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// whose is node n1 with two disks, a partition on the first, and what is mounted in process 1's namespace.
func whose(points map[string]probes.Dev, sessions ...probes.ISCSISession) *snapshot.Index {
	f := &probes.Facts{Identity: probes.Identity{InitMntNS: 1}, ISCSI: probes.ISCSI{Sessions: sessions}, Block: []probes.BlockDevice{
		{Name: "sda", Dev: probes.Dev{Major: 8}}, {Name: "sda2", Dev: probes.Dev{Major: 8, Minor: 2}, Partition: 2, Parent: "sda"}, {Name: "sdb", Dev: probes.Dev{Major: 8, Minor: 16}}}}
	ns := probes.MountNamespace{ID: 1, PIDs: []int{1}, TablePID: 1}
	for point, dev := range points {
		ns.Mounts = append(ns.Mounts, probes.Mount{Dev: dev, Root: "/", Point: point, FSType: "ext4"})
	}
	f.Namespaces = []probes.MountNamespace{ns}
	s := &snapshot.Snapshot{Nodes: map[string]*snapshot.NodeRecord{"n1": {Name: "n1", Facts: f}}}
	s.Cluster.Longhorn.Volumes = []*snapshot.LHVolume{{}}
	s.Cluster.Longhorn.Volumes[0].Name = "pvc-1"
	return snapshot.NewIndex(s)
}

// TestMountedAt: what the node itself has mounted of a disk, or of a partition of it.
func TestMountedAt(t *testing.T) {
	t.Parallel()
	sda2, sdb := probes.Dev{Major: 8, Minor: 2}, probes.Dev{Major: 8, Minor: 16}
	for name, c := range map[string]struct {
		disk   string
		points map[string]probes.Dev
		want   string
	}{
		"the root lies on a partition":   {"sda", map[string]probes.Dev{"/": sda2}, "/"},
		"a disk of its own for a part":   {"sdb", map[string]probes.Dev{"/": sda2, "/var": sdb}, "/var"},
		"only a volume is mounted of it": {"sdb", map[string]probes.Dev{"/": sda2, "/var/lib/kubelet/pods/p/volumes/kubernetes.io~csi/pv/mount": sdb}, ""},
		"nothing is":                     {"sdb", map[string]probes.Dev{"/": sda2}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			view := whose(c.points).View("n1")
			for _, b := range view.Blocks() {
				if got := mountedAt(view, b); b.Name == c.disk && got != c.want {
					t.Errorf("%q, want %q", got, c.want)
				}
			}
		})
	}
}

// TestForeignTarget: a disk of a session is the volume's of Longhorn whose name the target ends with.
func TestForeignTarget(t *testing.T) {
	t.Parallel()
	session := func(target string) probes.ISCSISession {
		return probes.ISCSISession{Name: "session1", Target: target, Disks: []string{"sdb"}}
	}
	for name, c := range map[string]struct {
		sessions []probes.ISCSISession
		want     string
	}{
		"its own target":           {[]probes.ISCSISession{session("iqn.2019-10.io.longhorn:pvc-1")}, ""},
		"that of another volume":   {[]probes.ISCSISession{session("iqn.2019-10.io.longhorn:pvc-2")}, " but that of target iqn.2019-10.io.longhorn:pvc-2"},
		"that of an array":         {[]probes.ISCSISession{session("iqn.2000-01.com.synology:nas.pvc-1")}, " but that of target iqn.2000-01.com.synology:nas.pvc-1"},
		"a disk without a session": {nil, " and no Longhorn disk"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := whose(nil, c.sessions...)
			pl := &evidence.Place{X: x, Volume: x.VolumeOfLonghorn("pvc-1"), Node: "n1", View: x.View("n1")}
			for _, b := range pl.View.Blocks() {
				if b.Name == "sdb" {
					if got := foreign(pl, b); got != c.want {
						t.Errorf("%q, want %q", got, c.want)
					}
				}
			}
		})
	}
}
