package multipath

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestNeed asks whether a daemon has maps, and whether storage of the node wants it.
func TestNeed(t *testing.T) {
	t.Parallel()
	driver := func(name string) func(*snapshot.Snapshot, *probes.Facts) {
		return func(s *snapshot.Snapshot, _ *probes.Facts) {
			s.Cluster.CSINodes = []*storagev1.CSINode{{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: name}}}}}
		}
	}
	for name, tt := range map[string]struct {
		change         func(*snapshot.Snapshot, *probes.Facts)
		noMaps, noNeed string
	}{
		"nothing": {func(*snapshot.Snapshot, *probes.Facts) {}, "yes", "yes"},
		"a map in sysfs": {func(_ *snapshot.Snapshot, f *probes.Facts) {
			f.Block = []probes.BlockDevice{{Name: "dm-0", DM: &probes.DM{UUID: "mpath-1"}}}
		}, "no", "yes"},
		"a map it tells": {func(_ *snapshot.Snapshot, f *probes.Facts) { f.Multipath.Maps = []probes.MultipathMap{{Name: "m"}} }, "no", "yes"},
		"devices unread": {func(_ *snapshot.Snapshot, f *probes.Facts) {
			f.Problems = []probes.Problem{{Table: probes.Block, Text: "EACCES"}}
		}, "unseen", "yes"},
		"Longhorn's disks": {func(_ *snapshot.Snapshot, f *probes.Facts) {
			f.ISCSI.Sessions = []probes.ISCSISession{{Target: "iqn.2019-10.io.longhorn:v"}}
		}, "yes", "yes"},
		"an array's disks": {func(_ *snapshot.Snapshot, f *probes.Facts) {
			f.ISCSI.Sessions = []probes.ISCSISession{{Target: "iqn.2001-05.com.array:a"}}
		}, "yes", "no"},
		"a disk of Fibre Channel": {func(_ *snapshot.Snapshot, f *probes.Facts) {
			f.DevLinks = []probes.DevLink{{Path: "/dev/disk/by-path/pci-0000:3b:00.0-fc-0x500a09828da1b2c3-lun-0", Target: "../../sdb"}}
		}, "yes", "no"},
		"Longhorn's driver": {driver(snapshot.LonghornDriver), "yes", "yes"},
		"another driver":    {driver("csi.array.example"), "yes", "no"},
		"a volume of a SAN": {func(s *snapshot.Snapshot, _ *probes.Facts) {
			s.Cluster.PVs = []*corev1.PersistentVolume{{Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{FC: &corev1.FCVolumeSource{}}}}}
		}, "yes", "no"},
		"volumes unread": {func(s *snapshot.Snapshot, _ *probes.Facts) {
			s.Gaps = []snapshot.Gap{{Need: "api//persistentvolumes", Reason: "Forbidden"}}
		}, "yes", "unseen"},
		"not probed": {func(s *snapshot.Snapshot, _ *probes.Facts) { s.Nodes = nil }, "unseen", "unseen"},
	} {
		f := &probes.Facts{}
		s := &snapshot.Snapshot{Nodes: map[string]*snapshot.NodeRecord{"n": {Facts: f}}}
		tt.change(s, f)
		x := snapshot.NewIndex(s)
		if maps, need := NoMaps(x, "n").String(), Unneeded(x, "n").String(); maps != tt.noMaps || need != tt.noNeed {
			t.Errorf("%s: no maps %s, unneeded %s; want %s, %s", name, maps, need, tt.noMaps, tt.noNeed)
		}
	}
}
