package causes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

func deadline(op string) string {
	return "MountVolume." + op + " failed for volume \"pv-data\" : rpc error: code = DeadlineExceeded desc = context deadline exceeded"
}

func pending(op, handle string) string {
	return "MountVolume." + op + " failed for volume \"pv-data\" : rpc error: code = Aborted desc = an operation with the given Volume ID " + handle + " already exists"
}

func rbdFailed(words string) string {
	return "MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = rbd: map failed with error an error (exit status 1) and stderror occurred while running rbd args: [--id csi-rbd-node -m 10.9.1.1:6789,10.9.1.2:6789,10.9.1.3:6789 --keyfile=***stripped*** map kube/csi-vol-bbbb --device-type krbd], rbd error output: " + words
}

const rbdHandle = "0001-0009-rook-ceph-0000000000000002-bbbb"

// hungMap is a process of the plugin that maps the image for ten minutes.
func hungMap(w *world) *world {
	return w.Process("n1", 7001, "5000c0de-0000-4000-8000-000000000001", "rbd", 4026532500, "").
		Entries("n1", "proc/7001/cmdline", "rbd␀--id␀csi-rbd-node␀-m␀10.9.1.1:6789,10.9.1.2:6789,10.9.1.3:6789␀map␀kube/csi-vol-bbbb␀",
			"proc/7001/stat", "7001 (rbd) S 4100 7001 7001 0 -1 4194560 0 0 0 0 10 10 0 0 20 0 1 0 86340000 0 0 18446744073709551615")
}

func monitors(w *world, node, answer string) *world {
	for _, a := range []string{"1", "2", "3"} {
		w.Entries(node, "@dial/10.9.1."+a+":6789", answer)
	}
	return w
}

const cephCluster = `
apiVersion: ceph.rook.io/v1
kind: CephCluster
metadata: {namespace: rook-ceph, name: rook-ceph}
status: {phase: Ready, ceph: {health: HEALTH_ERR, lastChecked: '2026-01-02T11:59:20Z', fsid: 5a5a, details: {CODE: {severity: HEALTH_ERR, message: 'WORDS'}}}}
`

const fence = `
apiVersion: csiaddons.openshift.io/v1alpha1
kind: NetworkFence
metadata: {name: fence-n1, creationTimestamp: '2026-01-02T11:00:00Z'}
spec: {driver: DRIVER, fenceState: Fenced, cidrs: [10.0.0.11/32]}
status: {result: Succeeded, message: fencing operation successful}
`

