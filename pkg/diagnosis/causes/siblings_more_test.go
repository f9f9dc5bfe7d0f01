package causes

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

func linstor() *world {
	return sketch.NewWorld("linstor.csi.linbit.com", "pvc-77aa", "accessModes: [ReadWriteOnce]\nvolumeMode: Filesystem\ncsi: {driver: linstor.csi.linbit.com, fsType: ext4, volumeHandle: pvc-77aa}")
}

func drbdDevice(w *world, node string) *world {
	return w.Disk(node, "drbd1000", "147:1000").Entries(node, "dev/drbd/by-res/pvc-77aa/0", "@link ../../../drbd1000", "proc/modules", "drbd 28672 0 - Live 0x0\ndrbd_transport_tcp 28672 0 - Live 0x0\noverlay 28672 0 - Live 0x0")
}

func blockPV() *world {
	return sketch.NewWorld("ebs.csi.aws.com", "vol-0a1b2c3d4e5f60718", strings.ReplaceAll(ebsPV, "volumeMode: Filesystem", "volumeMode: Block"))
}

func TestSiblingsMore(t *testing.T) {
	t.Parallel()
	const mp = "MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = "
	drbdRuns := func() *world {
		w := drbdDevice(linstor().Runs(0).Attached("n1"), "n1")
		const line = " rw,relatime shared:90 - ext4 /dev/drbd1000 rw"
		pub := "/var/lib/kubelet/pods/" + sketch.UID + "00/volumes/kubernetes.io~csi/pv-data/mount"
		return w.Mounts("n1", "147:1000 / "+w.Stage()+line, "147:1000 / "+pub+line).LiveExt4("n1", "drbd1000").Answers("n1", pub)
	}
	for name, c := range map[string]struct {
		w    *world
		ask  string
		want string
	}{
		"DRBD: healthy": {w: drbdRuns().Kernel("n1", "5000|drbd pvc-77aa: role( Secondary -> Primary )", "5000|drbd pvc-77aa/0 drbd1000: quorum( no -> yes )"), want: "healthy"},
		"DRBD: another node is Primary": {w: drbdDevice(drbdDevice(linstor().Waits().Attached("n1"), "n1"), "n2").FailedMount(mp+"NodePublishVolume failed for pvc-77aa: failed to set source device readwrite: exit status 1").
			Kernel("n1", "400|drbd pvc-77aa n2: conn( Connecting -> Connected ) peer( Unknown -> Primary )", "62|drbd pvc-77aa: State change failed: Multiple primaries not allowed by config", "62|drbd pvc-77aa/0 drbd1000: Auto-promote failed: Multiple primaries not allowed by config (-1)"),
			want: "broken: certain drbd-state-blocks Device n2/147:1000"},
		"DRBD: another node is Primary, and nobody says that this is why": {w: drbdDevice(drbdDevice(linstor().Waits().Attached("n1"), "n1"), "n2").FailedMount(mp+"NodePublishVolume failed for pvc-77aa: failed to set source device readwrite: exit status 1").
			Kernel("n1", "400|drbd pvc-77aa/0 drbd1000: disk( Attaching -> UpToDate )", "400|drbd pvc-77aa n2: conn( Connecting -> Connected ) peer( Unknown -> Primary )", "62|drbd pvc-77aa: Failed: role( Secondary -> Primary )"),
			want: "broken: likely drbd-state-blocks Device n2/147:1000"},
		"DRBD: the peer was Primary": {w: drbdDevice(drbdDevice(linstor().Waits().Attached("n1"), "n1"), "n2").FailedMount(mp+"NodePublishVolume failed for pvc-77aa: failed to set source device readwrite: exit status 1").
			Kernel("n1", "400|drbd pvc-77aa/0 drbd1000: disk( Attaching -> UpToDate )", "400|drbd pvc-77aa n2: conn( Connecting -> Connected ) peer( Unknown -> Primary )", "90|drbd pvc-77aa n2: peer( Primary -> Secondary )"),
			want: "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"DRBD: no copy is reached, as a command was told": {w: drbdDevice(linstor().Waits().Attached("n1"), "n1").FailedMount(mp+"couldn't create ext4 filesystem on /dev/drbd1000: Could not open /dev/drbd1000: Wrong medium type").
			Kernel("n1", "400|drbd pvc-77aa n2: conn( StandAlone -> Unconnected )", "399|drbd pvc-77aa n2: conn( Unconnected -> Connecting )", "62|drbd pvc-77aa/0 drbd1000: State change failed: Need access to UpToDate data"),
			want: "broken: certain drbd-state-blocks Device n1/147:1000"},
		"DRBD: the own copy is good": {w: drbdDevice(linstor().Waits().Attached("n1"), "n1").FailedMount(mp+"mount failed: exit status 32").
			Kernel("n1", "500|drbd pvc-77aa/0 drbd1000: disk( Attaching -> UpToDate )", "399|drbd pvc-77aa n2: conn( Unconnected -> Connecting )"),
			want: "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"DRBD: LINSTOR attaches nothing, the module is not loaded": {w: va(linstor().Waits(), "csi-a", "n1", "", "attached: false, attachError: {time: '2026-01-02T11:58:00Z', message: \"rpc error: code = Internal desc = ControllerPublishVolume failed for pvc-77aa: Message: 'Satellite 'n1' does not support the following layers: [DRBD]'\"}").
			Entries("n1", "proc/modules", "overlay 28672 0 - Live 0x0", "lib/modules/6.1.0-18-amd64/modules.dep", "kernel/drivers/block/drbd/drbd.ko: kernel/lib/lru_cache.ko", "lib/modules/6.1.0-18-amd64/modules.builtin", "kernel/fs/ext4/ext4.ko"),
			want: "broken: certain kernel-module-missing Node n1"},
		"DRBD: LINSTOR attaches nothing, and nobody looked": {w: va(linstor().Waits().Unprobed("n1", "PodRejected"), "csi-a", "n1", "", "attached: false, attachError: {time: '2026-01-02T11:58:00Z', message: \"rpc error: code = Internal desc = ControllerPublishVolume failed for pvc-77aa: Message: 'Satellite 'n1' does not support the following layers: [DRBD]'\"}"),
			want: "broken: likely kernel-module-missing Node n1"},
		"DRBD: no quorum": {w: drbdDevice(linstor().Waits().Attached("n1"), "n1").FailedMount(mp+"mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t ext4 /dev/drbd1000 /g\nOutput: mount: /g: can't read superblock on /dev/drbd1000.").
			Kernel("n1", "300|drbd pvc-77aa n2: conn( Connected -> NetworkFailure ) peer( Secondary -> Unknown )", "300|drbd pvc-77aa/0 drbd1000: quorum( yes -> no )", "62|drbd pvc-77aa/0 drbd1000: 1 of 3 nodes visible, need 2 for quorum"),
			want: "broken: certain drbd-state-blocks Device n1/147:1000"},
		"DRBD: split": {w: drbdDevice(linstor().Waits().Attached("n1"), "n1").FailedMount(mp+"mount failed: exit status 32\nOutput: mount: /g: /dev/drbd1000: Wrong medium type").
			Kernel("n1", "300|drbd pvc-77aa/0 drbd1000 n2: Split-Brain detected but unresolved, dropping connection!", "300|drbd pvc-77aa n2: conn( Connected -> StandAlone )", "62|drbd pvc-77aa/0 drbd1000: Auto-promote failed: Need access to UpToDate data (-2)"),
			want: "broken: certain drbd-state-blocks Device n1/147:1000"},
		"DRBD: writes without the role": {w: drbdRuns().Entries("n1", "sys/fs/ext4/drbd1000/errors_count", "0").Kernel("n1", "900|drbd pvc-77aa: role( Primary -> Secondary )", "120|drbd pvc-77aa/0 drbd1000: Rejected WRITE request, not in Primary role.", "120|Buffer I/O error on dev drbd1000, logical block 4, lost async page write"),
			want: "broken: certain drbd-state-blocks Device n1/147:1000"},
		"DRBD: quorum came back": {w: drbdRuns().Kernel("n1", "900|drbd pvc-77aa/0 drbd1000: quorum( yes -> no )", "800|drbd pvc-77aa/0 drbd1000: quorum( no -> yes )"), want: "healthy"},
		"block: healthy": {w: ebsDisk(blockPV().Runs(0).Attached("n1"), "n1").Mounts("n1", "0:5 /nvme1n1 /var/lib/kubelet/plugins/kubernetes.io/csi/volumeDevices/publish/pv-data/"+sketch.UID+"00 rw shared:2 - devtmpfs udev rw", "0:5 /nvme1n1 /var/lib/kubelet/plugins/kubernetes.io/csi/volumeDevices/pv-data/dev/"+sketch.UID+"00 rw shared:2 - devtmpfs udev rw"),
			want: "healthy"},
		"FUSE: daemon gone under a pod": {w: sketch.NewWorld("s3.csi.aws.com", "bucket-1", "accessModes: [ReadWriteMany]\ncsi: {driver: s3.csi.aws.com, volumeHandle: bucket-1, volumeAttributes: {bucketName: b1}}").Runs(0).Mounts("n1", "0:91 / "+nfs().Publish(0)+" rw,nosuid,nodev shared:91 - fuse.mount-s3 mountpoint-s3 rw,user_id=0,group_id=0,default_permissions,allow_other").Entries("n1", "@statfs"+nfs().Publish(0), "@error ENOTCONN"),
			want: "broken: certain fuse-daemon-dead Pod shop/web-0"},
		"FUSE: only the staging is dead": {w: sketch.NewWorld("csi-s3.example", "bucket-1", "accessModes: [ReadWriteMany]\ncsi: {driver: csi-s3.example, volumeHandle: bucket-1}").Waits().Mounts("n1", "0:91 / "+sketch.NewWorld("csi-s3.example", "bucket-1", smbPV).Stage()+" rw,nosuid,nodev shared:91 - fuse.geesefs geesefs rw,user_id=0,group_id=0,allow_other").Entries("n1", "@statfs"+sketch.NewWorld("csi-s3.example", "bucket-1", smbPV).Stage(), "@error ENOTCONN").FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = stat " + sketch.NewWorld("csi-s3.example", "bucket-1", smbPV).Stage() + ": transport endpoint is not connected"),
			want: "broken: certain fuse-daemon-dead Pod shop/web-0"},
		"hostPath: healthy": {w: sketch.NewWorld("", "", "accessModes: [ReadWriteOnce]\nhostPath: {path: /srv/data, type: DirectoryOrCreate}").Runs(0), want: "healthy"},
		"the host's mount is private": {w: nfs().Waits().FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = x").Event("Pod", "web-0", sketch.UID+"00", "Failed", "kubelet", "n1", "2026-01-02T11:59:00Z", "Error: failed to generate container \"abc\" spec: failed to generate spec: path \"/var/lib/kubelet\" is mounted on \"/\" but it is not a shared mount").Unprobed("n1", "PodRejected"),
			want: "broken: certain mount-propagation-off Node n1"},
		"frozen mount, unread": {w: nfsMounted(nfs().Runs(0), "n1", 0), want: "unknown"},
		"the server says EIO":  {w: nfsMounted(nfs().Runs(0), "n1", 0).Entries("n1", "@statfs"+nfs().Publish(0), "@error EIO"), want: "broken: unexplained volume-io-error"},
		"a pod of a Secret that is not there": {w: nfs().Waits().Edit("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}, {name: tls, secret: {secretName: tls-cert}}]").FailedMount("MountVolume.SetUp failed for volume \"tls\" : secret \"tls-cert\" not found").Entries("n1", "@dial/10.9.0.5:2049", "ok 1ms"), ask: "pod shop/web-0",
			want: "broken: certain volume-source-missing Secret shop/tls-cert"},
		"an orphan of another pod keeps the claim": {w: ebsDisk(ebs().Runs(1).Drop("name: web-1").Waits().Edit("web-0", "web-1").Edit("nodeName: n1, restartPolicy", "nodeName: n2, restartPolicy"), "n1").Attached("n1").LiveExt4("n1", "nvme1n1").Mounts("n1", "259:1 / "+ebs().Stage()+" rw,relatime shared:64 - ext4 /dev/nvme1n1 rw", "259:1 / /var/lib/kubelet/pods/deadc0de-0f3d-4a6b-9a55-6d3b7f2a0c99/volumes/kubernetes.io~csi/pv-data/mount rw,relatime shared:64 - ext4 /dev/nvme1n1 rw").Event("Pod", "web-1", sketch.UID+"00", "FailedAttachVolume", "attachdetach-controller", "", "2026-01-02T11:59:00Z", "Multi-Attach error for volume \"pv-data\" Volume is already exclusively attached to one node and can't be attached to another"),
			want: "broken: certain pod-directory-orphaned Node n1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ask := c.ask
			if ask == "" {
				ask = "pvc shop/data"
			}
			show(t, c.w, ask, c.want)
		})
	}
}
