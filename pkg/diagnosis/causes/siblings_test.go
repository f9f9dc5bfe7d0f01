package causes

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/render"
)

const (
	nfsPV   = "accessModes: [ReadWriteMany]\ncsi: {driver: nfs.csi.k8s.io, volumeHandle: nas#data, volumeAttributes: {server: 10.9.0.5, share: /export/data}}"
	smbPV   = "accessModes: [ReadWriteMany]\nmountOptions: [vers=3.0]\ncsi: {driver: smb.csi.k8s.io, volumeHandle: nas-data, volumeAttributes: {source: //10.9.0.6/data}, nodeStageSecretRef: {namespace: shop, name: smb-user}}"
	cephPV  = "accessModes: [ReadWriteMany]\ncsi: {driver: cephfs.csi.ceph.com, volumeHandle: 0001-0009-rook-ceph-0000000000000001-aaaa, volumeAttributes: {clusterID: rook-ceph, fsName: myfs, subvolumePath: /volumes/csi/csi-vol-aaaa}, nodeStageSecretRef: {namespace: rook-ceph, name: rook-csi-cephfs-node}}"
	rbdPV   = "accessModes: [ReadWriteOnce]\nvolumeMode: Filesystem\ncsi: {driver: rbd.csi.ceph.com, fsType: ext4, volumeHandle: 0001-0009-rook-ceph-0000000000000002-bbbb, volumeAttributes: {clusterID: rook-ceph, pool: kube, imageName: csi-vol-bbbb, imageFeatures: layering}, nodeStageSecretRef: {namespace: rook-ceph, name: rook-csi-rbd-node}}"
	ebsPV   = "accessModes: [ReadWriteOnce]\nvolumeMode: Filesystem\ncsi: {driver: ebs.csi.aws.com, fsType: ext4, volumeHandle: vol-0a1b2c3d4e5f60718}"
	localPV = "accessModes: [ReadWriteOnce]\nvolumeMode: Filesystem\nlocal: {path: /mnt/disks/vol1}\nnodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n1]}]}]}}"
)

type world = sketch.World

func nfs() *world {
	return sketch.NewWorld("nfs.csi.k8s.io", "nas#data", nfsPV)
}

func nfsMounted(w *world, node string, n int) *world {
	return w.Mounts(node, "0:60 / "+w.Publish(n)+" rw,relatime shared:60 - nfs4 10.9.0.5:/export/data rw,vers=4.2,hard,proto=tcp,timeo=600,retrans=2,clientaddr=10.0.0.1"+node[1:]+",addr=10.9.0.5").
		Entries(node, "@dial/10.9.0.5:2049", "ok 1.2ms")
}

func smb() *world {
	return sketch.NewWorld("smb.csi.k8s.io", "nas-data", smbPV)
}

func smbMounted(w *world, node string, n int) *world {
	const line = " rw,relatime shared:61 - cifs //10.9.0.6/data rw,vers=3.0,username=app,addr=10.9.0.6,file_mode=0777,dir_mode=0777,soft"
	return w.Mounts(node, "0:61 / "+w.Stage()+line, "0:61 / "+w.Publish(n)+line).Entries(node, "@dial/10.9.0.6:445", "ok 1.2ms")
}

func cephfs() *world {
	return sketch.NewWorld("cephfs.csi.ceph.com", "0001-0009-rook-ceph-0000000000000001-aaaa", cephPV)
}

func cephfsMounted(w *world, node string, n int) *world {
	const line = " rw,relatime shared:62 - ceph 10.9.1.1:6789,10.9.1.2:6789,10.9.1.3:6789:/volumes/csi/csi-vol-aaaa rw,name=csi-cephfs-node,secret=<hidden>,acl,mds_namespace=myfs"
	w.Mounts(node, "0:62 / "+w.Stage()+line, "0:62 / "+w.Publish(n)+line)
	for _, a := range []string{"1", "2", "3"} {
		w.Entries(node, "@dial/10.9.1."+a+":6789", "ok 1ms")
	}
	return w
}

func rbd() *world {
	return sketch.NewWorld("rbd.csi.ceph.com", "0001-0009-rook-ceph-0000000000000002-bbbb", rbdPV)
}

func rbdMapped(w *world, node string) *world {
	return w.Disk(node, "rbd0", "252:0").Entries(node, "sys/bus/rbd/devices/0/pool", "kube", "sys/bus/rbd/devices/0/name", "csi-vol-bbbb",
		"sys/bus/rbd/devices/0/major", "252", "sys/bus/rbd/devices/0/minor", "0", "sys/bus/rbd/devices/0/features", "0x1", "sys/bus/rbd/devices/0/client_id", "client4567")
}

func rbdMounted(w *world, node string, n int) *world {
	const line = " rw,relatime shared:63 - ext4 /dev/rbd0 rw,stripe=16"
	rbdMapped(w, node)
	return w.Mounts(node, "252:0 / "+w.Stage()+"/0001-0009-rook-ceph-0000000000000002-bbbb"+line, "252:0 / "+w.Publish(n)+line).LiveExt4(node, "rbd0")
}

func ebs() *world {
	return sketch.NewWorld("ebs.csi.aws.com", "vol-0a1b2c3d4e5f60718", ebsPV)
}

func ebsDisk(w *world, node string) *world {
	return w.Disk(node, "nvme1n1", "259:1", "device/serial", "vol0a1b2c3d4e5f60718", "device/model", "Amazon Elastic Block Store", "device/state", "live").
		Entries(node, "dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol0a1b2c3d4e5f60718", "@link ../../nvme1n1")
}

func ebsMounted(w *world, node string, n int) *world {
	const line = " rw,relatime shared:64 - ext4 /dev/nvme1n1 rw"
	ebsDisk(w, node)
	return w.Mounts(node, "259:1 / "+w.Stage()+line, "259:1 / "+w.Publish(n)+line).LiveExt4(node, "nvme1n1")
}

func show(t *testing.T, w *world, question, want string) {
	t.Helper()
	got, r := w.Verdict(t, Catalog(), question)
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
		if os.Getenv("SHOW") != "" {
			var b bytes.Buffer
			_ = render.Text(&b, r, render.Options{})
			t.Log(strings.ReplaceAll(b.String(), "\n", "\n    "))
		}
	}
}

func TestHealthyOfEveryKind(t *testing.T) {
	t.Parallel()
	three := func(make func() *world, mounted func(*world, string, int) *world) *world {
		w := make()
		for i, n := range []string{"n1", "n2", "n3"} {
			mounted(w.Runs(i), n, i)
			w.Answers(n, w.Publish(i))
		}
		return w
	}
	for name, w := range map[string]*world{
		"NFS on three nodes":    three(nfs, nfsMounted),
		"SMB on three nodes":    three(smb, smbMounted).Answers("n1", smb().Stage()).Answers("n2", smb().Stage()).Answers("n3", smb().Stage()),
		"CephFS on three nodes": three(cephfs, cephfsMounted).Answers("n1", cephfs().Stage()).Answers("n2", cephfs().Stage()).Answers("n3", cephfs().Stage()),
		"RBD":                   rbdMounted(rbd().Runs(0), "n1", 0).Attached("n1").Answers("n1", rbd().Publish(0)),
		"EBS":                   ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, w, "pvc shop/data", "healthy")
		})
	}
}

func sketchWorld(driver, handle, spec string) *world { return sketch.NewWorld(driver, handle, spec) }
