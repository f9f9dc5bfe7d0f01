package hostfiles

// how says what is kept of a file.
type how int

const (
	whole    how = iota // the content, to the limit
	presence            // that it is there
	tail                // the last part of a log
	sockets             // of a table of sockets those of daemons that serve volumes
)

// want is one pattern of files (see tree.Walker.Glob) and what is kept of them.
type want struct {
	pattern string
	how     how
}

// configuration are the files with which an administrator or a distribution
// decides about devices, mounts and daemons.
var configuration = []want{
	{"etc/fstab", whole}, {"etc/crypttab", whole}, {"etc/hosts", whole}, {"etc/hostname", whole}, {"etc/resolv.conf", whole},
	{"etc/os-release", whole}, {"usr/lib/os-release", whole}, {"etc/exports", whole},
	{"etc/nfsmount.conf", whole}, {"etc/nfsmount.conf.d/*", whole}, {"etc/nfs.conf", whole}, {"etc/idmapd.conf", whole},
	{"etc/multipath.conf", whole}, {"etc/multipath/**", whole},
	{"etc/lvm/lvm.conf", whole}, {"etc/lvm/devices/*", whole}, {"run/lvm/**", presence},
	{"etc/mdadm.conf", whole}, {"etc/mdadm/mdadm.conf", whole},
	{"etc/selinux/config", whole},
	{"etc/udev/rules.d/*", whole}, {"etc/systemd/system/**", whole},
	{"etc/iscsi/**", whole}, {"var/lib/iscsi/**", whole}, {"etc/nvme/*", presence},
	{"usr/lib/udev/rules.d/*", presence}, {"lib/udev/rules.d/*", presence},
	{"usr/lib/systemd/system/*", presence}, {"lib/systemd/system/*", presence},
	{"run/udev/control", presence}, {"run/multipathd.socket", presence}, {"run/lvm/pvs_online/*", presence}, {"run/lvm/vgs_online/*", presence}, {"run/systemd/resolve/*", whole},
	{"var/lib/dpkg/info/open-iscsi.list", whole}, {"var/lib/dpkg/info/multipath-tools.list", whole},
	{"var/lib/rancher/k3s/data/*", presence}, {"etc/kubernetes/kubelet.conf", presence}, {"etc/kubernetes/certs/*", presence},
	{"var/lib/kubelet/config.yaml", whole}, {"var/lib/kubelet/kubeconfig", presence}, {"var/lib/kubelet/pki/*", presence},
	{"etc/cni/net.d/*", presence}, {"etc/docker/daemon.json", whole},
	{"var/lib/docker/image/*/layerdb/mounts/*/mount-id", whole},
}

// kernel are the small files of proc and sysfs that no other probe reads.
var kernel = []want{
	{"proc/modules", whole}, {"proc/filesystems", whole}, {"proc/mdstat", whole}, {"proc/cmdline", whole}, {"proc/version", whole}, {"proc/cpuinfo", whole},
	{"proc/meminfo", whole}, {"proc/loadavg", whole}, {"proc/pressure/*", whole}, {"proc/swaps", whole}, {"proc/uptime", whole},
	{"proc/sysvipc/sem", whole}, {"proc/locks", presence},
	{"proc/1/net/unix", sockets}, {"proc/1/net/route", whole}, {"proc/1/net/ipv6_route", whole}, {"proc/1/net/snmp", whole},
	{"proc/1/net/dev", whole}, {"proc/1/net/if_inet6", whole}, {"proc/1/net/fib_trie", whole},
	{"proc/net/route", whole}, {"proc/net/snmp", whole}, {"proc/net/dev", whole}, {"proc/net/unix", sockets},
	{"proc/sys/fs/*", whole}, {"proc/sys/fs/inotify/*", whole}, {"proc/sys/kernel/osrelease", whole},
	{"proc/sys/kernel/hostname", whole}, {"proc/sys/kernel/domainname", whole}, {"proc/sys/kernel/sem", whole},
	{"proc/sys/kernel/pid_max", whole}, {"proc/sys/kernel/threads-max", whole}, {"proc/sys/kernel/tainted", whole},
	{"proc/sys/kernel/hung_task_timeout_secs", whole}, {"proc/sys/kernel/modules_disabled", whole},
	{"proc/sys/user/max_mnt_namespaces", whole}, {"proc/sys/vm/nr_hugepages", whole}, {"proc/sys/sunrpc/*", whole},
	{"sys/fs/selinux/enforce", whole}, {"sys/fs/selinux/booleans/virt_*", whole}, {"sys/fs/selinux/booleans/container_use_*", whole}, {"proc/sys/crypto/fips_enabled", whole},
	{"proc/spl/kstat/zfs/*/state", whole}, {"sys/module/apparmor/parameters/enabled", whole},
	{"sys/fs/fuse/connections/*/waiting", whole}, {"sys/fs/nfs/net/nfs_client/identifier", whole},
	{"sys/kernel/mm/hugepages/hugepages-2048kB/*_hugepages", whole}, {"sys/bus/rbd/supported_features", whole},
	{"sys/devices/system/cpu/online", whole}, {"sys/class/fc_host/*/port_state", whole}, {"sys/class/fc_remote_ports/*/port_state", whole},
	{"sys/kernel/config/target/core/*/*/udev_path", whole}, {"sys/kernel/config/nvmet/subsystems/*/namespaces/*/device_path", whole},
	{"sys/class/net/*/operstate", whole}, {"sys/class/net/*/mtu", whole}, {"sys/class/net/*/address", whole},
	{"sys/class/net/*/device/vendor", whole},
	{"sys/class/net/*/statistics/[rt]x_errors", whole}, {"sys/class/net/*/statistics/[rt]x_dropped", whole},
}

