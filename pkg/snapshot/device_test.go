package snapshot

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

func probesDev(major, minor uint32) probes.Dev { return probes.Dev{Major: major, Minor: minor} }

func disk(name string, major, minor uint32) probes.BlockDevice {
	return probes.BlockDevice{Name: name, Dev: probesDev(major, minor)}
}

// onNode is a snapshot of one PV and one probed node "n".
func onNode(pv *corev1.PersistentVolume, f probes.Facts, others ...*corev1.PersistentVolume) *Index {
	return NewIndex(&Snapshot{
		Cluster: Cluster{PVs: append([]*corev1.PersistentVolume{pv}, others...)},
		Nodes:   map[string]*NodeRecord{"n": {Name: "n", Facts: &f}},
	})
}

func withAttributes(pv *corev1.PersistentVolume, attributes map[string]string) *corev1.PersistentVolume {
	pv.Spec.CSI.VolumeAttributes = attributes
	return pv
}

// staged is init's table with one mount at the CSI staging path of a handle.
func staged(driver, handle string, dev probes.Dev, root string) []probes.MountNamespace {
	return []probes.MountNamespace{{ID: 1, PIDs: []int{1}, TablePID: 1, Mounts: []probes.Mount{{
		Dev: dev, Root: root, FSType: "ext4", Point: "/var/lib/kubelet/plugins/kubernetes.io/csi/" + driver + "/" + hashHex(handle) + "/globalmount",
	}}}}
}

func serialDisk(name string, minor uint32, serial string) probes.BlockDevice {
	b := disk(name, 8, minor)
	b.Serial = serial
	return b
}

func subsystem(nqn string) probes.Facts {
	return probes.Facts{
		Block: []probes.BlockDevice{disk("nvme0n1", 259, 1)},
		NVMe:  []probes.NVMeSubsystem{{Name: "nvme-subsys0", NQN: nqn, Namespaces: []string{"nvme0n1"}}},
	}
}

