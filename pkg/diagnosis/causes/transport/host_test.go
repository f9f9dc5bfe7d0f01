package transport_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
)

const helperText = `MountVolume.SetUp failed for volume "pv-data" : mount failed: exit status 32
Mounting command: mount
Mounting arguments: -t nfs 10.1.1.9:/export/data /var/lib/kubelet/pods/uid-web/volumes/kubernetes.io~nfs/pv-data
Output: mount: /var/lib/kubelet/pods/uid-web/volumes/kubernetes.io~nfs/pv-data: bad option; for several filesystems (e.g. nfs, cifs) you might need a /sbin/mount.<type> helper program.`

func TestNFSClientMissing(t *testing.T) {
	t.Parallel()
	waiting := func() *world { return newWorld(nfsPV()).pod("web", "n1", corev1.PodPending) }
	with := func(path string) func(*probes.Facts) {
		return func(f *probes.Facts) {
			if path != "" {
				f.Files[path] = probes.File{Kind: "file"}
			}
		}
	}
	check(t, []branch{
		{"no helper on the host, events expired", waiting().probed("n1", with("")), []string{"nfs-client-missing certain Node n1"}},
		{"helper is there", waiting().says("web", helperText).probed("n1", with("usr/sbin/mount.nfs")), clean},
		{"words alone", waiting().says("web", helperText), []string{"nfs-client-missing possible Node n1"}},
		{"host with a layout of its own", waiting().probed("n1", with("run/current-system/sw/bin/mount.nfs")), clean},
		{"programs were not read", waiting().probed("n1", func(f *probes.Facts) { f.Files = nil }), clean},
		{"the helper itself spoke", waiting().says("web", "mount.nfs: access denied by server while mounting 10.1.1.9:/export/data").probed("n1", with("")), []string{"nfs-access-denied certain Node n1"}},
		{"same words for a block device", newWorld(iscsiPV()).pod("web", "n1", corev1.PodPending).
			says("web", "MountVolume.MountDevice failed : mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t ext4 /dev/sdb /mnt\nOutput: mount: /mnt: wrong fs type, bad option, bad superblock on /dev/sdb"), clean},
	})
}

func TestInitiator(t *testing.T) {
	t.Parallel()
	host := func(change func(*probes.Facts)) *world {
		return newWorld(iscsiPV()).pod("web", "n1", corev1.PodPending).probed("n1", func(f *probes.Facts) {
			f.Files["usr/sbin/iscsiadm"] = probes.File{Kind: "file"}
			change(f)
		})
	}
	refused := "iscsiadm: can not connect to iSCSI daemon (111)!\niscsiadm: Could not perform SendTargets discovery: exit status 20"
	check(t, []branch{
		{"no daemon and no socket", host(func(*probes.Facts) {}), []string{"iscsid-not-running certain Node n1"}},
		{"the probe of iSCSI did not end", host(func(f *probes.Facts) { f.Status = map[string]probes.ProbeState{"iscsi": {State: "timeout"}} }), clean},
		{"the probe of iSCSI did not end, and iscsiadm was refused", host(func(f *probes.Facts) { f.Status = map[string]probes.ProbeState{"iscsi": {State: "timeout"}} }).says("web", refused),
			[]string{"iscsid-not-running likely Node n1"}},
		{"systemd holds the socket", host(func(f *probes.Facts) {
			f.Files["proc/1/net/unix"] = probes.File{Kind: "file", Content: "0: 00000002 00000000 00010000 0001 01 20977 @ISCSIADM_ABSTRACT_NAMESPACE"}
		}), clean},
		{"sockets were not read", host(func(f *probes.Facts) { delete(f.Files, "proc/1/net/unix") }), []string{"iscsid-not-running likely Node n1"}},
		{"daemon runs now, text is old state", host(func(f *probes.Facts) { f.ISCSI.DaemonPIDs = []int{77} }).says("web", refused), clean},
		{"refusal without the node", newWorld(iscsiPV()).pod("web", "n1", corev1.PodPending).says("web", refused), []string{"iscsid-not-running certain Node n1"}},
		{"refusal that asks for a name, too", newWorld(iscsiPV()).pod("web", "n1", corev1.PodPending).says("web", refused+"\niscsiadm: Cannot perform discovery. Initiatorname required."), []string{"iscsid-not-running likely Node n1"}},
		{"status 20 without the reason and without the node", newWorld(iscsiPV()).pod("web", "n1", corev1.PodPending).says("web", "iscsiadm: Could not perform SendTargets discovery: exit status 20"), []string{"iscsid-not-running likely Node n1"}},
		{"no valid initiator name", host(func(f *probes.Facts) { f.ISCSI.InitiatorName = "" }), []string{"iscsi-initiator-name-invalid likely Node n1"}},
		{"the files of the name were not read to the end", host(func(f *probes.Facts) {
			f.ISCSI.InitiatorName, f.Status = "", map[string]probes.ProbeState{"iscsi": {State: "timeout"}}
		}), clean},
		{"not installed", host(func(f *probes.Facts) { delete(f.Files, "usr/sbin/iscsiadm") }), []string{"iscsi-tools-missing certain Node n1"}},
		{"the kubelet looks in its own container", host(func(f *probes.Facts) {
			delete(f.Files, "usr/sbin/iscsiadm")
			f.Kubelet.MntNS = 4
		}), []string{"iscsi-tools-missing likely Node n1"}},
		{"installed where nobody looks", host(func(f *probes.Facts) {
			delete(f.Files, "usr/sbin/iscsiadm")
			f.Files["run/current-system/sw/bin/iscsiadm"] = probes.File{Kind: "file"}
		}), []string{"iscsi-tools-missing certain Node n1"}},
		{"programs were not read", host(func(f *probes.Facts) { f.Files, f.ISCSI.DaemonPIDs = nil, []int{77} }), clean},
	})
}

