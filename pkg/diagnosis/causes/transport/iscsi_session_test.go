package transport_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/transport"
)

// arrayVolume is a volume of an array whose driver has no protocol in its name: what the
// attacher answered tells, in keys of its own.
const arrayVolume = `
apiVersion: v1
kind: Node
metadata: {name: n1, uid: n1}
---
apiVersion: v1
kind: Node
metadata: {name: n2, uid: n2}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-data, uid: v1}
spec:
  capacity: {storage: 10Gi}
  accessModes: [ReadWriteOnce]
  claimRef: {namespace: shop, name: data, uid: c1}
  csi: {driver: array.example.com, volumeHandle: vol-7}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: shop, name: data, uid: c1}
spec: {volumeName: pv-data}
status: {phase: Bound}
---
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: csi-1, uid: a1, creationTimestamp: '2026-01-02T08:00:00Z'}
spec: {attacher: array.example.com, nodeName: n1, source: {persistentVolumeName: pv-data}}
status: {attached: true, attachmentMetadata: {TARGET0: iqn.2015-10.com.array:t0, PORTAL0: '10.5.0.10:3260', LUN_ADDRESS: '3'}}
---
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: db-0, uid: 11111111-2222-4333-8444-555555555555, creationTimestamp: '2026-01-02T08:00:00Z'}
spec:
  nodeName: n1
  containers: [{name: app}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
status: {phase: Running, startTime: '2026-01-02T08:00:00Z', containerStatuses: [{name: app, ready: true, state: {running: {startedAt: '2026-01-02T08:00:10Z'}}}]}
`

const mounted8 = "21 1 8:2 / / rw shared:1 - ext4 /dev/sda2 rw\n30 21 8:16 / /var/lib/kubelet/pods/11111111-2222-4333-8444-555555555555/volumes/kubernetes.io~csi/pv-data/mount rw - ext4 /dev/sdb rw"

// path is a disk of the array on a node, with or without a session.
func path(name, dev, state, session, target, ip, health string) []string {
	out := []string{
		"sys/class/block/" + name + "/dev", dev, "sys/class/block/" + name + "/size", "20971520",
		"sys/class/block/" + name + "/device/state", state, "sys/class/block/" + name + "/device/vendor", "ARRAY", "sys/class/block/" + name + "/device/wwid", "naa.6000",
	}
	if session == "" {
		return out
	}
	s, c := "sys/class/iscsi_session/session"+session+"/", "sys/class/iscsi_connection/connection"+session+":0/"
	return append(out, s+"targetname", target, s+"state", health, s+"recovery_tmo", "120",
		s+"device/target"+session+":0:0/"+session+":0:0:3/block/"+name+"/dev", dev,
		c+"persistent_address", ip, c+"persistent_port", "3260")
}

