package transport_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

func TestISCSILoginRejected(t *testing.T) {
	t.Parallel()
	const mine, theirs, portal = "iqn.2020-01.org.example:disk7", "iqn.2020-01.org.example:disk8", "10.1.1.8"
	words := func(target, answer string) string {
		return "MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = iscsiadm: Could not login to [iface: default, target: " + target + ", portal: " + portal + ",3260].\niscsiadm: " + answer
	}
	fatal := words(mine, "initiator reported error (19 - encountered non-retryable iSCSI login failure)")
	auth := words(mine, "initiator reported error (24 - iSCSI login failed due to authorization failure)")
	session := func(target, address, state string) probes.ISCSISession {
		return probes.ISCSISession{Name: "session3", Target: target, State: state, Connections: []probes.ISCSIConnection{{Name: "connection3:0", PersistentAddress: address, PersistentPort: "3260"}}}
	}
	on := func(text string, sessions ...probes.ISCSISession) *world {
		w := newWorld(iscsiPV()).pod("web", "n1", corev1.PodPending).probed("n1", func(f *probes.Facts) {
			f.Files["usr/sbin/iscsiadm"] = probes.File{Kind: "file"}
			f.ISCSI.DaemonPIDs, f.ISCSI.Sessions = []int{77}, sessions
		})
		if text != "" {
			w.says("web", text)
		}
		return w
	}
	well := session(theirs, portal, "LOGGED_IN")
	certain, likely := []string{"iscsi-login-rejected certain PersistentVolume pv-data"}, []string{"iscsi-login-rejected likely PersistentVolume pv-data"}
	check(t, []branch{
		{"refused, a neighbour is logged in", on(fatal, well), certain},
		{"not authorised, a neighbour is logged in", on(auth, well), certain},
		{"refused, nothing else of the portal", on(fatal), likely},
		{"refused, a neighbour at another portal", on(fatal, session(theirs, "10.9.9.9", "LOGGED_IN")), likely},
		{"refused, the neighbour is lost", on(fatal, session(theirs, portal, "FAILED")), likely},
		{"a login that merely failed", on(words(mine, "initiator reported error (5 - iSCSI login failure)"), well), likely},
		{"a driver that keeps the target to itself", newWorld(corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "csi.synology.com", VolumeHandle: "8.1", FSType: "ext4"}}).pod("web", "n1", corev1.PodPending).says("web", "MountVolume.SetUp failed for volume \"pv-data\" : kubernetes.io/csi: mounter.SetupAt failed: rpc error: code = Internal desc = Failed to run ISCSI login: exit status 19"), likely},
		{"words without the node", newWorld(iscsiPV()).pod("web", "n1", corev1.PodPending).says("web", fatal), likely},
		{"logged in by now", on(fatal, well, session(mine, portal, "LOGGED_IN")), clean},
		{"about another target", on(words(theirs, "initiator reported error (19 - encountered non-retryable iSCSI login failure)"), well), clean},
		{"a connection that failed", on(words(mine, "initiator reported error (8 - connection timed out)"), well), clean},
		{"nothing said", on("", well), clean},
	})
	silent := on(fatal, well)
	silent.s.Nodes["n1"].Facts.Dials[portal+":3260"] = "timeout 3s"
	unnamed := on(fatal, well)
	unnamed.s.Nodes["n1"].Facts.ISCSI.InitiatorName = ""
	check(t, []branch{
		{"the portal is silent", silent, clean},
		{"the node has no initiator name", unnamed, []string{"iscsi-initiator-name-invalid certain Node n1"}},
	})
}
