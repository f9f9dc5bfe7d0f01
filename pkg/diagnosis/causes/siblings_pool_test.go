package causes

import (
	"fmt"
	"strings"
	"testing"
)

// TestThinPools: a thin pool without free blocks is met by the filesystems that lie in it, whatever room they count.
func TestThinPools(t *testing.T) {
	t.Parallel()
	const spent, again = "60|device-mapper: thin: 253:5: switching pool to out-of-data-space (queue IO) mode", "30|device-mapper: thin: 253:5: switching pool to write mode"
	const noRoom, closed = "60|device-mapper: thin: 253:5: no free metadata space available.", "60|device-mapper: thin: 253:5: switching pool to read-only mode"
	const mounted = "30|EXT4-fs (dm-7): mounted filesystem with ordered data mode. Quota mode: none."
	thin := func() *world {
		w := lvmLocal().Runs(0)
		point := strings.Replace(w.Publish(0), "pv-data", "pvc-11aa", 1)
		return w.Disk("n1", "dm-7", "253:7", "dm/name", "datavg-pvc--11aa", "dm/uuid", "LVM-abcdef", "slaves/dm-5", "@link ../../../dm-5").Entries("n1", "dev/datavg/pvc-11aa", "@device block 253:7").LiveExt4("n1", "dm-7").
			Disk("n1", "dm-5", "253:5", "dm/name", "datavg-pool-tpool", "dm/uuid", "LVM-abcdef-tpool", "holders/dm-7", "@link ../../../dm-7").Without("n1", "sys/class/block/dm-5/holders").Entries("n1", "sys/class/block/dm-5/holders/dm-7", "@link ../../../dm-7").
			Mounts("n1", "253:7 / "+point+" rw,relatime shared:300 - ext4 /dev/mapper/datavg-pvc--11aa rw").Answers("n1", point)
	}
	for _, r := range []row{
		{"the pool has room", "healthy", thin()},
		{"it has none", "broken: certain filesystem-full PersistentVolumeClaim shop/data", thin().Kernel("n1", spent)},
		{"it has got some", "healthy", thin().Kernel("n1", spent, again)},
		{"its metadata have none", "broken: certain filesystem-full PersistentVolumeClaim shop/data", thin().Kernel("n1", "60|device-mapper: thin: 253:5: metadata operation 'dm_thin_insert_block' failed: error = -28", "60|device-mapper: thin: 253:5: switching pool to read-only mode")},
		{"its metadata have got some", "healthy", thin().Kernel("n1", "60|device-mapper: thin: 253:5: no free metadata space available.", "60|device-mapper: thin: 253:5: switching pool to read-only mode", again)},
		{"it takes no writes, nobody says why", "broken: unexplained volume-hung", thin().Kernel("n1", "60|device-mapper: thin: 253:5: switching pool to read-only mode")},
		{"it failed, in the words of older kernels", "broken: unexplained volume-hung", thin().Kernel("n1", "60|device-mapper: thin: 253:5: switching pool to failure mode")},
		{"it was repaired and made anew", "healthy", thin().Kernel("n1", closed, mounted)},
		{"its metadata were given room, and it was made anew", "healthy", thin().Kernel("n1", noRoom, closed, mounted)},
		{"its metadata have none, and its filesystem was mounted once more", "broken: likely filesystem-full PersistentVolumeClaim shop/data", thin().Kernel("n1", noRoom, closed, mounted, "20|Buffer I/O error on dev dm-7, logical block 9, lost async page write")},
		{"it is another pool", "healthy", thin().Kernel("n1", "60|device-mapper: thin: 253:9: switching pool to out-of-data-space (error IO) mode")},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			show(t, r.w, "pvc shop/data", r.want)
		})
	}
}

// TestAnswersAllTheSame: statfs of a local filesystem answers from memory while nothing below it moves, and a
// filesystem has more errors than those of a dead disk.
func TestAnswersAllTheSame(t *testing.T) {
	t.Parallel()
	runs := func() *world {
		return ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0))
	}
	const blocked = "|INFO: task jbd2/nvme1n1-8:2211 blocked for more than 120 seconds."
	for _, r := range []row{
		{"its journal is blocked", "broken: unexplained volume-hung", runs().Kernel("n1", "60"+blocked)},
		{"its journal was blocked", "healthy", runs().Kernel("n1", "360"+blocked)},
		{"the way is back", "healthy", runs().Kernel("n1", "60"+blocked, "50|nvme nvme1: Successfully reconnected (3 attempt)")},
		{"another task is blocked", "healthy", runs().Kernel("n1", "60|INFO: task jbd2/sdz-8:2211 blocked for more than 120 seconds.")},
		{"its pool is suspended", "broken: unexplained volume-hung", zfsRuns().Kernel("n1", "60|WARNING: Pool 'tank' has encountered an uncorrectable I/O failure and has been suspended.")},
		{"another pool is", "healthy", zfsRuns().Kernel("n1", "60|WARNING: Pool 'other' has encountered an uncorrectable I/O failure and has been suspended.")},
		{"its controller is away", "broken: unexplained volume-hung", runs().Without("n1", "sys/class/block/nvme1n1/device/state").Entries("n1", "sys/class/block/nvme1n1/device/state", "connecting")},
		{"a ticket has expired", "broken: unexplained volume-io-error", nfsMounted(nfs().Runs(0), "n1", 0).Entries("n1", "@statfs"+nfs().Publish(0), "@error EKEYEXPIRED", "@dial/10.9.0.5:2049", "ok 1ms")},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			show(t, r.w, "pvc shop/data", r.want)
		})
	}
}

