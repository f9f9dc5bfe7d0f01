package snapshot

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestMigrated: an in-tree source belongs to a CSI driver only where that driver took
// it over; then its handle and its name in the nodes' status are those of the driver.
func TestMigrated(t *testing.T) {
	t.Parallel()
	aws := corev1.PersistentVolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "aws://us-east-1a/vol-0abc"}}
	gce := corev1.PersistentVolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "pvc-1"}}
	space := "infra"
	file := func(secret string, namespace *string) corev1.PersistentVolumeSource {
		return corev1.PersistentVolumeSource{AzureFile: &corev1.AzureFilePersistentVolumeSource{SecretName: secret, SecretNamespace: namespace, ShareName: "share-1"}}
	}
	for name, c := range map[string]struct {
		source corev1.PersistentVolumeSource
		change func(*Snapshot, *corev1.PersistentVolume)
		driver string
		handle string
		unique string
	}{
		"an old cluster": {aws, func(s *Snapshot, _ *corev1.PersistentVolume) { s.Server = "v1.17.3" }, "", "", "kubernetes.io/aws-ebs/aws://us-east-1a/vol-0abc"},
		"the PV says so": {aws, func(_ *Snapshot, pv *corev1.PersistentVolume) {
			pv.Annotations = map[string]string{"pv.kubernetes.io/migrated-to": "ebs.csi.aws.com"}
		}, "ebs.csi.aws.com", "vol-0abc", "kubernetes.io/csi/ebs.csi.aws.com^vol-0abc"},
		"a node has the driver": {aws, func(s *Snapshot, _ *corev1.PersistentVolume) {
			s.Cluster.CSINodes = []*storagev1.CSINode{{Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "ebs.csi.aws.com"}}}}}
		}, "ebs.csi.aws.com", "vol-0abc", "kubernetes.io/csi/ebs.csi.aws.com^vol-0abc"},
		"a server without the plugin": {aws, func(s *Snapshot, _ *corev1.PersistentVolume) { s.Server = "v1.30.1" }, "ebs.csi.aws.com", "vol-0abc", "kubernetes.io/csi/ebs.csi.aws.com^vol-0abc"},
		"a zone is part of the handle": {gce, func(s *Snapshot, pv *corev1.PersistentVolume) {
			s.Server = "v1.30.1-gke.100"
			pv.Labels = map[string]string{corev1.LabelTopologyZone: "us-central1-a"}
		}, "pd.csi.storage.gke.io", "projects/UNSPECIFIED/zones/us-central1-a/disks/pvc-1",
			"kubernetes.io/csi/pd.csi.storage.gke.io^projects/UNSPECIFIED/zones/us-central1-a/disks/pvc-1"},
		"a share of Azure": {file("azure-storage-account-fs0abc-secret", nil), func(s *Snapshot, pv *corev1.PersistentVolume) {
			s.Server = "v1.30.1"
			pv.Annotations = map[string]string{"kubernetes.io/azure-file-resource-group": "rg-1"}
			pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "shop", Name: "data"}
		}, "file.csi.azure.com", "rg-1#fs0abc#share-1#pv1#shop", "kubernetes.io/csi/file.csi.azure.com^rg-1#fs0abc#share-1#pv1#shop"},
		"a secret of another name": {file("storage-key", &space), func(s *Snapshot, _ *corev1.PersistentVolume) { s.Server = "v1.30.1" },
			"file.csi.azure.com", "#storage-key#share-1#pv1#infra", "kubernetes.io/csi/file.csi.azure.com^#storage-key#share-1#pv1#infra"},
		"a plugin without a successor": {corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "s", Path: "/p"}},
			func(s *Snapshot, _ *corev1.PersistentVolume) { s.Server = "v1.30.1" }, "", "", "kubernetes.io/nfs/s//p"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv1"}, Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: c.source}}
			s := &Snapshot{}
			s.Cluster.PVs = []*corev1.PersistentVolume{pv}
			c.change(s, pv)
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
			node.Status.VolumesInUse = []corev1.UniqueVolumeName{corev1.UniqueVolumeName(c.unique)}
			s.Cluster.Nodes = []*corev1.Node{node}
			x := NewIndex(s)
			v := x.VolumeOfPV("pv1")
			if v.CSIName() != c.driver || v.CSIHandle() != c.handle || v.UniqueName() != c.unique {
				t.Errorf("driver %q, handle %q, name %q; want %q, %q, %q", v.CSIName(), v.CSIHandle(), v.UniqueName(), c.driver, c.handle, c.unique)
			}
			if !x.ReportedInUse("n", v) || v.AttachRequired(x) != (c.driver != "") {
				t.Errorf("in use %v, attach required %v", x.ReportedInUse("n", v), v.AttachRequired(x))
			}
		})
	}
}

// TestMigratedClaim: before the PV exists the claim tells who shall make it.
func TestMigratedClaim(t *testing.T) {
	t.Parallel()
	class := "gp2"
	for name, c := range map[string]struct {
		notes map[string]string
		want  string
	}{
		"left to the plugin":    {nil, ""},
		"handed to the driver":  {map[string]string{"volume.kubernetes.io/storage-provisioner": "ebs.csi.aws.com"}, "ebs.csi.aws.com"},
		"handed to another one": {map[string]string{"volume.kubernetes.io/storage-provisioner": "kubernetes.io/aws-ebs"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &Snapshot{}
			s.Cluster.StorageClasses = []*storagev1.StorageClass{{ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: "kubernetes.io/aws-ebs"}}
			s.Cluster.Claims = []*corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "data", Annotations: c.notes},
				Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &class}}}
			if got := NewIndex(s).VolumeOfClaim("shop", "data").CSIName(); got != c.want {
				t.Errorf("driver %q, want %q", got, c.want)
			}
		})
	}
}

// A driver that is there may stand beside a plugin that still attaches by itself.
func TestAttachedByCSI(t *testing.T) {
	t.Parallel()
	ebs := corev1.PersistentVolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}}
	moved := map[string]string{annotationMigratedTo: "ebs.csi.aws.com"}
	for _, c := range []struct {
		name, server string
		source       corev1.PersistentVolumeSource
		annotations  map[string]string
		want         bool
	}{
		{"of CSI", "v1.20.0", corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "ebs.csi.aws.com", VolumeHandle: "vol-1"}}, nil, true},
		{"a plugin that is there", "v1.20.0", ebs, nil, false},
		{"a plugin that was migrated", "v1.20.0", ebs, moved, true},
		{"a plugin that is gone", "v1.31.0", ebs, nil, true},
		{"a plugin without a driver", "v1.31.0", corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "nas", Path: "/"}}, nil, false},
	} {
		s := &Snapshot{Server: c.server}
		s.Cluster.CSIDrivers = []*storagev1.CSIDriver{{ObjectMeta: metav1.ObjectMeta{Name: "ebs.csi.aws.com"}}}
		s.Cluster.PVs = []*corev1.PersistentVolume{{ObjectMeta: metav1.ObjectMeta{Name: "pv", Annotations: c.annotations}, Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: c.source}}}
		x := NewIndex(s)
		if got := x.Volumes[0].AttachedByCSI(x); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
}
