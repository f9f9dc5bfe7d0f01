package iscsi

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

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