func TestDeviceIdentity(t *testing.T) {
	t.Parallel()
	const cinder, id = "cinder.csi.openstack.org", "ae2e8567-21c4-4c2c-a5f7-7ae6a7d8c9b0"
	logicalVolume := func(name string, minor uint32, called string) probes.BlockDevice {
		b := disk(name, 253, minor)
		b.DM = &probes.DM{Name: called, UUID: "LVM-x"}
		return b
	}
	logical := logicalVolume("dm-2", 2, "vg-d37d3f9a--c1d8")
	tests := map[string]struct {
		pv     *corev1.PersistentVolume
		facts  probes.Facts
		dev    string // empty: none
		proven bool
	}{
		"the serial is the handle without the word for its kind": {
			csiPV("pv1", "disk.example.com", "d-bp18x4kq2v7n0e5tw3cy"),
			probes.Facts{Block: []probes.BlockDevice{serialDisk("sdb", 16, "bp1gm6zr9a1f8h0jq5us"), serialDisk("sdc", 32, "bp18x4kq2v7n0e5tw3cy")}}, "8:32", true,
		},
		"a link that leads to a disk which udev calls another volume": {
			csiPV("pv1", "pd.csi.storage.gke.io", "projects/p/zones/z/disks/pvc-edf38be46fae"),
			probes.Facts{
				Block:    []probes.BlockDevice{disk("nvme0n7", 259, 7), disk("nvme0n8", 259, 8)},
				DevLinks: []probes.DevLink{{Path: "/dev/disk/by-id/google-pvc-edf38be46fae", Dev: probesDev(259, 7)}, {Path: "/dev/disk/by-id/google-pvc-other45a366d6", Dev: probesDev(259, 7)}},
				Udev:     map[probes.Dev][]string{probesDev(259, 7): {"E:ID_SERIAL_SHORT=pvc-other45a366d6"}, probesDev(259, 8): {"E:ID_SERIAL_SHORT=pvc-edf38be46fae"}},
			}, "259:8", true,
		},
		"two links, and the disk says of itself whose it is": {
			csiPV("pv1", "pd.csi.storage.gke.io", "projects/p/zones/z/disks/pvc-edf38be46fae"),
			probes.Facts{
				Block:    []probes.BlockDevice{disk("nvme0n7", 259, 7)},
				DevLinks: []probes.DevLink{{Path: "/dev/disk/by-id/google-pvc-edf38be46fae", Dev: probesDev(259, 7)}, {Path: "/dev/disk/by-id/google-pvc-other45a366d6", Dev: probesDev(259, 7)}},
				Udev:     map[probes.Dev][]string{probesDev(259, 7): {"E:ID_SERIAL_SHORT=pvc-edf38be46fae"}},
			}, "259:7", true,
		},
		"two links of two volumes, and nothing else": {
			csiPV("pv1", "pd.csi.storage.gke.io", "projects/p/zones/z/disks/pvc-edf38be46fae"),
			probes.Facts{
				Block:    []probes.BlockDevice{disk("nvme0n7", 259, 7)},
				DevLinks: []probes.DevLink{{Path: "/dev/disk/by-id/google-pvc-edf38be46fae", Dev: probesDev(259, 7)}, {Path: "/dev/disk/by-id/google-pvc-other45a366d6", Dev: probesDev(259, 7)}},
			}, "", false,
		},
		"the name of a disk is the beginning of another's": {
			csiPV("pv1", "pd.csi.storage.gke.io", "projects/p/zones/z/disks/postgres-data"),
			probes.Facts{Block: []probes.BlockDevice{serialDisk("sdb", 16, "postgres-data-1"), serialDisk("sdc", 32, "nvme_card-pd_postgres-data")}}, "8:32", true,
		},
		"the name of a disk ends before the volume's does": {
			csiPV("pv1", "pd.csi.storage.gke.io", "projects/p/zones/z/disks/postgres-data-of-shop-1"),
			probes.Facts{Block: []probes.BlockDevice{serialDisk("sdb", 16, "postgres-data-of-shop")}}, "", false,
		},
		"a serial that may be cut off, and is the whole name of another volume": {
			csiPV("pv1", "pd.csi.storage.gke.io", "projects/p/zones/z/disks/journal-of-the-shops-2"),
			probes.Facts{Block: []probes.BlockDevice{serialDisk("sdb", 16, "journal-of-the-shops")}}, "", false,
		},
		"a serial that is cut off": {
			csiPV("pv1", "pd.csi.storage.gke.io", "projects/p/zones/z/disks/journal-of-the-banks-2"),
			probes.Facts{Block: []probes.BlockDevice{serialDisk("sdb", 16, "journal-of-the-banks")}}, "8:16", true,
		},
		"a logical volume beside its snapshot": {
			csiPV("pv1", "local.csi.openebs.io", "postgres-data"),
			probes.Facts{Block: []probes.BlockDevice{logicalVolume("dm-1", 1, "vg-postgres--data--old"), logicalVolume("dm-2", 2, "vg-postgres--data")}}, "253:2", true,
		},
		"a short rest of a handle is no identity": {
			csiPV("pv1", "disk.example.com", "disk-12"),
			probes.Facts{Block: []probes.BlockDevice{serialDisk("sdb", 16, "12")}}, "", false,
		},
		"a resource of DRBD with a short name": {
			csiPV("pv1", "linstor.csi.linbit.com", "db"),
			probes.Facts{Block: []probes.BlockDevice{disk("drbd1000", 147, 1000)}, DevLinks: []probes.DevLink{{Path: "/dev/drbd/by-res/db/0", Dev: probesDev(147, 1000)}}}, "147:1000", true,
		},
		"session outranks a stale device node": {
			csiPV("pv1", LonghornDriver, "pvc_a"),
			probes.Facts{
				Block:       []probes.BlockDevice{disk("sdb", 8, 16), disk("sdc", 8, 32)},
				ISCSI:       probes.ISCSI{Sessions: []probes.ISCSISession{{Name: "session1", Target: "iqn.2019-10.io.longhorn:pvc:a", Disks: []string{"sdc"}}}},
				DeviceNodes: []probes.DeviceNode{{Path: "/dev/longhorn/pvc_a", Dev: probesDev(8, 16)}},
			}, "8:32", true,
		},
		"device node alone proves nothing": {
			csiPV("pv1", LonghornDriver, "vol"),
			probes.Facts{DeviceNodes: []probes.DeviceNode{{Path: "/dev/longhorn/vol", Dev: probesDev(8, 16)}}}, "8:16", false,
		},
		"subsystem of data engine v2, named after the engine": {
			csiPV("pv1", LonghornDriver, "vol"), subsystem("nqn.2023-01.io.longhorn.spdk:vol-e-0"), "259:1", true,
		},
		"subsystem of data engine v2 since 1.12, named after the volume": {
			csiPV("pv1", LonghornDriver, "vol"), subsystem("nqn.2023-01.io.longhorn.spdk:volume-vol"), "259:1", true,
		},
		"subsystem of a replica": {
			csiPV("pv1", LonghornDriver, "vol"), subsystem("nqn.2023-01.io.longhorn.spdk:vol-r-0a1b2c3d"), "", false,
		},
		"subsystem of a volume whose name goes on": {
			csiPV("pv1", LonghornDriver, "vol"), subsystem("nqn.2023-01.io.longhorn.spdk:volume-vol-2"), "", false,
		},
		"serial cut by virtio outranks the dead mount": {
			csiPV("pv1", cinder, id),
			probes.Facts{Block: []probes.BlockDevice{serialDisk("sde", 64, "ae2e8567-21c4-4c2c-a")}, Namespaces: staged(cinder, id, probesDev(8, 16), "/")}, "8:64", true,
		},
		"serial of another volume": {
			csiPV("pv1", cinder, id), probes.Facts{Block: []probes.BlockDevice{serialDisk("sde", 64, "77aa0c1d-90e2-4b0e-8")}}, "", false,
		},
		"short number must be a whole field": {
			csiPV("pv1", "csi.hetzner.cloud", "1234567"), probes.Facts{Block: []probes.BlockDevice{serialDisk("sdb", 16, "91234567")}}, "", false,
		},
		"a link with the name of the PersistentVolume": {
			csiPV("pv1-5f0c41d2e8", "dobs.csi.digitalocean.com", "8f1c2d3e-1111-11ea-9b1c-0a58ac14d0aa"),
			probes.Facts{Block: []probes.BlockDevice{disk("sdb", 8, 16)}, DevLinks: []probes.DevLink{{Path: "/dev/disk/by-id/scsi-0DO_Volume_pv1-5f0c41d2e8", Dev: probesDev(8, 16)}}}, "8:16", true,
		},
		"a mapper with the name of the PersistentVolume": {
			csiPV("pv1-5f0c41d2e8", "dobs.csi.digitalocean.com", "8f1c2d3e-1111-11ea-9b1c-0a58ac14d0aa"),
			probes.Facts{Block: []probes.BlockDevice{logical}, DevLinks: []probes.DevLink{{Path: "/dev/disk/by-id/dm-name-luks-pv1-5f0c41d2e8", Dev: probesDev(253, 2)}}}, "", false,
		},
		"short number as serial": {
			csiPV("pv1", "csi.hetzner.cloud", "1234567"), probes.Facts{Block: []probes.BlockDevice{serialDisk("sdb", 16, "1234567")}}, "8:16", true,
		},
		"image of ceph-csi by handle": {
			csiPV("pv1", "rook-ceph.rbd.csi.ceph.com", "0001-0009-rook-ceph-0000000000000001-21e7c5f1-2d7b-11ea-8f4e-0a580a2a0212"),
			probes.Facts{RBD: []probes.RBDDevice{{ID: "0", Pool: "p", Image: "csi-vol-21e7c5f1-2d7b-11ea-8f4e-0a580a2a0212", Snap: "-", Dev: probesDev(252, 0)}}}, "252:0", true,
		},
		"same image in another pool": {
			withAttributes(csiPV("pv1", "rbd.csi.ceph.com", "h"), map[string]string{"pool": "a", "imageName": "img"}),
			probes.Facts{RBD: []probes.RBDDevice{{ID: "0", Pool: "b", Image: "img", Dev: probesDev(252, 0)}}}, "", false,
		},
		"logical volume": {
			csiPV("pv1", "topolvm.io", "d37d3f9a-c1d8"), probes.Facts{Block: []probes.BlockDevice{logical}}, "253:2", true,
		},
		"only the staging mount": {
			csiPV("pv1", cinder, id), probes.Facts{Namespaces: staged(cinder, id, probesDev(8, 16), "/")}, "8:16", false,
		},
		"a directory of the root disk is no device": {
			csiPV("pv1", cinder, id), probes.Facts{Namespaces: staged(cinder, id, probesDev(8, 1), "/var/lib/x")}, "", false,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := onNode(tt.pv, tt.facts, csiPV("pv2", "pd.csi.storage.gke.io", "projects/p/zones/z/disks/pvc-other45a366d6"),
				csiPV("pv3", "pd.csi.storage.gke.io", "projects/p/zones/z/disks/journal-of-the-shops"))
			d, ok := x.DeviceOn(x.VolumeOfPV(tt.pv.Name), "n")
			got := ""
			if ok {
				got = d.Dev.String()
			}
			if got != tt.dev || d.Proven != tt.proven {
				t.Errorf("got %q proven %v (%s), want %q proven %v", got, d.Proven, d.How, tt.dev, tt.proven)
			}
		})
	}
}

