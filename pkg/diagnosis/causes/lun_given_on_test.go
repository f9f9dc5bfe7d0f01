package causes

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// TestTheNumberIsNotTheDisk: a LUN that was given to another volume leaves the disk of the former one
// under the same target and number on the node that had it (mounted, as nobody unmounted it there). The
// WWIDs of the two nodes tell them apart.
func TestTheNumberIsNotTheDisk(t *testing.T) {
	t.Parallel()
	const iqn, old, now = "iqn.2010-06.org.lunastor:pool", "naa.6001405a1b2c3d4e5f60718293a4b5c6", "naa.6001405bbbbbbbbbbbbbbbbbbbbbbbbb"
	pool := func(first, second string) *world {
		w := sketch.NewWorld("csi.lunastor.net", "vol-77", "accessModes: [ReadWriteOnce]\ncsi: {driver: csi.lunastor.net, fsType: ext4, volumeHandle: vol-77, volumeAttributes: {targetPortal: '10.0.0.9:3260', iqn: '"+iqn+"', lun: '3'}}")
		for node, wwid := range map[string]string{"n1": first, "n2": second} {
			s := "sys/class/iscsi_session/session1/"
			w = w.Disk(node, "sdc", "8:32", "device/wwid", wwid).LiveExt4(node, "sdc").
				Entries(node, s+"targetname", iqn, s+"state", "LOGGED_IN", s+"device/target2:0:0/2:0:0:3/block/sdc", "@dir")
		}
		w = w.Runs(0).Attached("n1").Mounts("n1", "8:32 / "+w.Stage()+" rw,relatime shared:9 - ext4 /dev/sdc rw", "8:32 / "+w.Publish(0)+" rw,relatime shared:9 - ext4 /dev/sdc rw").Answers("n1", w.Stage(), w.Publish(0))
		return w.Mounts("n2", "8:32 / /var/lib/kubelet/plugins/kubernetes.io/csi/csi.lunastor.net/0f0e0d0c0b0a09080706050403020100ffeeddccbbaa99887766554433221100/globalmount rw,relatime shared:9 - ext4 /dev/sdc rw")
	}
	for name, c := range map[string]struct {
		w    *world
		want string
	}{
		"the same disk":            {pool(now, now), "broken: certain device-mapped-on-other-node Device n2/8:32"},
		"no WWID was read":         {pool(now, ""), "unknown: likely device-mapped-on-other-node Device n2/8:32"},
		"the disk of a former one": {pool(now, old), "healthy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.w, "pvc shop/data", c.want)
		})
	}
}