func TestNodeRecords(t *testing.T) {
	t.Parallel()
	record := func(change func(*probes.Facts, *probes.ISCSIRecord)) *world {
		return newWorld(iscsiPV()).pod("web", "n1", corev1.PodPending).probed("n1", func(f *probes.Facts) {
			f.Files["usr/sbin/iscsiadm"] = probes.File{Kind: "file"}
			f.ISCSI.DaemonPIDs = []int{77}
			r := probes.ISCSIRecord{Path: "/etc/iscsi/nodes/iqn.x:old/10.0.0.1,3260,1/default", Target: "iqn.x:old", Portal: "10.0.0.1,3260,1", Values: map[string]string{"node.name": "iqn.x:old", "node.odd": "1"}}
			change(f, &r)
			f.ISCSI.Records = []probes.ISCSIRecord{r}
		})
	}
	unknown := "iSCSI ERROR: Unknown parameter name node.odd\niSCSI ERROR: config file /etc/iscsi/nodes/iqn.x:old/10.0.0.1,3260,1/default invalid.\niscsiadm: exit status 7"
	same := func(*probes.Facts, *probes.ISCSIRecord) {}
	check(t, []branch{
		{"empty file", record(func(_ *probes.Facts, r *probes.ISCSIRecord) { r.Problem = "empty" }), []string{"iscsi-node-record-invalid certain Node n1"}},
		{"file that only the probe could not read", record(func(_ *probes.Facts, r *probes.ISCSIRecord) { r.Problem = "cannot be read: EACCES" }), clean},
		{"parameter that nobody refused", record(same), clean},
		{"parameter that this node refuses", record(same).says("web", unknown), []string{"iscsi-node-record-invalid certain Node n1"}},
		{"refused file is gone", record(func(_ *probes.Facts, r *probes.ISCSIRecord) { delete(r.Values, "node.odd") }).says("web", unknown), clean},
		{"refusal without the node", newWorld(iscsiPV()).pod("web", "n1", corev1.PodPending).says("web", unknown), []string{"iscsi-node-record-invalid certain Node n1"}},
		{"bare status without the node", newWorld(iscsiPV()).pod("web", "n1", corev1.PodPending).says("web", "failed to execute: iscsiadm -m discovery: exit status 7"), []string{"iscsi-node-record-invalid likely Node n1"}},
		{"the status of an invalid name", newWorld(iscsiPV()).pod("web", "n1", corev1.PodPending).says("web", "iscsiadm: Cannot perform discovery. Invalid Initiatorname.\nexit status 7"), []string{"iscsi-initiator-name-invalid likely Node n1"}},
	})
}

func TestSessionLost(t *testing.T) {
	t.Parallel()
	second := func(n int64) int64 { return n * 1_000_000 }
	disk := func(device, session string, lines ...probes.KernelLine) *world {
		return newWorld(iscsiPV()).pod("web", "n1", corev1.PodRunning).probed("n1", func(f *probes.Facts) {
			f.Block = append(f.Block, probes.BlockDevice{Name: "sdb", Dev: probes.Dev{Major: 8, Minor: 16}, Sectors: 1 << 20, State: device, HCTL: "3:0:0:1"})
			f.ISCSI.Sessions = []probes.ISCSISession{{Name: "session3", Target: "iqn.2020-01.org.example:disk7", State: session, RecoveryTmo: "120", Disks: []string{"sdb"}, HCTLs: []string{"3:0:0:1"},
				Connections: []probes.ISCSIConnection{{Name: "connection3:0"}}}}
			f.Kernel = lines
			f.ISCSI.DaemonPIDs = []int{77}
			f.Files["usr/sbin/iscsiadm"] = probes.File{Kind: "file"}
		})
	}
	noDaemon := func(w *world) *world {
		w.s.Nodes["n1"].Facts.ISCSI.DaemonPIDs = nil
		return w
	}
	uptime := int64(10 * time.Hour / time.Second)
	broke := func(ago int64) probes.KernelLine {
		return probes.KernelLine{Sequence: 1, Micros: second(uptime - ago), Kind: kmsg.ISCSIConnError, Names: []string{"connection3:0"}, Text: "connection3:0: detected conn error (1020)"}
	}
	ended := probes.KernelLine{Sequence: 2, Micros: second(uptime - 60), Kind: kmsg.ISCSIRecoveryEnd, Names: []string{"session3"}, Text: "session3: session recovery timed out after 120 secs"}
	attached := probes.KernelLine{Sequence: 3, Micros: second(uptime - 30), Kind: kmsg.SCSIAttached, Names: []string{"sdb"}, Text: "sd 3:0:0:1: [sdb] Attached SCSI disk"}
	check(t, []branch{
		{"offline although the session is back", disk("offline", "LOGGED_IN", ended), []string{"iscsi-session-lost certain Device n1/8:16"}},
		{"recovery timed out", disk("blocked", "FREE", ended), []string{"iscsi-session-lost certain Device n1/8:16"}},
		{"still recovering", disk("blocked", "FAILED", broke(30)), []string{"iscsi-session-lost likely Device n1/8:16"}},
		{"recovering for longer than its time", disk("blocked", "FAILED", broke(600)), []string{"iscsi-session-lost certain Device n1/8:16"}},
		{"recovered in time", disk("running", "LOGGED_IN", broke(600)), clean},
		{"nobody logs in again", noDaemon(disk("transport-offline", "FREE", ended)), []string{"iscsid-not-running certain Node n1"}},
		{"line of an earlier disk of that name", disk("running", "LOGGED_IN", ended, attached), clean},
	})
}