func TestDeviceOfTwoPaths(t *testing.T) {
	t.Parallel()
	pv := withAttributes(csiPV("pv1", "san.example.com", "v"), map[string]string{"iqn": "iqn.x:a", "lun": "4"})
	b, c, other := disk("sdb", 8, 16), disk("sdc", 8, 32), disk("sdd", 8, 48)
	b.HCTL, c.HCTL, other.HCTL = "2:0:0:4", "3:0:0:4", "3:0:0:5"
	m := disk("dm-0", 253, 0)
	m.DM = &probes.DM{Name: "mpatha", UUID: "mpath-3600"}
	m.Slaves = []string{"sdb", "sdc"}
	x := onNode(pv, probes.Facts{
		Block: []probes.BlockDevice{b, c, other, m},
		ISCSI: probes.ISCSI{Sessions: []probes.ISCSISession{
			{Name: "session1", Target: "iqn.x:a", Disks: []string{"sdb"}},
			{Name: "session2", Target: "iqn.x:a", Disks: []string{"sdc", "sdd"}},
		}},
	})
	d, ok := x.DeviceOn(x.VolumeOfPV("pv1"), "n")
	if !ok || d.Dev != probesDev(8, 16) || len(d.Paths) != 2 || d.Mapper == nil || d.Top() != probesDev(253, 0) {
		t.Fatalf("got %+v", d)
	}
	want := []probes.Dev{probesDev(8, 16), probesDev(8, 32), probesDev(253, 0)}
	if diff := cmp.Diff(want, d.Numbers()); diff != "" {
		t.Errorf("numbers mismatch (-want +got):\n%s", diff)
	}
}