// TestTheNumberIsTheNextVolumes: at the target and LUN that a volume remembers lies the disk of another one that the node was
// given since, which is no leftover. (Seagate/seagate-exos-x-csi: the handle ends with the WWN)
func TestTheNumberIsTheNextVolumes(t *testing.T) {
	t.Parallel()
	const iqn, mine, next = "iqn.1988-11.com.dell:01.array.bc305bf", "600c0ff0005460670a4ae16701000000", "600c0ff0005460671111111101000000"
	exos := func(node string) *world {
		w := sketch.NewWorld("csi-exos-x.seagate.com", "pvc_4d6d##iscsi##"+mine, "accessModes: [ReadWriteOnce]\ncsi: {driver: csi-exos-x.seagate.com, fsType: ext4, volumeHandle: 'pvc_4d6d##iscsi##"+mine+"', volumeAttributes: {iqn: '"+iqn+"', lun: '5'}}").Waits().Attached("n1")
		return w.FailedMount(stageFails("the operation did not succeed")).Disk("n1", "sdc", "8:32", "device/wwid", "naa."+next).Entries("n1", "sys/class/iscsi_session/session1/targetname", iqn, "sys/class/iscsi_session/session1/state", "LOGGED_IN", "sys/class/iscsi_session/session1/device/target2:0:0/2:0:0:5/block/sdc", "@dir",
			"proc/modules", "iscsi_tcp 1 0 - Live 0x0\nlibiscsi 1 0 - Live 0x0\nscsi_transport_iscsi 1 0 - Live 0x0").Add(`
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-two, uid: 'a1000000-0000-4000-8000-000000000002', creationTimestamp: '2025-12-01T12:00:00Z'}
spec: {accessModes: [ReadWriteOnce], capacity: {storage: 10Gi}, persistentVolumeReclaimPolicy: Retain, storageClassName: fast, csi: {driver: csi-exos-x.seagate.com, fsType: ext4, volumeHandle: 'pvc_9999##iscsi##` + next + `'}}
status: {phase: Available}
---
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: csi-two, uid: 'b0000000-0000-4000-8000-00000000000f', creationTimestamp: '2026-01-02T11:50:00Z'}
spec: {attacher: csi-exos-x.seagate.com, nodeName: ` + node + `, source: {persistentVolumeName: pv-two}}
status: {attached: true}
`)
	}
	showEach(t, map[string]shown{
		"the next volume is attached there":      {exos("n1"), stageUnknown},
		"it is elsewhere, and its disk was left": {exos("n2"), "broken: certain device-lun-reused Device n1/8:32"},
		"the disk itself tells another one":      {exos("n1").Entries("n1", "sys/class/block/sdc/device/vpd_pg83", "@hex\n008300140103001060"+mine[2:]), "broken: certain device-lun-reused Device n1/8:32"},
	})
}

// TestOneDiskForTwoVolumes: the backend gave one LUN to two volumes, and each of two nodes writes to it.
func TestOneDiskForTwoVolumes(t *testing.T) {
	t.Parallel()
	const wwid = "naa.6001405a1b2c3d4e5f60718293a4b5c6"
	const uid = "dd0c5a7e-0f3d-4a6b-9a55-00000000000b"
	two := func(other, kind, options string, number ...string) *world {
		w := sketch.NewWorld("csi.lunastor.net", "vol-77", "accessModes: [ReadWriteOnce]\ncsi: {driver: csi.lunastor.net, fsType: ext4, volumeHandle: vol-77}").Runs(0).Attached("n1")
		for node, id := range map[string]string{"n1": wwid, "n2": other} {
			w = w.Disk(node, "sdc", "8:32", "device/wwid", id).LiveExt4(node, "sdc")
		}
		line := func(at, number string) string {
			return number + " / " + at + " rw,relatime shared:9 - " + kind + " /dev/sdc " + options
		}
		there := "/var/lib/kubelet/pods/" + uid + "/volumes/kubernetes.io~csi/pv-two/mount"
		return w.Mounts("n1", line(w.Stage(), "8:32"), line(w.Publish(0), "8:32")).Answers("n1", w.Stage(), w.Publish(0)).Mounts("n2", line(there, append(number, "8:32")[0])).Answers("n2", there).Add(`
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: shop, name: two, uid: 'c0000000-0000-4000-8000-000000000002', creationTimestamp: '2025-12-01T12:00:00Z'}
spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 10Gi}}, volumeName: pv-two, volumeMode: Filesystem}
status: {phase: Bound, accessModes: [ReadWriteOnce], capacity: {storage: 10Gi}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-two, uid: 'a1000000-0000-4000-8000-000000000002', creationTimestamp: '2025-12-01T12:00:00Z'}
spec: {accessModes: [ReadWriteOnce], capacity: {storage: 10Gi}, persistentVolumeReclaimPolicy: Retain, storageClassName: fast, claimRef: {kind: PersistentVolumeClaim, namespace: shop, name: two, uid: 'c0000000-0000-4000-8000-000000000002'}, csi: {driver: csi.lunastor.net, fsType: ext4, volumeHandle: vol-78}}
status: {phase: Bound}
---
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: web-two, uid: '` + uid + `', creationTimestamp: '2025-12-31T12:00:00Z'}
spec: {nodeName: n2, volumes: [{name: data, persistentVolumeClaim: {claimName: two}}], containers: [{name: app, image: 'registry.example/web:1', volumeMounts: [{name: data, mountPath: /data}]}]}
status: {phase: Running, startTime: '2025-12-31T12:00:00Z', conditions: [{type: Ready, status: 'True', lastTransitionTime: '2025-12-31T12:00:10Z'}], containerStatuses: [{name: app, ready: true, restartCount: 0, image: i, imageID: '', state: {running: {startedAt: '2025-12-31T12:00:10Z'}}}]}
---
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: csi-two, uid: 'a2000000-0000-4000-8000-000000000002', creationTimestamp: '2025-12-31T12:00:00Z'}
spec: {attacher: csi.lunastor.net, nodeName: n2, source: {persistentVolumeName: pv-two}}
status: {attached: true}
`)
	}
	const crossed = "broken: likely device-is-not-the-volume Device n1/8:32"
	for name, c := range map[string]struct {
		w              *world
		question, want string
	}{
		"both write":                {two(wwid, "ext4", "rw"), "pvc shop/data", crossed},
		"the other by its map":      {dmOver(two(wwid, "ext4", "rw", "253:0"), "n2", "dm-0", "253:0", "mpatha", "mpath-36001405a1b2c3d4e5f60718293a4b5c6", "sdc"), "pvc shop/data", crossed},
		"asked by the map":          {dmOver(two(wwid, "ext4", "rw", "253:0"), "n2", "dm-0", "253:0", "mpatha", "mpath-36001405a1b2c3d4e5f60718293a4b5c6", "sdc"), "pvc shop/two", "broken: likely device-is-not-the-volume Device n2/253:0"},
		"two disks":                 {two("naa.6001405bbbbbbbbbbbbbbbbbbbbbbbbb", "ext4", "rw"), "pvc shop/data", "healthy"},
		"no WWID was read":          {two("", "ext4", "rw"), "pvc shop/data", "healthy"},
		"a filesystem for clusters": {two(wwid, "ocfs2", "rw"), "pvc shop/data", "healthy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.w, c.question, c.want)
		})
	}
}

