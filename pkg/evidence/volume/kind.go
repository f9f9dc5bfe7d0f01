package volume

import (
	"path"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Kind is what a volume can be, as a set: what is not known may be anything.
type Kind uint8

// The kinds. They say what stands between a pod and its bytes.
const (
	Disk      Kind = 1 << iota // a block device on the node
	NFS                        // a filesystem of a server, by protocol
	SMB                        //
	Ceph                       // CephFS
	FUSE                       // a process of the node
	Share                      // any other filesystem of a server: GlusterFS, 9p, virtiofs
	Directory                  // a directory of the node: local, hostPath
	Unmade                     // a claim whose volume does not exist yet

	Shares   = NFS | SMB | Ceph | FUSE | Share
	Anything = Disk | Shares | Directory
)

// KindOf tells what a volume is as far as its own source and its own mounts say. What
// other volumes of its driver are says nothing: several drivers serve disks and shares.
func KindOf(x *snapshot.Index, v *snapshot.Volume) Kind {
	switch {
	case v.LH() != nil || v.IsLonghorn():
		if v.RegularRWX() {
			return Disk | NFS // a disk where the share-manager is, a share for the pods
		}
		return Disk
	case v.PV == nil && v.Claim != nil && v.Claim.Spec.VolumeName != "" && !x.Collected("/persistentvolumes"):
		if slices.Contains(hypervisors, v.Driver) {
			return Disk
		}
		return Anything // made, and nobody may read what it is
	case v.PV == nil && slices.Contains(hypervisors, v.Driver):
		return Disk | Unmade
	case v.PV == nil:
		return Anything | Unmade
	}
	if k := bySource(x, v); k != Anything {
		return k
	}
	if v.OnRBD() || OfHypervisor(v) || slices.ContainsFunc(x.Devices(v), func(d snapshot.VolumeDevice) bool { return d.Proven }) {
		return Disk
	}
	for _, node := range x.NodesOf(v) {
		for _, m := range x.VolumeMounts(v, node) {
			if k := byType(m.Mount.FSType); k != Anything {
				return k
			}
		}
	}
	return byAttributes(v)
}

// hypervisors are the drivers whose volumes are disks that the machine gets from below. That
// of vSphere is none: it makes file shares, too.
var hypervisors = []string{"ebs.csi.aws.com", "pd.csi.storage.gke.io", "disk.csi.azure.com", "cinder.csi.openstack.org"}

// OfHypervisor tells whether the volume comes to a node as a disk of its machine: no
// protocol of storage is spoken there.
func OfHypervisor(v *snapshot.Volume) bool { return slices.Contains(hypervisors, v.CSIName()) }

// At is what a volume of this kind is on one node.
func (k Kind) At(x *snapshot.Index, v *snapshot.Volume, node string) Kind {
	if k != Disk|NFS {
		return k
	}
	for _, n := range x.DeviceNodes(v) {
		if n == node {
			return k // the share-manager's node may have a client, too
		}
	}
	if d, ok := x.DeviceOn(v, node); ok && d.Proven {
		return k // the disk stayed where the share-manager ran before
	}
	return NFS
}

func bySource(x *snapshot.Index, v *snapshot.Volume) Kind {
	s := v.PV.Spec
	switch {
	case s.NFS != nil:
		return NFS
	case s.AzureFile != nil:
		return SMB
	case s.CephFS != nil:
		return Ceph | FUSE
	case s.Glusterfs != nil:
		return Share | FUSE
	case s.ISCSI != nil, s.FC != nil, s.RBD != nil, s.AWSElasticBlockStore != nil, s.GCEPersistentDisk != nil, s.AzureDisk != nil, s.Cinder != nil, s.VsphereVolume != nil:
		return Disk
	case v.Block():
		return Disk
	case s.Local != nil:
		return onNode(x, v, s.Local.Path)
	case s.HostPath != nil:
		return onNode(x, v, s.HostPath.Path)
	}
	return Anything
}

// onNode is what a path of a node is: a device, a directory, or one on a share that the
// node itself has mounted.
func onNode(x *snapshot.Index, v *snapshot.Volume, p string) Kind {
	if strings.HasPrefix(path.Clean(p), "/dev/") {
		return Disk
	}
	for _, n := range x.NodesOf(v) {
		view := x.View(n)
		if view == nil {
			continue
		}
		if m := view.Containing(p); m != nil && byType(m.FSType)&Shares == byType(m.FSType) {
			return Directory | byType(m.FSType)
		}
	}
	return Directory
}

// byType is what a mount line says.
func byType(fstype string) Kind {
	switch {
	case fstype == "nfs" || fstype == "nfs4":
		return NFS
	case fstype == "cifs" || fstype == "smb3":
		return SMB
	case fstype == "ceph":
		return Ceph
	case fstype == "fuse" || strings.HasPrefix(fstype, "fuse."):
		return FUSE
	case fstype == "9p" || fstype == "virtiofs":
		return Share
	case fstype == "ext2" || fstype == "ext3" || fstype == "ext4" || fstype == "xfs" || fstype == "btrfs":
		return Disk
	}
	return Anything
}

// efs is the handle of an EFS volume: the file system itself.
var efs = pattern.MustCompile(`^fs-[0-9a-f]+(:|$)`)

// nfsServer tells whether the PV names an NFS server, in whatever attributes.
func nfsServer(v *snapshot.Volume) bool {
	server, _ := v.NFSServer()
	return server != ""
}

// byAttributes reads what drivers of shares keep in the PV.
func byAttributes(v *snapshot.Volume) Kind {
	switch {
	case v.SaysSMB(), strings.HasPrefix(strings.ReplaceAll(v.Attribute("source"), `\`, "/"), "//"):
		return SMB
	case nfsServer(v), strings.EqualFold(v.Attribute("protocol"), "nfs"), // Azure Files and Blob, which name an account
		v.PV.Spec.CSI != nil && byType(v.PV.Spec.CSI.FSType) == NFS: // a disk's type is written for shares, too
		return NFS
	case v.Attribute("clusterID") != "" && (v.Attribute("fsName") != "" || v.Attribute("rootPath") != ""):
		return Ceph | FUSE
	case v.Attribute("shareName") != "":
		return NFS | SMB // Azure Files has both protocols
	case efs.MatchString(v.Handle) && v.Attribute("mountname") == "": // FSx for Lustre has ids of the same form
		return NFS
	}
	return Anything
}