func TestStack(t *testing.T) {
	t.Parallel()
	b := disk("sdc", 8, 32)
	crypt, mpath := disk("dm-1", 253, 1), disk("dm-3", 253, 3)
	crypt.DM, crypt.Slaves = &probes.DM{Name: "vol", UUID: "CRYPT-LUKS2-x-vol"}, []string{"sdc"}
	mpath.DM, mpath.Slaves = &probes.DM{Name: "mpatha", UUID: "mpath-3600"}, []string{"sdc"}
	session := probes.ISCSI{Sessions: []probes.ISCSISession{{Name: "s", Target: LonghornTarget("vol"), Disks: []string{"sdc"}}}}
	encrypted := map[string]string{"encrypted": "true"}
	tests := map[string]struct {
		attributes map[string]string
		above      probes.BlockDevice
		mapper     string
	}{
		"mapper of an encrypted volume":    {encrypted, crypt, "dm-1"},
		"mapper on a plain volume":         {nil, crypt, ""},
		"a multipath map is never natural": {nil, mpath, ""},
	}
	for name, tt := range tests {
		x := onNode(withAttributes(csiPV("pv1", LonghornDriver, "vol"), tt.attributes), probes.Facts{Block: []probes.BlockDevice{b, tt.above}, ISCSI: session})
		d, _ := x.DeviceOn(x.VolumeOfPV("pv1"), "n")
		got := ""
		if d.Mapper != nil {
			got = d.Mapper.Name
		}
		if got != tt.mapper {
			t.Errorf("%s: got %q, want %q", name, got, tt.mapper)
		}
		if holders := x.View("n").HoldersOf(b.Dev); len(holders) != 1 || holders[0].Device.Name != tt.above.Name {
			t.Errorf("%s: holders: got %v", name, holders)
		}
	}
}