func TestSiblingsCeph(t *testing.T) {
	t.Parallel()
	stage, publish := cephfs().Stage(), cephfs().Publish(0)
	shut := func(w *world, err string) *world {
		return w.Entries("n1", "@statfs"+stage, "@error "+err, "@statfs"+publish, "@error "+err)
	}
	for name, c := range map[string]struct {
		w    *world
		want string
	}{
		"CephFS: evicted": {shut(cephfsMounted(cephfs().Runs(0), "n1", 0), "EACCES").Kernel("n1", "900|libceph: mds0 (1)10.9.1.1:6801 socket closed (con state OPEN)", "880|ceph: mds0 reconnect start", "879|ceph: mds0 reconnect denied"),
			"broken: certain ceph-client-fenced Node n1"},
		"CephFS: evicted, newer words": {shut(cephfsMounted(cephfs().Runs(0), "n1", 0), "EACCES").Kernel("n1", "900|ceph: [5a5a 4711]: mds0 rejected session"),
			"broken: certain ceph-client-fenced Node n1"},
		"CephFS: evicted under a staged volume, whose pod is new": {cephfsMounted(cephfs().Waits().Attached("n1"), "n1", 0).Entries("n1", "@statfs"+stage, "@error EACCES").Kernel("n1", "9000|ceph: mds0 session blocklisted").FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = stat " + stage + ": permission denied"),
			"broken: certain ceph-client-fenced Node n1"},
		"CephFS: evicted, and back": {cephfsMounted(cephfs().Runs(0), "n1", 0).Answers("n1", stage, publish).Kernel("n1", "900|ceph: mds0 reconnect denied", "800|ceph: mds0 reconnect success", "799|libceph: mds0 (1)10.9.1.1:6801 session established"),
			"healthy"},
		"CephFS: EACCES, a NetworkFence, no log": {shut(cephfsMounted(cephfs().Runs(0), "n1", 0), "EACCES").Add(fence).Edit("DRIVER", "cephfs.csi.ceph.com"),
			"broken: likely ceph-client-fenced Node n1"},
		"CephFS: EACCES, the NetworkFence was lifted, no log": {shut(cephfsMounted(cephfs().Runs(0), "n1", 0), "EACCES").Add(fence).Edit("DRIVER", "cephfs.csi.ceph.com").Edit("fenceState: Fenced", "fenceState: Unfenced"),
			"broken: likely ceph-client-fenced Node n1"},
		"CephFS: a new mount after the fence was lifted": {cephfs().Waits().Add(fence).Edit("DRIVER", "cephfs.csi.ceph.com").Edit("fenceState: Fenced", "fenceState: Unfenced").FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = stat " + stage + ": permission denied"),
			"broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"CephFS: a NetworkFence and nobody looked": {cephfs().Runs(0).Unprobed("n1", "PodRejected").Add(fence).Edit("DRIVER", "cephfs.csi.ceph.com").FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = stat " + stage + ": permission denied"),
			"broken: likely ceph-client-fenced Node n1"},
		"CephFS: monitors away": {cephfs().Waits().FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = an error (exit status 32) occurred while running mount args: [-t ceph 10.9.1.1:6789,10.9.1.2:6789,10.9.1.3:6789:/volumes/csi/csi-vol-aaaa "+stage+" -o name=csi-cephfs-node,secretfile=/tmp/csi/keys/keyfile-1,mds_namespace=myfs,_netdev] stderr: mount error 110 = Connection timed out").
			Kernel("n1", "200|libceph: mon0 (1)10.9.1.1:6789 connect error", "190|libceph: mon1 (1)10.9.1.2:6789 connect error", "180|libceph: mon2 (1)10.9.1.3:6789 connect error", "90|libceph: mon0 (1)10.9.1.1:6789 connect error"),
			"broken: likely ceph-backend-unreachable Node n1"},
		"CephFS: no MDS": {cephfs().Waits().FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = an error (exit status 32) occurred while running mount args: [-t ceph 10.9.1.1:6789:/volumes/csi/csi-vol-aaaa "+stage+"] stderr: mount error: no mds (Metadata Server) is up. The cluster might be laggy, or you may not be authorized").
			Kernel("n1", "62|ceph: No mds server is up or the cluster is laggy"),
			"broken: certain ceph-backend-unreachable Node n1"},
		"CephFS: MDS hangs under a mount": {cephfsMounted(cephfs().Runs(0), "n1", 0).Entries("n1", "@statfs"+stage, "@hang", "@statfs"+publish, "@hang").Kernel("n1", "900|ceph: mds0 hung"),
			"broken: likely ceph-backend-unreachable Node n1"},
		"CephFS: MDS hung and came back": {cephfsMounted(cephfs().Runs(0), "n1", 0).Answers("n1", stage, publish).Kernel("n1", "900|ceph: mds0 hung", "800|ceph: mds0 came back"),
			"healthy"},
		"RBD: monitors away, process hangs": {monitors(hungMap(rbd().Waits()), "n1", "timeout 3s").FailedMount(pending("MountDevice", rbdHandle)).Attached("n1").Kernel("n1", "600|libceph: mon0 (1)10.9.1.1:6789 socket closed (con state CONNECTING)", "60|libceph: mon1 (1)10.9.1.2:6789 socket closed (con state CONNECTING)"),
			"broken: certain ceph-backend-unreachable Node n1"},
		"RBD: an OSD host away": {monitors(hungMap(rbd().Waits()), "n1", "ok 1ms").Entries("n1", "@dial/10.9.1.9:6802", "timeout 3s").FailedMount(deadline("MountDevice")).Attached("n1").Kernel("n1", "600|libceph: mon0 (1)10.9.1.1:6789 session established", "500|libceph: osd4 (1)10.9.1.9:6802 socket closed (con state CONNECTING)", "300|libceph: osd4 (1)10.9.1.9:6802 socket closed (con state CONNECTING)", "90|libceph: osd4 (1)10.9.1.9:6802 socket closed (con state CONNECTING)"),
			"broken: certain ceph-backend-unreachable Node n1"},
		"RBD: placement groups are down": {monitors(hungMap(rbd().Waits()), "n1", "ok 1ms").FailedMount(deadline("MountDevice")).Attached("n1").Kernel("n1", "600|libceph: mon0 (1)10.9.1.1:6789 session established").Add(cephCluster).Edit("CODE", "PG_AVAILABILITY").Edit("WORDS", "Reduced data availability: 12 pgs inactive"),
			"broken: certain ceph-backend-unreachable Node n1"},
		"RBD: a warning of the cluster is no cause": {monitors(hungMap(rbd().Waits()), "n1", "ok 1ms").FailedMount(deadline("MountDevice")).Attached("n1").Kernel("n1", "600|libceph: mon0 (1)10.9.1.1:6789 session established").Add(cephCluster).Edit("CODE", "MON_DISK_LOW").Edit("WORDS", "mon a is low on available space").Edit("HEALTH_ERR", "HEALTH_WARN"),
			"broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"RBD: hangs, larger MTU here": {monitors(hungMap(rbd().Waits()), "n1", "ok 1ms").FailedMount(deadline("MountDevice")).Attached("n1").Kernel("n1", "600|libceph: mon0 (1)10.9.1.1:6789 session established").Entries("n1", "sys/class/net/eth0/mtu", "9000").Entries("n2", "sys/class/net/eth0/mtu", "1500").Entries("n3", "sys/class/net/eth0/mtu", "1500"),
			"broken: possible ceph-backend-unreachable Node n1; unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"RBD: kernel too old for the cluster": {rbd().Waits().FailedMount(rbdFailed("rbd: sysfs write failed\nrbd: map failed: (110) Connection timed out")).Attached("n1").Kernel("n1", "62|libceph: mon0 10.9.1.1:6789 feature set mismatch, my 106b84a842a42 < server's 40106b84a842a42, missing 400000000000000", "62|libceph: mon0 10.9.1.1:6789 missing required protocol features"),
			"broken: certain ceph-backend-unreachable Node n1"},
		"RBD: fenced": {rbdMounted(rbd().Runs(0), "n1", 0).Attached("n1").Kernel("n1", "400|rbd: rbd0: encountered watch error: -107", "390|rbd: rbd0: failed to reregister watch: -108", "380|rbd: rbd0: write at objno 12 0~4096 result -108", "380|blk_update_request: I/O error, dev rbd0, sector 98304 op 0x1:(WRITE)", "379|EXT4-fs error (device rbd0): ext4_journal_check_start:83: comm app: Detected aborted journal", "379|EXT4-fs (rbd0): Remounting filesystem read-only").Entries("n1", "sys/fs/ext4/rbd0/errors_count", "3", "@statfs"+rbd().Publish(0), "2621440 2000000 2000000 655360 600000 4096"),
			"broken: certain ceph-client-fenced Node n1"},
		"RBD: no monitor answers, the log is silent": {monitors(rbd().Waits(), "n1", "timeout 3s").FailedMount(rbdFailed("rbd: sysfs write failed\nrbd: map failed: (110) Connection timed out")).Attached("n1"),
			"broken: certain ceph-backend-unreachable Node n1"},
		"RBD: one monitor answers": {monitors(rbd().Waits(), "n1", "timeout 3s").Entries("n1", "@dial/10.9.1.3:6789", "ok 1ms").FailedMount(rbdFailed("rbd: sysfs write failed\nrbd: map failed: (110) Connection timed out")).Attached("n1"),
			"broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"RBD: the map timed out on a node that nobody probed": {rbd().Waits().FailedMount(rbdFailed("rbd: sysfs write failed\nrbd: map failed: (110) Connection timed out")).Attached("n1").Unprobed("n1", "Forbidden").Unprobed("n2", "Forbidden").Unprobed("n3", "Forbidden"),
			"broken: likely ceph-backend-unreachable Node n1"},
		"CephFS: the user is turned down, mount.ceph guesses": {monitors(cephfs().Waits(), "n1", "ok 1ms").FailedMount(stageFails("mount error: no mds (Metadata Server) is up. The cluster might be laggy, or you may not be authorized")).Kernel("n1", "62|libceph: auth method 'x' error -1"),
			"broken: likely csi-credentials-wrong Secret rook-ceph/rook-csi-cephfs-node"},
		"CephFS: no metadata server, mount.ceph says": {monitors(cephfs().Waits(), "n1", "ok 1ms").FailedMount(stageFails("mount error: no mds (Metadata Server) is up. The cluster might be laggy, or you may not be authorized")),
			"broken: likely ceph-backend-unreachable Node n1"},
		"CephFS: no metadata server, mount.ceph of Octopus says": {monitors(cephfs().Waits(), "n1", "ok 1ms").FailedMount(stageFails("unable to get monitor info from DNS SRV with service name: ceph-mon\n7f33 -1 failed for service _ceph-mon._tcp\nmount error: no mds server is up or the cluster is laggy")),
			"broken: likely ceph-backend-unreachable Node n1"},
		"CephFS: an I/O error of the mount, and nothing is mounted": {monitors(cephfs().Waits(), "n1", "ok 1ms").FailedMount(stageFails("an error (exit status 32) occurred while running mount args: [-t ceph 10.9.1.1:6789:/volumes/csi/csi-vol-aaaa /g -o name=csi-cephfs-node,_netdev] stderr: mount error 5 = Input/output error")),
			"broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"CephFS: an I/O error of what is staged": {cephfsMounted(cephfs().Waits(), "n1", 0).Entries("n1", "@statfs"+stage, "@error EIO").FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = mount failed: exit status 32\nMounting command: mount\nMounting arguments: -o bind,_netdev " + stage + " " + publish + "\nOutput: mount: " + publish + ": mount(2) system call failed: Input/output error."),
			"broken: unexplained mount-failed; unexplained pod-waiting-for-volume; unexplained volume-io-error"},
		"CephFS: in use, and nobody looked": {cephfs().Runs(0).Unprobed("n1", "NotRequested").Unprobed("n2", "NotRequested").Unprobed("n3", "NotRequested"),
			"unknown"},
		"CephFS: kubelet wants to grow a share that has its size": {cephfsMounted(cephfs().Runs(0), "n1", 0).Answers("n1", stage, publish).Event("Pod", "web-0", sketch.UID+"00", "VolumeResizeFailed", "kubelet", "n1", "2026-01-02T11:58:00Z", "NodeExpandVolume.NodeExpandVolume failed for volume \"pv-data\" : Expander.NodeExpand found CSI plugin kubernetes.io/csi/rook-ceph.cephfs.csi.ceph.com to not support node expansion"),
			"healthy"},
		"RBD: wrong key, of a newer client": {rbd().Waits().FailedMount(rbdFailed("7f57 -1 monclient(hunting): handle_auth_bad_method server allowed_methods [2] but i only support [2]\nrbd: couldn't connect to the cluster!")).Attached("n1"),
			"broken: likely csi-credentials-wrong Secret rook-ceph/rook-csi-rbd-node"},
		"RBD: features": {rbd().Waits().FailedMount(rbdFailed("rbd: sysfs write failed\nRBD image feature set mismatch. You can disable features unsupported by the kernel with \"rbd feature disable kube/csi-vol-bbbb object-map fast-diff deep-flatten\".\nIn some cases useful info is found in syslog - try \"dmesg | tail\".\nrbd: map failed: (6) No such device or address")).Attached("n1"),
			"broken: certain rbd-feature-unsupported PersistentVolume pv-data"},
		"RBD: no such image": {rbd().Waits().FailedMount(rbdFailed("rbd: sysfs write failed\nrbd: error opening image csi-vol-bbbb: (2) No such file or directory\nrbd: map failed: (2) No such file or directory")).Attached("n1"),
			"broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"RBD: module missing": {rbd().Waits().FailedMount(rbdFailed("modprobe: FATAL: Module rbd not found in directory /lib/modules/6.1.0-18-amd64\nrbd: failed to load rbd kernel module (1)\nrbd: sysfs write failed")).Attached("n1").Entries("n1", "proc/modules", "overlay 28672 0 - Live 0x0"),
			"broken: certain kernel-module-missing Node n1"},
		"RBD: a client on the blocklist maps": {rbd().Waits().FailedMount(rbdFailed("rbd: sysfs write failed\nrbd: map failed: (108) Cannot send after transport endpoint shutdown")).Attached("n1"),
			"broken: likely ceph-client-fenced Node n1"},
		"RBD: user may not blocklist": {rbd().Waits().FailedMount(rbdFailed("rbd: sysfs write failed\nrbd: map failed: (13) Permission denied")).Attached("n1").Kernel("n1", "62|rbd: rbd0: breaking header lock owned by client84123", "62|rbd: rbd0: failed to blocklist client84123: -13", "62|rbd: rbd0: failed to acquire lock: -13"),
			"broken: certain rbd-lock-or-watcher-stale PersistentVolume pv-data"},
		"RBD: wrong key": {rbd().Waits().FailedMount(rbdFailed("rbd: sysfs write failed\nrbd: couldn't connect to the cluster!\nrbd: map failed: (1) Operation not permitted")).Attached("n1").Kernel("n1", "62|libceph: auth method 'x' error -1"),
			"broken: likely csi-credentials-wrong Secret rook-ceph/rook-csi-rbd-node"},
		"RBD: the prefix is added to a user that has it": {rbd().Waits().FailedMount(strings.Replace(rbdFailed("rbd: couldn't connect to the cluster!"), "exit status 1", "exit status 22", 1)).Attached("n1").Edit("--id csi-rbd-node", "--id client.admin"),
			"broken: certain csi-credentials-wrong Secret rook-ceph/rook-csi-rbd-node"},
		"RBD: such a user, and the cluster is silent": {monitors(rbd().Waits(), "n1", "timeout 3s").FailedMount(rbdFailed("rbd: map failed: (110) Connection timed out")).Attached("n1").Edit("--id csi-rbd-node", "--id client.admin"),
			"broken: certain ceph-backend-unreachable Node n1"},
		"RBD: the client takes no such key": {rbd().Waits().FailedMount(stageFails("failed to establish the connection: failed to get connection: connecting failed: rados: ret=-22, Invalid argument")).Attached("n1"),
			"broken: likely csi-credentials-wrong Secret rook-ceph/rook-csi-rbd-node"},
		"CephFS: the prefix is added to a user that has it": {cephfs().Waits().FailedMount(stageFails("an error (exit status 22) occurred while running mount args: [-t ceph 10.9.1.1:6789:/volumes/csi/csi-vol-aaaa " + stage + " -o name=client.admin,secretfile=/tmp/csi/keys/keyfile-1,_netdev] stderr: mount error 22 = Invalid argument")),
			"broken: certain csi-credentials-wrong Secret rook-ceph/rook-csi-cephfs-node"},
		"RBD: configuration": {rbd().Waits().FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = missing configuration for cluster ID \"rook-ceph\"").Attached("n1"),
			"broken: certain driver-configuration-wrong PersistentVolume pv-data"},
		"RBD: configuration, when it shall grow": {pvcEvent(rbdMounted(rbd().Runs(0), "n1", 0).Attached("n1").Answers("n1", rbd().Publish(0)).EditIn("kind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: data", "requests: {storage: 10Gi}", "requests: {storage: 20Gi}"), "Warning", "VolumeResizeFailed", "external-resizer rbd.csi.ceph.com", "resize volume \"pv-data\" by resizer \"rbd.csi.ceph.com\" failed: rpc error: code = Internal desc = failed to fetch monitor list using clusterID (rook-ceph): missing configuration for cluster ID \"rook-ceph\""),
			"degraded: certain driver-configuration-wrong PersistentVolume pv-data"},
		"RBD: idle OSDs close": {rbdMounted(rbd().Runs(0), "n1", 0).Attached("n1").Answers("n1", rbd().Publish(0)).Kernel("n1", "900|libceph: osd4 (1)10.9.1.9:6802 socket closed (con state OPEN)", "300|libceph: osd2 (1)10.9.1.8:6802 socket closed (con state OPEN)"),
			"healthy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.w, "pvc shop/data", c.want)
		})
	}
}

// Only a call that was seen to hang is spoken of.
func TestCephHangsAsSeen(t *testing.T) {
	t.Parallel()
	const hangs = "The call that hangs"
	for name, c := range map[string]struct {
		w    *world
		want bool
	}{
		"a map hangs":  {monitors(hungMap(rbd().Waits()), "n1", "timeout 3s").FailedMount(pending("MountDevice", rbdHandle)).Attached("n1").Kernel("n1", "60|libceph: mon1 (1)10.9.1.2:6789 socket closed (con state CONNECTING)"), true},
		"a map failed": {monitors(rbd().Waits(), "n1", "timeout 3s").FailedMount(rbdFailed("rbd: map failed: (110) Connection timed out")).Attached("n1"), false},
	} {
		_, r := c.w.Verdict(t, Catalog(), "pvc shop/data")
		if len(r.RootCauses) != 1 || strings.Contains(fmt.Sprint(r.RootCauses[0].Remedies), hangs) != c.want {
			t.Errorf("%s: %v", name, r.RootCauses)
		}
	}
}