// groups are the counters of control groups: killed for memory, refused forks.
var groups = []string{
	"sys/fs/cgroup/kubepods*", "sys/fs/cgroup/kubepods*/*", "sys/fs/cgroup/kubepods*/*/*", "sys/fs/cgroup/kubepods*/*/*/*",
	"sys/fs/cgroup/system.slice/*", "sys/fs/cgroup/*", "sys/fs/cgroup/pids/kubepods*/*/*", "sys/fs/cgroup/memory/kubepods*/*/*",
}

// logs are text logs; binary journals are not read.
var logs = []want{
	{"var/log/audit/audit.log", tail}, {"var/log/syslog", tail}, {"var/log/messages", tail},
	{"var/log/kern.log", tail}, {"var/log/kubelet.log", tail}, {"var/log/boot.log", tail},
}

// tools are the programs that a kubelet, a CSI driver or Longhorn calls on the host.
var tools = []string{
	"iscsiadm", "iscsid", "iscsi-iname", "tgtadm", "tgtd", "nvme", "multipath", "multipathd", "kpartx",
	"mount", "umount", "mount.nfs", "mount.nfs4", "mount.cifs", "mount.ceph", "mount.glusterfs", "mount.fuse3", "fusermount", "fusermount3",
	"rpc.statd", "rpcbind", "start-statd", "nfsidmap", "rpc.idmapd", "showmount",
	"mkfs.ext3", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "fsck", "fsck.ext4", "fsck.xfs", "e2fsck", "tune2fs", "resize2fs",
	"xfs_repair", "xfs_growfs", "xfs_admin", "btrfs", "blkid", "lsblk", "findmnt", "losetup", "dmsetup", "cryptsetup",
	"lvm", "pvs", "vgchange", "mdadm", "udevadm", "rbd", "rbd-nbd", "ceph-fuse", "drbdadm", "zfs", "zpool",
	"systemctl", "modprobe", "kmod", "nsenter", "restorecon",
}

// storageModule are modules whose presence below sys/module says something about volumes.
const storageModule = `^(iscsi.*|libiscsi.*|scsi_.*|sd_mod|nfs.*|sunrpc|lockd|auth_rpcgss|rpcsec.*|dm_.*|rbd|libceph|ceph|nvme.*|nbd|fuse|cifs|smb.*` +
	`|xfs|ext4|btrfs|jbd2|loop|ublk.*|drbd.*|md_mod|raid.*|target_core.*|iscsi_target.*|tcm_.*|bcache|vxlan|overlay|br_netfilter|qla.*|lpfc` +
	`|ib_iser|be2iscsi|bnx2i|cxgb.*|zfs|uio.*|vfio.*|aes.*|xts|cryptd|algif.*|af_alg|crc32c.*|apparmor|kernel|zram|9p.*|virtio_.*|hv_.*)$`
