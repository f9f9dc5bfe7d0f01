package volume_test

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
)

func TestKindOf(t *testing.T) {
	t.Parallel()
	pod := "{apiVersion: v1, kind: Pod, metadata: {namespace: a, name: p, uid: u1}, spec: {nodeName: n1, containers: [], volumes: [{name: d, persistentVolumeClaim: {claimName: c}}]}, status: {phase: Running}}"
	of := func(source string) *sketch.Sketch {
		return sketch.New(pod, "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: a, name: c, uid: c1}, spec: {volumeName: pv}}",
			"{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv}, spec: {claimRef: {namespace: a, name: c, uid: c1}, "+source+"}}")
	}
	csi := func(attributes string) *sketch.Sketch {
		return of("csi: {driver: d.example.org, volumeHandle: h1, volumeAttributes: {" + attributes + "}}")
	}
	mounted := func(s *sketch.Sketch, fstype, source string) *sketch.Sketch {
		return s.Node("n1", "proc/1/mountinfo", "21 1 8:2 / / rw shared:1 - ext4 /dev/sda2 rw\n30 21 0:50 / /var/lib/kubelet/pods/u1/volumes/kubernetes.io~csi/pv/mount rw - "+fstype+" "+source+" rw")
	}
	for name, c := range map[string]struct {
		scene *sketch.Sketch
		want  volume.Kind
	}{
		"in-tree NFS":                         {of("nfs: {server: s, path: /p}"), volume.NFS},
		"in-tree CephFS":                      {of("cephfs: {monitors: [m]}"), volume.Ceph | volume.FUSE},
		"in-tree iSCSI":                       {of("iscsi: {targetPortal: 'p:3260', iqn: i, lun: 0}"), volume.Disk},
		"a directory":                         {of("local: {path: /srv/a}"), volume.Directory},
		"a local device":                      {of("local: {path: /dev/disk/by-id/a}"), volume.Disk},
		"a directory on the node's NFS":       {of("hostPath: {path: /net/a}").Node("n1", "proc/1/mountinfo", "21 1 8:2 / / rw shared:1 - ext4 /dev/sda2 rw\n22 21 0:40 / /net rw - nfs4 s:/p rw"), volume.Directory | volume.NFS},
		"a driver's raw device":               {of("volumeMode: Block, csi: {driver: d.example.org, volumeHandle: h1}"), volume.Disk},
		"attributes of SMB":                   {csi("source: //s/share"), volume.SMB},
		"a server and a share of SMB":         {csi("node_attach_driver: smb, server: s, share: p"), volume.SMB},
		"attributes of NFS":                   {csi("server: s, share: /p"), volume.NFS},
		"attributes of CephFS":                {csi("clusterID: c, fsName: f"), volume.Ceph | volume.FUSE},
		"attributes of RBD":                   {csi("clusterID: c, pool: p, imageName: i"), volume.Disk},
		"a share of a cloud, of one protocol": {csi("shareName: s, protocol: nfs"), volume.NFS},
		"an id of EFS, mounted by Lustre":     {of("csi: {driver: fsx.csi.aws.com, volumeHandle: fs-0a1b2c, volumeAttributes: {dnsname: fs-0a1b2c.fsx.eu-west-1.amazonaws.com, mountname: abcd}}"), volume.Anything},
		"EFS by its handle":                   {of("csi: {driver: efs.csi.aws.com, volumeHandle: 'fs-0a1b2c::fsap-0f'}"), volume.NFS},
		"nothing is known":                    {csi(""), volume.Anything},
		"the mount says NFS":                  {mounted(csi(""), "nfs4", "s:/p"), volume.NFS},
		"the mount says FUSE":                 {mounted(csi(""), "fuse.juicefs", "JuiceFS:x"), volume.FUSE},
		"ntfs-3g is a disk's":                 {mounted(csi(""), "fuseblk", "/dev/sdb"), volume.Anything},
		"a dataset of ZFS":                    {mounted(csi(""), "zfs", "tank/a"), volume.Anything},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := c.scene.Index(t)
			if got := volume.KindOf(x, x.VolumeOfPV("pv")); got != c.want {
				t.Errorf("KindOf = %08b, want %08b", got, c.want)
			}
		})
	}
	t.Run("no volume yet", func(t *testing.T) {
		t.Parallel()
		x := sketch.New("{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: a, name: c, uid: c1}}").Index(t)
		if got := volume.KindOf(x, x.VolumeOfClaim("a", "c")); got&volume.Unmade == 0 {
			t.Errorf("KindOf = %08b, want it unmade", got)
		}
	})
}
