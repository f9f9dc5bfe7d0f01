package snapshot

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func podWith(name string, source corev1.VolumeSource) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name, UID: types.UID(name + "-uid")},
		Spec: corev1.PodSpec{NodeName: "n1", Volumes: []corev1.Volume{{Name: "jobs", VolumeSource: source}}}}
}

// A source that a pod names itself is a volume like any other.
func TestInlineVolumes(t *testing.T) {
	t.Parallel()
	target := corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{TargetPortal: "10.0.0.1:3260", IQN: "iqn.2011-03.example:tank", Lun: 4}}
	image := corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{CephMonitors: []string{"10.0.0.2"}, RBDPool: "kube", RBDImage: "mail"}}
	share := corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{Server: "nas", Path: "/export"}}
	ceph := func(path string) corev1.VolumeSource {
		return corev1.VolumeSource{CephFS: &corev1.CephFSVolumeSource{Monitors: []string{"10.0.0.2"}, Path: path}}
	}
	flex := corev1.VolumeSource{FlexVolume: &corev1.FlexVolumeSource{Driver: "acme/disk"}}
	for _, c := range []struct {
		name       string
		one, other corev1.VolumeSource
		driver     string
		volumes    int
	}{
		{"one target in two pods", target, target, "kubernetes.io/iscsi", 1},
		{"target and image", target, image, "kubernetes.io/iscsi", 2},
		{"a share in two pods", share, share, "kubernetes.io/nfs", 1},
		{"two directories of one CephFS", ceph("/a"), ceph("/b"), "kubernetes.io/cephfs", 2},
		{"a plugin of the user's tells nothing", flex, flex, "flexvolume-acme/disk", 2},
		{"what is no storage", corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}, image, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &Snapshot{}
			s.Cluster.Pods = []*corev1.Pod{podWith("one", c.one), podWith("other", c.other)}
			x := NewIndex(s)
			if len(x.Volumes) != c.volumes {
				t.Errorf("%d volumes, want %d", len(x.Volumes), c.volumes)
			}
			list := x.VolumesOfPod(s.Cluster.Pods[0])
			if c.driver == "" {
				if len(list) != 0 {
					t.Errorf("found %+v", list[0])
				}
				return
			}
			v := list[0]
			if v.Driver != c.driver || v.PVName() != "" || !strings.Contains(v.Spoken(), "jobs of pod a/") {
				t.Errorf("driver %s, PV %q, called %q", v.Driver, v.PVName(), v.Spoken())
			}
			if !v.pathOfInline(VolumePath{Kind: Publish, PodUID: "one-uid", PV: "jobs"}) || v.pathOfInline(VolumePath{Kind: Publish, PodUID: "third-uid", PV: "jobs"}) {
				t.Error("the path of the pod's volume is not told from another pod's")
			}
		})
	}
}

// A directory of the host is storage, each node's its own, where it is not the machine's.
func TestInlineHostPath(t *testing.T) {
	t.Parallel()
	at := func(p string, change func(*corev1.Pod)) []*Volume {
		s := &Snapshot{}
		s.Cluster.Pods = []*corev1.Pod{podWith("one", corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: p}}), podWith("other", corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: p}})}
		change(s.Cluster.Pods[1])
		return NewIndex(s).Volumes
	}
	for _, c := range []struct {
		name   string
		path   string
		change func(*corev1.Pod)
		want   int
	}{
		{"one directory of one node", "/mnt/d", func(*corev1.Pod) {}, 1},
		{"two nodes have two", "/mnt/d/", func(p *corev1.Pod) { p.Spec.NodeName = "n2" }, 2},
		{"a pod without a node has none", "/mnt/d", func(p *corev1.Pod) { p.Spec.NodeName = "" }, 1},
		{"the machine's", "/var/run/x", func(*corev1.Pod) {}, 0},
		{"the machine itself", "/", func(*corev1.Pod) {}, 0},
		{"a service of every machine", "/mnt/d", func(p *corev1.Pod) {
			p.Spec.NodeName, p.OwnerReferences = "n2", []metav1.OwnerReference{{Kind: "DaemonSet"}}
		}, 1},
		{"a service with the machine's rights", "/mnt/d", func(p *corev1.Pod) {
			yes := true
			p.Spec.NodeName, p.Spec.Containers = "n2", []corev1.Container{{SecurityContext: &corev1.SecurityContext{Privileged: &yes}}}
		}, 1},
		{"one that sees its processes", "/mnt/d", func(p *corev1.Pod) { p.Spec.NodeName, p.Spec.HostPID = "n2", true }, 1},
		{"a pod that has finished", "/mnt/d", func(p *corev1.Pod) { p.Spec.NodeName, p.Status.Phase = "n2", corev1.PodSucceeded }, 1},
	} {
		if got := at(c.path, c.change); len(got) != c.want {
			t.Errorf("%s: %d volumes, want %d", c.name, len(got), c.want)
		}
	}
}

