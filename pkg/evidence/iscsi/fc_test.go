package iscsi

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestFCPorts: where no port of Fibre Channel is left, no disk can have come; one that is down is told.
func TestFCPorts(t *testing.T) {
	t.Parallel()
	v := &snapshot.Volume{PV: &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{
		CSI: &corev1.CSIPersistentVolumeSource{Driver: "array.example.com", VolumeHandle: "h", VolumeAttributes: map[string]string{"protocol": "FC"}}}}}}
	for name, c := range map[string]struct {
		ports map[string]string
		down  int
		want  string
	}{
		"all carry":                {map[string]string{"fc_host/host3": "Online", "fc_remote_ports/rport-3:0-0": "Online"}, 0, "no"},
		"one of two is down":       {map[string]string{"fc_host/host3": "Linkdown", "fc_host/host4": "Online", "fc_remote_ports/rport-4:0-0": "Online"}, 1, "no"},
		"the array's port is lost": {map[string]string{"fc_host/host3": "Online", "fc_remote_ports/rport-3:0-0": "Blocked"}, 1, "yes"},
		"no link":                  {map[string]string{"fc_host/host3": "Linkdown", "fc_remote_ports/rport-3:0-0": "Not Present"}, 2, "yes"},
		"nothing was read":         {nil, 0, "no"},
	} {
		f := &probes.Facts{Files: map[string]probes.File{}}
		for port, state := range c.ports {
			f.Files["sys/class/"+port+"/port_state"] = probes.File{Kind: "file", Content: state + "\n"}
		}
		pl := nodes(nil, f)
		down, _ := FCPorts(pl.View)
		if a := LoggedOut(&evidence.Place{X: pl.X, Node: "a", View: pl.View, Volume: v}); a.String() != c.want || len(down) != c.down {
			t.Errorf("%s: %s, %d down", name, a.String(), len(down))
		}
	}
}

// TestOverFC: the network of a volume is told by values, whatever a driver calls the keys.
func TestOverFC(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pv, attacher map[string]string
		want         bool
	}{
		"the protocol":                     {map[string]string{"protocol": "FC"}, nil, true},
		"a disk's serial has that form":    {map[string]string{"serial": "5f2b9c0d1e3a4b6c"}, nil, false},
		"a backend's own id, too":          {map[string]string{"volumeID": "2000a1b2c3d4e5f6"}, nil, false},
		"ports in pairs":                   {nil, map[string]string{"DEVICE_WWN": "68ccf0980012345678901234567890ab", "FCWWPN0": "58:cc:f0:93:48:a0:03:a3"}, true},
		"ports in a list":                  {map[string]string{"targetWWNs": `["500a0981891b8dc5","500a0981891b8dc6"]`}, nil, true},
		"ports in bare digits":             {nil, map[string]string{"x": "0x21000024ff3dcb26,0x21000024ff3dcb27"}, true},
		"a host bus adapter's":             {map[string]string{"PORTAL": "10:00:00:90:fa:c7:cd:f9"}, nil, true},
		"the name of a disk":               {nil, map[string]string{"DEVICE_WWN": "600c0ff000534b9a5a2c3d6501000000"}, false},
		"the name of a disk, short":        {map[string]string{"wwn": "naa.5000c500a1b2c3d4"}, nil, false},
		"a number of sixteen digits":       {map[string]string{"serial": "8081000000000001"}, nil, false},
		"a target of iSCSI beside a port":  {map[string]string{"iqn": "iqn.2015-11.com.hpe:x"}, map[string]string{"ports": "500a0981891b8dc5"}, false},
		"a subsystem of NVMe, over a port": {map[string]string{"nqn": "nqn.1992-08.com.netapp:sn.1"}, map[string]string{"port": "500a0981891b8dc5"}, false},
	} {
		v := &snapshot.Volume{PV: &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{
			CSI: &corev1.CSIPersistentVolumeSource{Driver: "array.example.com", VolumeHandle: "h", VolumeAttributes: c.pv}}}},
			Attachments: []*storagev1.VolumeAttachment{{Status: storagev1.VolumeAttachmentStatus{AttachmentMetadata: c.attacher}}}}
		if got := OverFC(v); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestSpeaksOfFC(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"no active FC initiators":                       true,
		"host n1 has no Fibre Channel ports":            true,
		"WWPNs of host n1 are not logged in":            true,
		"failed to attach 5f3cfc2e: no such volume":     false,
		"node n1 has no active iSCSI initiators online": false,
	} {
		if got := SpeaksOfFC(evidence.Text{Raw: text, Fresh: true}); got != want || SpeaksOfFC(evidence.Text{Raw: text}) {
			t.Errorf("%s: %t", text, got)
		}
	}
}
