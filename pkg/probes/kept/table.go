package kept

// answers are the questions that no file answers.
var answers = map[string]string{
	"clock": "when it was, and since when the machine runs", "hostname": "the name by which servers know the machine",
	"kmsg":  "the lines of the kernel log that speak of disks, filesystems, networks or memory",
	"claim": "whether a device is held", "content": "what the first bytes of a device are", "dev": "the device behind an open file",
	"statfs": "how full a filesystem is", "dial": "whether a server answers", "resolve": "the addresses of a server's name",
	"multipathd": "what multipathd says of its maps", "probe": "what a probe could not read",
}

// processes are the files of processes.
var processes = []line{
	{"**/*.env", nothing, "that it is there; never what it says"},
	{"proc/*/environ", nothing, "never read"},
	// The kernel shows the secrets of CHAP and of NVMe to root (scsi_transport_iscsi.c, nvme/host/sysfs.c, configfs).
	{"sys/**/*password*", nothing, "that it is there; never what it says"}, {"sys/**/dhchap_*", nothing, "that it is there; never what it says"},
	{"proc/*/cmdline", argv, "the program and its known options"},
	{"proc/*/stat", stat, "state, parent and start of a process, threads that hang"},
	{"proc/*/status", status, "state and parent of a process"},
	{"proc/1/mountinfo", mountTable, "the mount table of the host"},
	{"proc/*/mountinfo", containerTable, "the mount table of a namespace"},
	{"proc/*/mountstats", whole, "how the mounts of NFS fare"},
	{"proc/*/fdinfo/*", keyed("flags"), "how a device was opened"},
	{"proc/*/comm", verbatim, "the name of a process or thread"},
	{"proc/*/cgroup", verbatim, "the pod or unit of a process"},
	{"proc/*/wchan", verbatim, "where a process or thread waits"},
	{"proc/*/stack", verbatim, "where a process or thread hangs in the kernel"},
	{"proc/*/syscall", verbatim, "the call in which a process waits"},
	{"proc/*/attr/current", verbatim, "the security label of a process"},
}

// kernel are the files of the kernel that are no disk's.
var kernel = []line{
	{"proc/*/net/unix", told(ofDaemons), "the sockets of iscsid and multipathd"}, {"proc/net/unix", told(ofDaemons), "the sockets of iscsid and multipathd"},
	{"proc/*/net/snmp", told(ofTCP), "how many segments were lost"}, {"proc/net/snmp", told(ofTCP), "how many segments were lost"},
	{"proc/*/net/dev", told(realInterface), "what interfaces dropped"}, {"proc/net/dev", told(realInterface), "what interfaces dropped"},
	{"proc/modules", told(ofStorageModule), "the storage modules that are loaded"},
	{"proc/filesystems", verbatim, "the filesystems that the kernel knows"}, {"proc/mdstat", verbatim, "software RAIDs"},
	{"proc/swaps", verbatim, "devices that are swapped to"}, {"proc/uptime", verbatim, "since when the machine runs"}, {"proc/version", verbatim, "the kernel"},
	{"proc/sysvipc/sem", verbatim, "what cryptsetup waits for"}, {"proc/pressure/*", verbatim, "whether the machine is short of time"},
	{"proc/fs/**", verbatim, "filesystems that are alive"},
	{"proc/sys/fs/**", verbatim, "limits of the kernel"}, {"proc/sys/kernel/**", verbatim, "the kernel and its limits"}, {"proc/sys/user/*", verbatim, "limits of the kernel"},
	{"proc/sys/crypto/fips_enabled", verbatim, "whether the kernel lets only approved ciphers in"}, {"sys/fs/selinux/booleans/*", verbatim, "what SELinux allows"},
	{"proc/spl/kstat/zfs/*/state", verbatim, "the state of a ZFS pool"},
	{"proc/cpuinfo", processor, "whether the processors have what the v2 engine wants"},
	{"proc/sys/vm/nr_hugepages", verbatim, "memory of the v2 engine"}, {"proc/sys/sunrpc/*", verbatim, "limits of NFS"},
	{"sys/class/net/**", verbatim, "interfaces and their MTU"}, {"sys/fs/cgroup/**", verbatim, "counters of limits that were reached"},
	{"sys/module/**", verbatim, "parameters of storage modules"}, {"sys/kernel/**", verbatim, "targets, transports and huge pages"},
	{"lib/modules/*/*", modules, "the storage modules on the disk"}, {"usr/lib/modules/*/*", modules, "the storage modules on the disk"},
	{"boot/config-*", told(kernelOption), "options of the kernel that rules ask for"},
}

