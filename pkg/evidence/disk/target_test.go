package disk_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestMarksOfTgt: the WWID of a disk of tgt is that of every volume with its target id, so
// its target is compared, too, also below a map; an array's WWID is its own.
func TestMarksOfTgt(t *testing.T) {
	t.Parallel()
	const wwid, iqn = "t10.IET     00010001", "iqn.2019-10.io.longhorn:pvc-1"
	view := func(vendor string, sessions bool) *snapshot.NodeView {
		f := &probes.Facts{Block: []probes.BlockDevice{
			{Name: "sdd", Dev: probes.Dev{Major: 8, Minor: 48}, WWID: wwid, Vendor: vendor},
			{Name: "dm-2", Dev: probes.Dev{Major: 252, Minor: 2}, Slaves: []string{"sdd"}, DM: &probes.DM{Name: "mpathb", UUID: "mpath-3600"}},
		}}
		if sessions {
			f.ISCSI.Sessions = []probes.ISCSISession{{Name: "session3", Target: iqn, Disks: []string{"sdd"}}}
		}
		return snapshot.NewIndex(&snapshot.Snapshot{Nodes: map[string]*snapshot.NodeRecord{"a": {Name: "a", Facts: f}}}).View("a")
	}
	const link = "device/../../iscsi_session/session3/targetname"
	for name, x := range map[string]struct {
		vendor, device string
		want           []disk.Mark
	}{
		"disk of tgt":       {"IET     ", "sdd", []disk.Mark{{Path: "/sys/class/block/sdd/device/wwid", Value: wwid}, {Path: "/sys/class/block/sdd/" + link, Value: iqn}}},
		"disk of an array":  {"NETAPP", "sdd", []disk.Mark{{Path: "/sys/class/block/sdd/device/wwid", Value: wwid}}},
		"map on one of tgt": {"IET", "dm-2", []disk.Mark{{Path: "/sys/class/block/dm-2/dm/uuid", Value: "mpath-3600"}, {Path: "/sys/class/block/dm-2/dm/name", Value: "mpathb"}, {Path: "/sys/class/block/dm-2/slaves/sdd/" + link, Value: iqn}}},
	} {
		v := view(x.vendor, true)
		if diff := cmp.Diff(x.want, disk.Marks(v, v.ByName(x.device))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	unread := view("IET", false)
	for _, device := range []string{"sdd", "dm-2"} {
		if got := disk.Marks(unread, unread.ByName(device)); got != nil {
			t.Errorf("%s of tgt is known again without its session, by %v", device, got)
		}
	}
}
