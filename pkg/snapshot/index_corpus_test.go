package snapshot

import (
	"testing"
)

// TestIndexCorpus checks what must hold in every snapshot: the names of
// attachments can be computed, and the disk of an attached Longhorn volume is
// found wherever its session or device node was recorded.
func TestIndexCorpus(t *testing.T) {
	t.Parallel()
	for name, dir := range caseDirs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			x := NewIndex(s)
			for _, v := range x.Volumes {
				checkAttachments(t, v)
				checkDevices(t, x, v)
				x.DeviceNodes(v)
				x.OtherNodes(v)
			}
			for _, p := range s.Cluster.Pods {
				x.TopOwner(p)
			}
			for node := range x.NodeViews {
				x.VolumesOn(node)
				checkView(t, x, node)
			}
			for _, d := range s.Cluster.CSIDrivers {
				x.DriverPods(d.Name)
				x.SidecarPods(d.Name, "csi-attacher")
			}
		})
	}
}

func checkAttachments(t *testing.T, v *Volume) {
	t.Helper()
	if v.PV == nil || v.PV.Spec.CSI == nil {
		return
	}
	for _, va := range v.Attachments {
		want := AttachmentName(v.Handle, v.Driver, va.Spec.NodeName)
		if va.Name != want {
			t.Errorf("attachment of %s to %s: got %s, want %s", v.Key(), va.Spec.NodeName, va.Name, want)
		}
	}
}

func checkDevices(t *testing.T, x *Index, v *Volume) {
	t.Helper()
	for _, d := range x.Devices(v) {
		if d.Dev.IsZero() || d.How == "" || d.Locator == "" || d.View == nil {
			t.Errorf("device of %s on %s is incomplete: %+v", v.Key(), d.Node, d)
		}
	}
	if !v.IsLonghorn() {
		return
	}
	for node, view := range x.NodeViews {
		session := view.Session(LonghornTarget(v.Handle))
		recorded := view.DeviceNode(longhornNode(v)) != nil || (session != nil && len(session.Disks) > 0 && view.ByName(session.Disks[0]) != nil)
		if _, ok := x.DeviceOn(v, node); recorded && !ok {
			t.Errorf("device of %s on %s was recorded and is not found", v.Key(), node)
		}
	}
}

func checkView(t *testing.T, x *Index, node string) {
	t.Helper()
	view := x.View(node)
	for i := range view.Facts.Block {
		b := &view.Facts.Block[i]
		for _, h := range view.HoldersOf(b.Dev) {
			if h.Chain[0] != b.Name || h.Chain[len(h.Chain)-1] != h.Device.Name {
				t.Errorf("holder of %s on %s: bad chain %v to %s", b.Name, node, h.Chain, h.Device.Name)
			}
		}
		view.Leaves(b.Dev)
		view.Uses(b.Dev)
		view.Openers(b.Dev)
	}
	for i := range view.Facts.Processes {
		x.WhoIs(view, &view.Facts.Processes[i])
	}
}
