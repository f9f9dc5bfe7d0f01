package transport_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
)

func TestISCSIInitiatorNameDuplicate(t *testing.T) {
	t.Parallel()
	const portal, mine = "10.1.1.8", "iqn.2020-01.org.example:disk7"
	// drops is a kernel log with n drops, the last one so long ago.
	drops := func(n int, code string, ago time.Duration) []probes.KernelLine {
		var out []probes.KernelLine
		for i := range n {
			out = append(out, probes.KernelLine{Sequence: uint64(i + 1), At: now.Add(-ago - time.Duration(n-i)*3*time.Second), Kind: kmsg.ISCSIConnError,
				Names: []string{"connection3:0"}, Text: " connection3:0: detected conn error (" + code + ")"})
		}
		return out
	}
	node := func(name, target, address string, lines []probes.KernelLine) func(*probes.Facts) {
		return func(f *probes.Facts) {
			f.Files["usr/sbin/iscsiadm"] = probes.File{Kind: "file"}
			f.Files["etc/iscsi/initiatorname.iscsi"] = probes.File{Kind: "file", Content: "InitiatorName=" + name}
			f.ISCSI.DaemonPIDs, f.ISCSI.InitiatorName, f.Kernel = []int{77}, name, lines
			f.Block = append(f.Block, probes.BlockDevice{Name: "sdb", Dev: probes.Dev{Major: 8, Minor: 16}, Sectors: 1 << 20, State: "running", HCTL: "3:0:0:1"})
			f.ISCSI.Sessions = []probes.ISCSISession{{Name: "session3", Target: target, State: "LOGGED_IN", Disks: []string{"sdb"}, HCTLs: []string{"3:0:0:1"},
				Connections: []probes.ISCSIConnection{{Name: "connection3:0", PersistentAddress: address, PersistentPort: "3260"}}}}
		}
	}
	const same, other, theirs = "iqn.1993-08.org.debian:01:clone", "iqn.1993-08.org.debian:01:other", "iqn.2020-01.org.example:disk8"
	pair := func(first, second func(*probes.Facts)) *world {
		return newWorld(iscsiPV()).pod("web", "n1", corev1.PodRunning).probed("n1", first).probed("n2", second)
	}
	recent := drops(5, "1020", time.Second)
	logged := func(f *probes.Facts) {
		text := ""
		for i := range 4 {
			text += fmt.Sprintf("%s n1 iscsid: Kernel reported iSCSI connection 3:0 error (1020 - ISCSI_ERR_TCP_CONN_CLOSE: TCP connection closed) state (3)\n", now.Add(-time.Duration(30-3*i)*time.Second).Format("Jan _2 15:04:05"))
		}
		f.Files["var/log/messages"] = probes.File{Kind: "file", Content: text}
	}
	certain := []string{"iscsi-initiator-name-duplicate certain Node n1"}
	check(t, []branch{
		{"one name, drops here", pair(node(same, mine, portal, recent), node(same, theirs, portal, nil)), certain},
		{"one name, drops there", pair(node(same, mine, portal, nil), node(same, theirs, portal, recent)), certain},
		{"one name, drops in iscsid's log", pair(func(f *probes.Facts) { node(same, mine, portal, nil)(f); logged(f) }, node(same, theirs, portal, nil)), certain},
		{"one name, asked about the cluster", pair(node(same, mine, portal, recent), node(same, theirs, portal, recent)).asked("cluster", "", ""), certain},
		{"one name, asked about the second node", pair(node(same, mine, portal, recent), node(same, theirs, portal, recent)).asked("node", "", "n2"), []string{"iscsi-initiator-name-duplicate certain Node n2"}},
		{"drops of a connection to another system", pair(func(f *probes.Facts) {
			node(same, mine, portal, recent)(f)
			f.ISCSI.Sessions[0].Connections[0].Name = "connection4:0"
			f.ISCSI.Sessions = append(f.ISCSI.Sessions, probes.ISCSISession{Name: "session9", Target: "iqn.2021-01.org.example:far", State: "LOGGED_IN",
				Connections: []probes.ISCSIConnection{{Name: "connection3:0", PersistentAddress: "10.7.7.7", PersistentPort: "3260"}}})
		}, node(same, theirs, portal, nil)), clean},
		{"two drops", pair(node(same, mine, portal, drops(2, "1020", time.Second)), node(same, theirs, portal, nil)), clean},
		{"old drops", pair(node(same, mine, portal, drops(5, "1020", time.Hour)), node(same, theirs, portal, nil)), clean},
		{"time-outs of a network", pair(node(same, mine, portal, drops(5, "1022", time.Second)), node(same, theirs, portal, nil)), clean},
		{"no drops, and the volume suffers", pair(node(same, mine, portal, nil), node(same, theirs, portal, nil)).log("shop", "web", "2026-03-02T02:59:00Z write /data/x: input/output error"), []string{"iscsi-initiator-name-duplicate possible Node n1"}},
		{"different names", pair(node(same, mine, portal, recent), node(other, theirs, portal, recent)), clean},
		{"different systems", pair(node(same, mine, portal, recent), node(same, theirs, "10.9.9.9", recent)), clean},
		{"Longhorn's targets are local", pair(node(same, mine, portal, recent), node(same, "iqn.2019-10.io.longhorn:pvc-1", portal, recent)), clean},
		{"the other node was not probed", newWorld(iscsiPV()).pod("web", "n1", corev1.PodRunning).probed("n1", node(same, mine, portal, recent)), clean},
	})
}