// zfsRuns is web-0 with a dataset of the pool tank.
func zfsRuns() *world {
	w := zfsLocal().Runs(0)
	point := strings.Replace(w.Publish(0), "pv-data", "pvc-22bb", 1)
	return w.Mounts("n1", "0:81 / "+point+" rw,relatime shared:300 - zfs tank/pvc-22bb rw,xattr,noacl").Answers("n1", point)
}

// TestReadersOfADataset: what a pod that only reads has mounted is not a filesystem that went read-only.
// (openebs/zfs-localpv#691)
func TestReadersOfADataset(t *testing.T) {
	t.Parallel()
	uid := fmt.Sprintf("dd0c5a7e-0f3d-4a6b-9a55-%x", "reader")
	at := "/var/lib/kubelet/pods/" + uid + "/volumes/kubernetes.io~csi/pvc-22bb/mount"
	w := second(zfsModule(zfsLocal().Waits()), "reader", "n1", "", "Running", "").EditIn("name: reader,", "{claimName: data}", "{claimName: data, readOnly: true}").
		FailedMount(mountFails("pvc-22bb", "zfs: mount failed err : not able to mount, zfs_mount_at() failed: mountpoint or dataset is busy")).
		Mounts("n1", "0:93 / "+at+" ro,relatime shared:93 - zfs tank/pvc-22bb ro,xattr,noacl").Answers("n1", at).Process("n1", 5009, uid, "app", 4026532709, "").
		Entries("n1", "proc/spl/kstat/zfs/tank/state", "ONLINE").Add(strings.Replace(zfsNode, "name: other", "name: tank", 1))
	show(t, w, "pvc shop/data", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume")
}

// TestAVolumeThatItsNodeMakes: a driver of local disks lets its plugin on the chosen node make the volume; who has no
// plugin there that serves waits in vain. A driver of disks that any node of a zone may have needs none for that.
func TestAVolumeThatItsNodeMakes(t *testing.T) {
	t.Parallel()
	const key = "topology.topolvm.io/node"
	making := func(code string, values ...string) *world {
		w := pendingClaim(vol("topolvm.io", "x", ""), "WaitForFirstConsumer", anno("topolvm.io")+on("n1"))
		unscheduled(w, "running PreBind plugin \"VolumeBinding\": binding volumes: context deadline exceeded")
		pvcEvent(w, "Warning", "ProvisioningFailed", "topolvm.io_controller-0_6d", "failed to provision volume with StorageClass \"fast\": rpc error: code = "+code)
		w.Edit("topologyKeys: null", "topologyKeys: ["+key+"]")
		for i, v := range values {
			n := "labels: {kubernetes.io/hostname: n" + string(rune('1'+i))
			w.Edit(n, strings.Replace(n, "{", "{"+key+": "+v+", ", 1))
		}
		return w
	}
	crashes := func(w *world) *world {
		return w.EditIn("name: plugin-1,", "{name: driver, ready: true, restartCount: 0, state: {running: {startedAt: '2025-11-07T13:25:00Z'}}}", "{name: driver, ready: false, restartCount: 40, lastState: {terminated: {exitCode: 1, reason: Error, startedAt: '2026-01-02T11:56:00Z', finishedAt: '2026-01-02T11:56:10Z'}}, state: {waiting: {reason: CrashLoopBackOff}}}").
			EditIn("name: plugin-1,", "{type: Ready, status: 'True'}", "{type: Ready, status: 'False', lastTransitionTime: '2026-01-02T11:00:00Z'}").Without("n1", "proc/4100")
	}
	const late = "DeadlineExceeded desc = context deadline exceeded"
	refused := "broken: certain provisioning-failed PersistentVolumeClaim shop/data"
	for _, r := range []row{
		{"its plugin crashes", "broken: likely csi-plugin-not-registered Pod kube-system/plugin-1", crashes(making(late, "n1", "n2", "n3"))},
		{"its plugin serves", refused, making(late, "n1", "n2", "n3")},
		{"any node of a zone", refused, crashes(making(late, "a", "a", "b"))},
		{"each zone has one node", refused, crashes(making(late, "a", "b", "c"))},
		{"its volumes may be had on every node", refused, crashes(making(late, "n1", "n2", "n3")).Add(`
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-other, uid: 'a0000000-0000-4000-8000-000000000009', creationTimestamp: '2025-12-01T08:00:00Z'}
spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], persistentVolumeReclaimPolicy: Delete, storageClassName: fast, csi: {driver: topolvm.io, volumeHandle: other}}
status: {phase: Available}
`)},
		{"the driver refuses", refused, crashes(making("ResourceExhausted desc = no enough space left on VG", "n1", "n2", "n3"))},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			show(t, r.w, "pvc shop/data", r.want)
		})
	}
}
