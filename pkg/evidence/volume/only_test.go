package volume_test

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
)

// TestOneNode: what the modes say of a volume, and what it is.
func TestOneNode(t *testing.T) {
	t.Parallel()
	const (
		once, many, both, readers = "ReadWriteOnce", "ReadWriteMany", "ReadWriteOnce, ReadWriteMany", "ReadOnlyMany"
		ebs                       = "csi: {driver: ebs.csi.aws.com, volumeHandle: vol-1}"
		nfs                       = "csi: {driver: nfs.csi.k8s.io, volumeHandle: h, volumeAttributes: {server: s, share: /p}}"
		unattached                = "csi: {driver: local.example.org, volumeHandle: h}"
		rbd                       = "rbd: {monitors: [m], image: i}"
		iscsi                     = "iscsi: {targetPortal: 'p:3260', iqn: i, lun: 0}"
		drivers                   = "{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: nfs.csi.k8s.io}, spec: {attachRequired: false}}\n---\n{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: local.example.org}, spec: {attachRequired: false}}"
		pod                       = "{apiVersion: v1, kind: Pod, metadata: {namespace: a, name: p, uid: u1}, spec: {nodeName: n1, containers: [], volumes: [{name: d, persistentVolumeClaim: {claimName: c}}]}, status: {phase: Running}}\n---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: a, name: c, uid: c1}, spec: {volumeName: pv}}"
		served                    = "21 1 8:2 / / rw shared:1 - ext4 /dev/sda2 rw\n30 21 0:50 / /var/lib/kubelet/pods/u1/volumes/kubernetes.io~csi/pv/mount rw - nfs4 10.0.0.1:/vol rw"
	)
	for name, c := range map[string]struct {
		modes, source, mounts string
		want                  bool
	}{
		"a disk, once":                    {once, ebs, "", true},
		"a disk, called shared":           {many, ebs, "", true},
		"a filesystem of a cluster":       {many, "csi: {driver: ebs.csi.aws.com, volumeHandle: vol-1, fsType: ocfs2}", "", false},
		"a disk of both modes":            {both, rbd, "", true},
		"a disk for one pod":              {"ReadWriteOncePod", ebs, "", true},
		"a disk without modes":            {"", iscsi, "", true},
		"a disk to read":                  {readers, rbd, "", false},
		"a raw disk, shared":              {many, "volumeMode: Block, " + ebs, "", false},
		"a raw disk, once":                {once, "volumeMode: Block, " + ebs, "", true},
		"a share, once, nothing attached": {once, nfs, "", false},
		"a share of the kubelet, once":    {once, "nfs: {server: s, path: /p}", "", false},
		"a share, once, that is attached": {once, "csi: {driver: other.example.org, volumeHandle: h, volumeAttributes: {server: s, share: /p}}", "", true},
		"what nobody knows, once":         {once, unattached, "", true},
		"what nobody knows, shared":       {many, unattached, "", false},
		"a disk that one node serves":     {many, ebs, served, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sketch.New(drivers, pod, "{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv}, spec: {claimRef: {namespace: a, name: c, uid: c1}, accessModes: ["+c.modes+"], "+c.source+"}}")
			if c.mounts != "" {
				s.Node("n1", "proc/1/mountinfo", c.mounts)
			}
			x := s.Index(t)
			if got := volume.OneNode(x, x.VolumeOfPV("pv")); got != c.want {
				t.Errorf("OneNode = %t, want %t", got, c.want)
			}
		})
	}
}