func TestWayLost(t *testing.T) {
	t.Parallel()
	const target = "iqn.2015-10.com.array:t0"
	mapped := func(entries ...string) []string {
		return append(entries, "proc/1/mountinfo", "21 1 8:2 / / rw shared:1 - ext4 /dev/sda2 rw\n30 21 253:0 / /var/lib/kubelet/pods/11111111-2222-4333-8444-555555555555/volumes/kubernetes.io~csi/pv-data/mount rw - ext4 /dev/mapper/mpatha rw",
			"sys/class/block/dm-0/dev", "253:0", "sys/class/block/dm-0/size", "20971520", "sys/class/block/dm-0/dm/uuid", "mpath-36000", "sys/class/block/dm-0/dm/name", "mpatha",
			"sys/class/block/dm-0/slaves/sdb", "@link ../../sdb", "sys/class/block/dm-0/slaves/sdc", "@link ../../sdc",
			"sys/class/block/sdb/holders/dm-0", "@link ../../dm-0", "sys/class/block/sdc/holders/dm-0", "@link ../../dm-0")
	}
	plain := func(entries ...string) []string { return append(entries, "proc/1/mountinfo", mounted8) }
	fc := plain(path("sdb", "8:16", "transport-offline", "", "", "", "")...)
	scsi := append(fc[:len(fc):len(fc)], "sys/class/block/sdb/device/scsi_device/3:0:0:1/uevent", "")
	for name, c := range map[string]struct {
		metadata string
		node     []string
		want     []string
	}{
		"a lost session": {"", plain(path("sdb", "8:16", "transport-offline", "3", target, "10.5.0.10", "FREE")...), []string{"certain Device 8:16"}},
		"a good one":     {"", plain(path("sdb", "8:16", "running", "3", target, "10.5.0.10", "LOGGED_IN")...), []string{}},
		"one of two paths": {"", mapped(append(path("sdb", "8:16", "transport-offline", "3", target, "10.5.0.10", "FREE"),
			path("sdc", "8:32", "running", "4", target, "10.6.0.10", "LOGGED_IN")...)...), []string{}},
		"both paths": {"", mapped(append(path("sdb", "8:16", "transport-offline", "3", target, "10.5.0.10", "FREE"),
			path("sdc", "8:32", "transport-offline", "4", target, "10.6.0.10", "FREE")...)...), []string{"certain Device 253:0"}},
		"one lost, one that may come back": {"", mapped(append(path("sdb", "8:16", "transport-offline", "3", target, "10.5.0.10", "FREE"),
			path("sdc", "8:32", "blocked", "4", target, "10.6.0.10", "FAILED")...)...), []string{"likely Device 253:0"}},
		"Fibre Channel, by what the attacher says": {"{protocol: fc, wwn: '6000'}", fc, []string{"certain Device 8:16"}},
		"neither a session nor Fibre Channel":      {"{protocol: sas, wwn: '6000'}", scsi, []string{"certain Device 8:16"}},
		"Fibre Channel, by the kernel": {"{wwn: '6000'}", append(scsi[:len(scsi):len(scsi)],
			"@kmsg", "3,9,86000000000,-; rport-3:0-1: blocked FC remote port time out: removing target and saving binding"), []string{"certain Device 8:16"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sketch.New(arrayVolume).Node("n1", c.node...)
			if c.metadata != "" {
				s.Edit("{TARGET0: iqn.2015-10.com.array:t0, PORTAL0: '10.5.0.10:3260', LUN_ADDRESS: '3'}", c.metadata)
			}
			if diff := cmp.Diff(c.want, sketch.Causes(s.Ask(t, "pvc shop/data", transport.ISCSISessionLost))); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// TestArrayDaemon: that the volume wants iSCSI is known from what the attacher said.
func TestArrayDaemon(t *testing.T) {
	t.Parallel()
	const waits = "status: {phase: Pending, startTime: '2026-01-02T08:00:00Z', containerStatuses: [{name: app, state: {waiting: {reason: ContainerCreating}}}]}"
	const runs = "status: {phase: Running, startTime: '2026-01-02T08:00:00Z', containerStatuses: [{name: app, ready: true, state: {running: {startedAt: '2026-01-02T08:00:10Z'}}}]}"
	for name, c := range map[string]struct {
		metadata string
		want     []string
	}{
		"iSCSI":         {"", []string{"certain Node n1"}},
		"Fibre Channel": {"{protocol: fc, wwn: '6000'}", []string{}},
	} {
		s := sketch.New(arrayVolume).Edit(runs, waits).Node("n1", "usr/sbin/iscsiadm", "ELF", "etc/iscsi/initiatorname.iscsi", "InitiatorName=iqn.1993-08.org.debian:01:a",
			"proc/1/net/unix", "Num RefCount")
		if c.metadata != "" {
			s.Edit("{TARGET0: iqn.2015-10.com.array:t0, PORTAL0: '10.5.0.10:3260', LUN_ADDRESS: '3'}", c.metadata)
		}
		if diff := cmp.Diff(c.want, sketch.Causes(s.Ask(t, "pvc shop/data", transport.ISCSIDNotRunning))); diff != "" {
			t.Errorf("%s: causes mismatch (-want +got):\n%s", name, diff)
		}
	}
}