// A disk of a cloud in a pod's own template is its CSI driver's: the attachment carries the
// source, directories and events the name that the translation makes.
func TestInlineMigrated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                 string
		source               corev1.VolumeSource
		driver, handle, spec string
	}{
		{"cinder", corev1.VolumeSource{Cinder: &corev1.CinderVolumeSource{VolumeID: "0d21-77"}}, "cinder.csi.openstack.org", "0d21-77", "cinder.csi.openstack.org-0d21-77"},
		{"ebs with its zone", corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "aws://eu-1a/vol-0ab"}}, "ebs.csi.aws.com", "vol-0ab", "ebs.csi.aws.com-vol-0ab"},
		{"gce", corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "disk-1"}}, "pd.csi.storage.gke.io", "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/disk-1", "pd.csi.storage.gke.io-disk-1"},
		{"azure", corev1.VolumeSource{AzureDisk: &corev1.AzureDiskVolumeSource{DiskName: "d1", DataDiskURI: "/subscriptions/s/disks/d1"}}, "disk.csi.azure.com", "/subscriptions/s/disks/d1", "disk.csi.azure.com-d1"},
		{"a share of azure", corev1.VolumeSource{AzureFile: &corev1.AzureFileVolumeSource{SecretName: "azure-storage-account-fs0-secret", ShareName: "s1"}}, "file.csi.azure.com", "#fs0#s1#jobs#a", "#fs0#s1#jobs#a"},
		{"vsphere", corev1.VolumeSource{VsphereVolume: &corev1.VsphereVirtualDiskVolumeSource{VolumePath: "[ds] k/x.vmdk"}}, "csi.vsphere.vmware.com", "[ds] k/x.vmdk", "csi.vsphere.vmware.com-[ds] k/x.vmdk"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &Snapshot{Server: "v1.31.0"}
			s.Cluster.Pods = []*corev1.Pod{podWith("one", c.source)}
			in := &corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: c.driver, VolumeHandle: c.handle}}}
			s.Cluster.Attachments = []*storagev1.VolumeAttachment{{ObjectMeta: metav1.ObjectMeta{Name: "csi-1"},
				Spec: storagev1.VolumeAttachmentSpec{Attacher: c.driver, NodeName: "n1", Source: storagev1.VolumeAttachmentSource{InlineVolumeSpec: in}}}}
			x := NewIndex(s)
			v := x.VolumesOfPod(s.Cluster.Pods[0])[0]
			if v.CSIName() != c.driver || v.CSIHandle() != c.handle || v.SpecName(v.Consumers[0]) != c.spec {
				t.Errorf("driver %s, handle %s, spec %s", v.CSIName(), v.CSIHandle(), v.SpecName(v.Consumers[0]))
			}
			if v.AttachmentOn("n1") == nil || !v.AttachRequired(x) {
				t.Error("the attachment that carries the source is not the volume's")
			}
			dir := strings.ReplaceAll(c.spec, "/", "~")
			if !v.pathOfInline(VolumePath{Kind: Publish, PodUID: "one-uid", PV: dir}) || v.pathOfInline(VolumePath{Kind: Publish, PodUID: "other-uid", PV: dir}) || v.pathOfInline(VolumePath{Kind: Publish, PodUID: "one-uid", PV: "jobs"}) {
				t.Error("the pod's directory is not told")
			}
		})
	}
}

// A name that several volumes have is nobody's.
func TestAliasOwner(t *testing.T) {
	t.Parallel()
	pv := func(name, lun string) *corev1.PersistentVolume {
		return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{
			CSI: &corev1.CSIPersistentVolumeSource{Driver: "d", VolumeHandle: "h-" + name, VolumeAttributes: map[string]string{"targetIqn": "iqn.2011-03.example:tank", "lun": lun, "wwn": "60014380a1b2c3d4000070000222000" + lun}}}}}
	}
	s := &Snapshot{}
	s.Cluster.PVs = []*corev1.PersistentVolume{pv("one", "1"), pv("two", "2")}
	x := NewIndex(s)
	if v := x.AliasOwner("iqn.2011-03.example:tank"); v != nil {
		t.Errorf("the shared target is %s's", v.PVName())
	}
	if v := x.AliasOwner("360014380a1b2c3d40000700002220002"); v == nil || v.PVName() != "two" {
		t.Errorf("the WWID with multipath's prefix is %v's", v)
	}
}
