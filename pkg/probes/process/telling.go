package process

import "strings"

// telling are the beginnings of the names (15 letters at most, TASK_COMM_LEN) of
// processes whose command line and waiting place help a diagnosis. Of others the
// command line is not read: it is nobody's business and it can hold secrets.
var telling = []string{
	"kubelet", "k3s", "rke2", "k0s", "hyperkube", "kubelite", "containerd", "crio", "cri-dockerd", "dockerd", "conmon",
	"iscsi", "multipath", "tgtd", "tgtadm", "longhorn", "spdk", "nvmf", "qemu", "kvm", "libvirtd", "virt-launcher",
	"ganesha", "nfsd", "rpc.", "rpcbind", "mount", "umount", "fusermount", "nfs", "sshfs", "s3fs", "goofys", "geesefs", "juicefs", "glusterfs", "ceph", "rbd", "csi",
	"lvm", "dmeventd", "dmsetup", "vgchange", "lvchange", "pvscan", "mdadm", "mdmon", "cryptsetup", "losetup", "blkid", "wipefs", "partprobe",
	"mkfs", "mke2fs", "fsck", "e2fsck", "xfs_", "resize2fs", "tune2fs", "btrfs", "dd", "drbd", "bcache", "systemd-udevd", "(udev-worker)", "udevd",
	"systemd", "init", "swapon", "zfs", "zed", "nvme", "open-iscsi", "launcher", "share-manager", "instance-manage",
}

func matters(s Stat) bool {
	if s.PID == 1 || s.State == "D" {
		return true
	}
	for _, t := range telling {
		if strings.HasPrefix(s.Comm, t) {
			return true
		}
	}
	return false
}