// devices are the files of disks.
var devices = []line{
	{"sys/**", verbatim, "disks, their holders, sessions and identities"},
	{"run/udev/data/*", told(ofUdev), "identities of a disk"},
}

// configuration are the files of an administrator or a distribution.
var configuration = []line{
	{"etc/fstab", lines(mountLine), "what the host mounts by itself"}, {"etc/exports", exports, "what the host exports"},
	{"etc/crypttab", crypttab, "encrypted disks that the host opens by itself"},
	{"etc/hosts", hosts, "names of servers"}, {"etc/hostname", verbatim, "the name of the machine"},
	{"etc/resolv.conf", lines(resolver), "the resolver"}, {"run/systemd/resolve/*", lines(resolver), "the resolver"},
	{"etc/os-release", release, "the distribution"}, {"usr/lib/os-release", release, "the distribution"},
	{"etc/nfsmount.conf", mountOptions, "options of NFS mounts"}, {"etc/nfsmount.conf.d/*", mountOptions, "options of NFS mounts"},
	{"etc/nfs.conf", keys("vers2", "vers3", "vers4", "vers4.0", "vers4.1", "vers4.2", "tcp", "udp"), "versions of NFS"},
	{"etc/idmapd.conf", keys("Domain"), "the domain of NFSv4 names"},
	{"etc/multipath.conf", multipath, "which disks multipathd takes"}, {"etc/multipath/conf.d/*", multipath, "which disks multipathd takes"},
	{"etc/multipath/*", verbatim, "disks that multipathd knows"},
	{"etc/lvm/lvm.conf", lvm, "which disks LVM scans"},
	{"etc/iscsi/iscsid.conf", initiator, "settings of the initiator"},
	{"etc/iscsi/initiatorname.iscsi", lines(initiatorName.MatchString), "the name of the initiator"}, {"etc/initiatorname.iscsi", lines(initiatorName.MatchString), "the name of the initiator"},
	{"etc/iscsi/ifaces/**", record, "interfaces of the initiator"}, {"var/lib/iscsi/ifaces/**", record, "interfaces of the initiator"},
	{"etc/iscsi/**", record, "records of the initiator"}, {"var/lib/iscsi/**", record, "records of the initiator"},
	{"etc/systemd/system/**", unit, "directives that change mounts"}, {"usr/lib/systemd/system/*", unit, "directives that change mounts"}, {"lib/systemd/system/*", unit, "directives that change mounts"},
	{"**/args/kubelet", kubeletArgs, "the kubelet's directory"}, {"**/kubelet-args*", kubeletArgs, "the kubelet's directory"},
	{"etc/default/kubelet", kubeletArgs, "the kubelet's directory"}, {"etc/sysconfig/kubelet", kubeletArgs, "the kubelet's directory"},
}

// storage are the files of storage systems and of the kubelet.
var storage = []line{
	{"**/vol_data.json", volumeData, "the volume of a directory"},
	{"**/volume.meta", volumeMeta, "the state of a replica"}, {"**/*.img.meta", imageMeta, "the chain of a replica"}, {"**/longhorn-disk.cfg", diskConfig, "the identity of a Longhorn disk"},
	{"**/layerdb/mounts/*/mount-id", verbatim, "the layer of a container"},
}

// logs are the text logs of a host.
var logs = []line{
	{"var/log/audit/*", told(ofAudit), "denials of storage programs"},
	{"var/log/boot.log", told(StorageLine), "what the boot waits for"},
	{"var/log/kubelet.log", repeats(told(StorageLine)), "what the kubelet says of volumes"},
	{"var/log/*", repeats(told(ofStorageDaemon)), "what storage daemons and the kubelet say"},
}