// TestALinkIsAClaim: all NVMe disks of Google's have the serial of their controller, their names are in udev's
// database alone; a link that the driver made by hand leads to another one
// (gcp-compute-persistent-disk-csi-driver issue 2403).
func TestALinkIsAClaim(t *testing.T) {
	t.Parallel()
	const mine, other, driver = "pvc-0f3a1e52-6f3e-4a52-b6f4-8a9b7c6d5e4f", "pvc-9e9e9e52-6f3e-4a52-b6f4-8a9b7c6d5e4f", "pd.csi.storage.gke.io"
	linked := func(name, dev string) *world {
		w := vol(driver, "projects/p/zones/z/disks/"+mine, "").Runs(0).Attached("n1").Entries("n1", "dev/disk/by-id/google-"+mine, "@link ../../"+name)
		for name, dev := range map[string]string{"nvme0n2": "259:2", "nvme0n3": "259:3"} {
			w.Disk("n1", name, dev, "device/serial", "nvme_card-pd", "device/model", "nvme_card-pd")
		}
		return mountedAs(w.Entries("n1", "run/udev/data/b259:2", "E:ID_SERIAL_SHORT="+other, "run/udev/data/b259:3", "E:ID_SERIAL_SHORT="+mine), "n1", dev, name)
	}
	const wrong = "broken: likely device-is-not-the-volume Device n1/259:2"
	showEach(t, map[string]shown{
		"to its own disk":         {linked("nvme0n3", "259:3"), "healthy"},
		"to a disk of nobody":     {linked("nvme0n2", "259:2"), wrong},
		"to a disk of another PV": {linked("nvme0n2", "259:2").Add(pvOf(driver, "projects/p/zones/z/disks/"+other)), wrong},
	})
}
