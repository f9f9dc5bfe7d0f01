package snapshot

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// The charts of ceph-csi let an installation name its drivers.
func TestCephCSI(t *testing.T) {
	t.Parallel()
	made := func(driver string, attributes map[string]string) *Volume {
		pv := &corev1.PersistentVolume{}
		pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: "h", VolumeAttributes: attributes}
		return &Volume{PV: pv, Driver: driver}
	}
	of := func(driver string, parameters map[string]string) *Volume {
		return &Volume{Driver: driver, Class: &storagev1.StorageClass{Provisioner: driver, Parameters: parameters}}
	}
	for name, c := range map[string]struct {
		v    *Volume
		want string
	}{
		"its own name":            {made("rook-ceph.rbd.csi.ceph.com", nil), "rbd"},
		"its own name, files":     {made("cephfs.csi.ceph.com", nil), "cephfs"},
		"another name":            {made("fast.rbd.example", map[string]string{"clusterID": "a", "pool": "k8s", "imageName": "csi-vol-1"}), "rbd"},
		"another name, files":     {made("files.example", map[string]string{"clusterID": "a", "fsName": "cephfs"}), "cephfs"},
		"another name, not made":  {of("fast.example", map[string]string{"clusterID": "a", "imageFeatures": "layering"}), "rbd"},
		"another driver's fsName": {made("lustre.example", map[string]string{"fsName": "scratch"}), ""},
		"in-tree":                 {&Volume{PV: &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{}}}}}, ""},
	} {
		if got := c.v.CephCSI(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
