// Package around gathers what was seen around a volume whose failure no cause
// explains: its kind, what the kernel and the driver said of it, what hangs. It states
// facts and draws no conclusion; no rule rests on it.
package around

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/iscsi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Kind is how a volume comes to a node.
type Kind string

// The kinds.
const (
	ISCSI      Kind = "iSCSI"
	FC         Kind = "Fibre Channel"
	NVMe       Kind = "NVMe"
	RBD        Kind = "RBD"
	CephFS     Kind = "CephFS"
	NFS        Kind = "NFS"
	SMB        Kind = "SMB"
	FUSE       Kind = "FUSE"
	Local      Kind = "local"
	DRBD       Kind = "DRBD"
	Longhorn   Kind = "Longhorn"
	LonghornV2 Kind = "Longhorn v2"
	Cloud      Kind = "cloud disk"
	Loop       Kind = "loop"
	Parallel   Kind = "parallel filesystem"
	Unknown    Kind = ""
)

// Share tells whether nodes mount it from a server instead of having a disk of it.
func (k Kind) Share() bool { return k == NFS || k == SMB || k == CephFS || k == FUSE || k == Parallel }

// Afar tells whether a driver attaches it by a question to its storage alone: no node is touched before that has said yes
// (ControllerPublishVolume). Storage that lives in the cluster makes a target or a device on the node meanwhile.
func (k Kind) Afar() bool { return k == Cloud || k == ISCSI || k == FC }

// KindOf tells it by what lies on the node, else by the source of the volume, else by
// the name of its driver.
func KindOf(x *snapshot.Index, v *snapshot.Volume, node string) Kind {
	if v == nil {
		return Unknown
	}
	if lh := v.LH(); lh != nil || v.IsLonghorn() {
		if lh != nil && lh.DataEngine == "v2" {
			return LonghornV2
		}
		return Longhorn
	}
	if k := seen(x, v, node); k != Unknown {
		return k
	}
	if k := ofTarget(v, node); k != Unknown {
		return k
	}
	if v.PV != nil {
		if k := ofSource(&v.PV.Spec.PersistentVolumeSource); k != Unknown {
			return k
		}
	}
	switch v.CephCSI() {
	case "rbd":
		return RBD
	case "cephfs":
		return CephFS
	}
	return ofDriver(v.Driver)
}

// seen is what a device or a mount of the volume on a node is.
func seen(x *snapshot.Index, v *snapshot.Volume, node string) Kind {
	view := x.View(node)
	if view == nil {
		return Unknown
	}
	if d, ok := x.DeviceOn(v, node); ok && d.Block != nil {
		name := d.Block.Name
		switch {
		case view.SessionOfDisk(name) != nil:
			return ISCSI
		case strings.HasPrefix(name, "rbd"):
			return RBD
		case strings.HasPrefix(name, "drbd"), d.Dev.Major == drbdMajor:
			return DRBD
		case strings.HasPrefix(name, "loop"):
			return Loop
		case strings.HasPrefix(name, "nvme") && d.Block.Transport != "" && d.Block.Transport != "pcie":
			return NVMe
		}
	}
	for _, m := range x.VolumeMounts(v, node) {
		if k := ofFilesystem(m.Mount.FSType); k != Unknown {
			return k
		}
	}
	return Unknown
}

// ofTarget is what the name of the volume's target is of, as its attributes and its attacher tell.
func ofTarget(v *snapshot.Volume, node string) Kind {
	if targets, _ := v.ISCSITargets(node); len(targets) > 0 {
		return ISCSI
	}
	if len(v.NVMeSubsystems(node)) > 0 {
		return NVMe
	}
	if iscsi.OverFC(v) {
		return FC
	}
	return Unknown
}

// drbdMajor is the block major of DRBD (Documentation/admin-guide/devices.txt).
const drbdMajor = 147

func ofFilesystem(fstype string) Kind {
	switch {
	case strings.HasPrefix(fstype, "nfs"):
		return NFS
	case fstype == "cifs" || fstype == "smb3":
		return SMB
	case fstype == "ceph":
		return CephFS
	case slices.Contains([]string{"lustre", "beegfs", "gpfs", "wekafs"}, fstype):
		return Parallel
	case strings.HasPrefix(fstype, "fuse."):
		return FUSE
	}
	return Unknown
}

func ofSource(s *corev1.PersistentVolumeSource) Kind {
	switch {
	case s.CSI != nil:
		return ofFilesystem(s.CSI.FSType)
	case s.ISCSI != nil:
		return ISCSI
	case s.FC != nil:
		return FC
	case s.RBD != nil:
		return RBD
	case s.CephFS != nil:
		return CephFS
	case s.NFS != nil:
		return NFS
	case s.AzureFile != nil:
		return SMB
	case s.Local != nil || s.HostPath != nil:
		return Local
	case s.AWSElasticBlockStore != nil || s.GCEPersistentDisk != nil || s.AzureDisk != nil || s.Cinder != nil || s.VsphereVolume != nil:
		return Cloud
	}
	return Unknown
}

// drivers are parts of the names that CSI drivers have; the first one that fits counts.
var drivers = []struct {
	part string
	kind Kind
}{
	{"cephfs", CephFS}, {"rbd.csi", RBD}, {"smb", SMB}, {"file.csi.azure", SMB}, {"nfs", NFS}, {"efs.csi", NFS}, {"filestore", NFS}, {"linstor", DRBD},
	{"iscsi", ISCSI}, {"san.synology", ISCSI}, {"csi.synology", ISCSI}, {"jiva", ISCSI}, {"cstor", ISCSI}, {"mayastor", NVMe}, {"juicefs", FUSE}, {"blob.csi", FUSE}, {"gcsfuse", FUSE}, {"s3.csi", FUSE}, {"topolvm", Local}, {"lvm", Local}, {"zfs", Local}, {"local", Local},
	{"hostpath", Local}, {"nvme", NVMe}, {"ebs.csi", Cloud}, {"pd.csi", Cloud}, {"disk.csi", Cloud}, {"cinder", Cloud}, {"vsphere", Cloud}, {"hcloud", Cloud}, {"hetzner", Cloud},
	{"linode", Cloud}, {"digitalocean", Cloud}, {"block.csi", Cloud}, {"diskplugin", Cloud},
	{"proxmox", Cloud}, {"scaleway", Cloud}, {"oraclecloud", Cloud}, {"upcloud", Cloud}, {"exoscale", Cloud}, {"civo", Cloud}, {"seaweedfs", FUSE}, {"lustre", Parallel}, {"fsx.csi", Parallel}, {"beegfs", Parallel},
	{"spectrumscale", Parallel}, {"weka", Parallel}, {"glusterfs", FUSE},
}

func ofDriver(driver string) Kind {
	for _, d := range drivers {
		if strings.Contains(driver, d.part) {
			return d.kind
		}
	}
	return Unknown
}

// follows are the words with which Btrfs ends a mount, and NVMe a connection, whose reason they have told before (open_ctree
// in fs/btrfs/disk-io.c, nvme_tcp_start_queue in drivers/nvme/host/tcp.c).
var follows = []string{"failed to connect queue: ", "): open_ctree failed", "): failed to read the system array", "): failed to read chunk tree"}
