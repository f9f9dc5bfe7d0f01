package iscsi

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestUses: a volume is one of iSCSI by the values that its source and the attacher name.
func TestUses(t *testing.T) {
	t.Parallel()
	csi := func(driver string, attributes, said map[string]string) *snapshot.Volume {
		pv := &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{
			CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: "h", VolumeAttributes: attributes}}}}
		return &snapshot.Volume{PV: pv, Driver: driver, Handle: "h", Attachments: []*storagev1.VolumeAttachment{{Status: storagev1.VolumeAttachmentStatus{AttachmentMetadata: said}}}}
	}
	x := snapshot.NewIndex(&snapshot.Snapshot{})
	text := []evidence.Text{{Fresh: true, Raw: "iscsiadm: no records found"}}
	for name, c := range map[string]struct {
		volume *snapshot.Volume
		texts  []evidence.Text
		want   bool
	}{
		"a target in any key":           {csi("array.example.com", map[string]string{"TARGET0": "iqn.2015-10.com.array:t0"}, nil), nil, true},
		"a target from the attacher":    {csi("array.example.com", nil, map[string]string{"tgt": "iqn.2015-10.com.array:t0"}), nil, true},
		"the name of the initiator":     {csi("array.example.com", map[string]string{"initiatorName": "iqn.1993-08.org.debian:01:a"}, nil), nil, false},
		"the protocol":                  {csi("array.example.com", nil, map[string]string{"accessProtocol": "iSCSI"}), nil, true},
		"another protocol":              {csi("array.example.com", map[string]string{"t": "iqn.2015-10.com.array:t0"}, map[string]string{"accessProtocol": "fc"}), text, false},
		"a call of iscsiadm":            {csi("array.example.com", nil, nil), text, true},
		"an array without a target":     {csi("array.example.com", nil, nil), []evidence.Text{{Fresh: true, Locator: "VolumeAttachment csi-1 status.attachError", Raw: "can't get iscsi target address"}}, false},
		"nothing":                       {csi("array.example.com", nil, nil), nil, false},
		"a share whose text has no tie": {csi("nfs.csi.k8s.io", map[string]string{"server": "10.0.0.9"}, nil), nil, false},
	} {
		if got := Uses(x, c.volume, c.texts); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestDaemon: no process and no socket; what was not read says nothing.
func TestDaemon(t *testing.T) {
	t.Parallel()
	place := func(f *probes.Facts) *evidence.Place {
		x := snapshot.NewIndex(&snapshot.Snapshot{TakenAt: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC), Nodes: map[string]*snapshot.NodeRecord{"n1": {Name: "n1", Facts: f}}})
		return &evidence.Place{X: x, Node: "n1", View: x.View("n1")}
	}
	read := map[string]probes.File{"proc/1/net/unix": {Kind: "file", Content: "Num"}}
	held := map[string]probes.File{"proc/1/net/unix": {Kind: "file", Content: "x @ISCSIADM_ABSTRACT_NAMESPACE"}}
	daemon := &probes.Facts{Files: held, ISCSI: probes.ISCSI{DaemonPIDs: []int{7}}}
	for name, c := range map[string]struct {
		facts        *probes.Facts
		none, silent string
	}{
		"neither":                {&probes.Facts{Files: read}, "yes", "yes"},
		"systemd holds it":       {&probes.Facts{Files: held}, "yes", "no"},
		"it runs":                {daemon, "no", "no"},
		"sockets were not read":  {&probes.Facts{}, "yes", "unseen"},
		"processes not complete": {&probes.Facts{Files: read, Status: map[string]probes.ProbeState{"process": {State: "timeout"}}}, "unseen", "yes"},
	} {
		pl := place(c.facts)
		if got := NoDaemon(pl).String(); got != c.none {
			t.Errorf("%s: no daemon: %s, want %s", name, got, c.none)
		}
		if got := NoSocket(pl).String(); got != c.silent {
			t.Errorf("%s: no socket: %s, want %s", name, got, c.silent)
		}
	}
	unread := &evidence.Place{X: snapshot.NewIndex(&snapshot.Snapshot{}), Node: "n1"}
	if !NoDaemon(unread).Unseen() || !NoSocket(unread).Unseen() {
		t.Error("of a node that was not looked at nothing is known")
	}
}
