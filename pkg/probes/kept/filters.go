package kept

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/mask"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// argv keeps a command line with its unknown values hidden (proc_pid_cmdline(5)).
func argv(s string) string {
	body := strings.TrimRight(s, "\x00\n")
	return strings.Join(mask.Args(strings.Split(body, "\x00")), "\x00") + s[len(body):]
}

// statFields is the last field of proc_pid_stat(5) that is read: 22, starttime.
// Behind it stand addresses of the process.
const statFields = 20

func stat(s string) string {
	end := strings.LastIndexByte(s, ')')
	if end < 0 {
		return s
	}
	rest := strings.Fields(s[end+1:])
	for i := range rest {
		if i != 0 && i != 1 && i != 6 && i != 17 && i != 19 {
			rest[i] = "0" // state, parent, flags, number of threads and start are read
		}
	}
	return s[:end+1] + " " + strings.Join(rest[:min(len(rest), statFields)], " ") + "\n"
}

var statusKeys = []string{"Name", "State", "Pid", "PPid", "NSpid", "Uid"}

func status(s string) string { return keyed(statusKeys...)(s) }

// keyed keeps lines "KEY: VALUE".
func keyed(names ...string) filter {
	return told(func(l string) bool {
		key, _, ok := strings.Cut(l, ":")
		for _, n := range names {
			if ok && key == n {
				return true
			}
		}
		return false
	})
}

var daemonSocket = pattern.MustCompile(`(?i)iscsi|multipath|^Num `)

func ofDaemons(l string) bool { return daemonSocket.MatchString(l) }

func ofTCP(l string) bool { return strings.HasPrefix(l, "Tcp:") }

// podInterface are the ends of pods' networks, of which a node has hundreds.
var podInterface = pattern.MustCompile(`^\s*(?:veth|cali|lxc|nodelocal|tunl|azv|eni[0-9a-f]{8}|gke[0-9a-f]|cilium_lxc)`)

func realInterface(l string) bool { return !podInterface.MatchString(l) }

// storageModule are modules that probes and rules look up, and those beside them.
var storageModule = pattern.MustCompile(`^(?:iscsi_tcp|libiscsi.*|scsi_.*|sd_mod|ib_iser|nfs|nfsv[0-9]|nfsd|nfs_.*|sunrpc|lockd|auth_rpcgss|rpcsec.*|cifs|smb.*|ceph|libceph|rbd|nbd` +
	`|nvme.*|dm_.*|md_mod|raid.*|loop|fuse|xfs|ext[34]|btrfs|f2fs|lustre|ocfs2|gfs2|jbd2|drbd.*|bcache|ublk.*|target_core.*|iscsi_target.*|tcm_.*|uio_pci_generic|vfio.*|zfs|9p|virtio_(?:blk|scsi)|hv_storvsc` +
	`|aes.*|xts|cryptd|algif.*|af_alg)$`)

// processor keeps of the flags of the first processor the one that is asked for: all have
// the same.
func processor(s string) string {
	for l := range strings.Lines(s) {
		key, list, _ := strings.Cut(l, ":")
		if key = strings.TrimSpace(key); key != "flags" {
			continue
		}
		if slices.Contains(strings.Fields(list), "sse4_2") {
			return "flags: sse4_2\n"
		}
		return "flags: none\n"
	}
	return ""
}

func ofStorageModule(l string) bool {
	name, _, _ := strings.Cut(l, " ")
	return storageModule.MatchString(name)
}

// modules keeps the names of storage modules in modules.dep(5) and modules.builtin.
func modules(s string) string {
	var out strings.Builder
	for l := range strings.Lines(s) {
		file, _, dep := strings.Cut(strings.TrimSpace(l), ":")
		stem, _, ok := strings.Cut(file[strings.LastIndexByte(file, '/')+1:], ".ko")
		if !ok || !storageModule.MatchString(strings.ReplaceAll(stem, "-", "_")) {
			continue
		}
		out.WriteString(file)
		if dep {
			out.WriteByte(':')
		}
		out.WriteByte('\n')
	}
	if out.Len() == 0 && strings.TrimSpace(s) != "" {
		return "\n" // the list was read and names no storage module
	}
	return out.String()
}

var option = pattern.MustCompile(`^(?:# )?CONFIG_(?:ISCSI_TCP|SCSI_ISCSI_ATTRS|NFS_FS|NFS_V[0-9A-Z_]+|NFSD?|SUNRPC|DM_CRYPT|DM_MULTIPATH|BLK_DEV_NVME|NVME_TCP|CIFS)(?:=| is not set)`)

func kernelOption(l string) bool { return option.MatchString(l) }

var udevLine = pattern.MustCompile(`^(?:S:|I:|E:(?:ID_|DM_|SCSI_|MPATH|LVM_|SYSTEMD_READY|DEVLINKS))`)

func ofUdev(l string) bool { return udevLine.MatchString(l) }

func resolver(l string) bool {
	l = strings.TrimSpace(l)
	for _, k := range []string{"nameserver", "search", "domain", "options"} {
		if strings.HasPrefix(l, k+" ") || strings.HasPrefix(l, k+"\t") {
			return true
		}
	}
	return false
}

var (
	release      = keys("ID", "ID_LIKE", "NAME", "VERSION", "VERSION_ID", "VARIANT_ID", "VARIANT", "PRETTY_NAME", "CPE_NAME", "OSTREE_VERSION")
	mountOptions = keys("Nfsvers", "Defaultvers", "vers", "Proto", "Defaultproto", "proto", "Soft", "Hard", "Timeo", "Retrans", "Sec", "minorversion")
)

// exports keeps lines of exports(5), which begin with a path.
func exports(s string) string {
	return lines(func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), "/") })(cutComments(s))
}

// mountLine tells a line of fstab(5): its second field is a path or none.
func mountLine(l string) bool {
	f := strings.Fields(l)
	return !comment(l) && len(f) >= 3 && (strings.HasPrefix(f[1], "/") || f[1] == "none" || f[1] == "swap")
}

var hostLine = pattern.MustCompile(`^\s*[0-9a-fA-F:.]+(?:%\w+)?\s+[A-Za-z0-9._ \t-]+$`)

// hosts keeps lines of hosts(5) without comments.
func hosts(s string) string {
	return lines(func(l string) bool { return hostLine.MatchString(l) && strings.ContainsAny(strings.Fields(l)[0], ".:") })(cutComments(s))
}

var initiatorName = pattern.MustCompile(`^\s*#*\s*(?:InitiatorName|InitiatorAlias|GenerateName)\s*=`)

// cutComments drops what stands behind a hash.
func cutComments(s string) string {
	var out strings.Builder
	for l := range strings.Lines(s) {
		if i := strings.IndexByte(l, '#'); i >= 0 {
			l = strings.TrimRight(l[:i], " \t") + "\n"
		}
		out.WriteString(l)
	}
	return out.String()
}

var directive = pattern.MustCompile(`^\s*(?:\[[A-Za-z]+\]\s*$|(?:MountFlags|PrivateMounts|PrivateTmp|PrivateDevices|ProtectSystem|ProtectHome|RootDirectory|JoinsNamespaceOf|After|Before|Requires|Wants|RequiresMountsFor|WantedBy|Where|What|Type|KillMode|TasksMax|LimitNOFILE|Slice)=)`)

// unit keeps the directives of a systemd unit that change mounts or the order of a boot.
func unit(s string) string { return lines(directive.MatchString)(s) }

var rootDir = pattern.MustCompile(`--?root-dir[= ]\S+`)

func kubeletArgs(s string) string { return strings.Join(rootDir.FindAllString(s, -1), "\n") }

// layers are the directories of an overlay's layers, which nobody mounts.
var layers = pattern.MustCompile(`,(?:lowerdir|upperdir|workdir)=[^,\s]*`)

// mountTable keeps a mount table (proc_pid_mountinfo(5)) without secrets in options. Few of
// its lines have a word that asks for a closer look.
func mountTable(s string) string {
	var out strings.Builder
	for l := range strings.Lines(s) {
		if strings.Contains(l, "dir=") {
			l = layers.ReplaceAllString(l, "")
		}
		out.WriteString(mask.Mount(l))
	}
	return out.String()
}

// furniture are the mounts that every container gets from its runtime below /proc,
// /sys and /dev (OCI runtime specification, default filesystems): they lie on no disk.
var furniture = pattern.MustCompile(`^\S+ \S+ 0:\d+ \S+ /(?:proc(?:/\S*)?|sys/(?:fs/cgroup|firmware|devices|kernel)\S*|dev/(?:pts|mqueue|shm|termination-log)) .* - (?:proc|sysfs|cgroup2?|tmpfs|devpts|mqueue|devtmpfs|securityfs|bpf) `)

// containerTable keeps the mount table of another namespace without its furniture.
func containerTable(s string) string {
	return accepted(func(l string) bool { return !furniture.MatchString(l) }, mountTable)(s)
}

var (
	cryptName   = pattern.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)
	cryptDevice = pattern.MustCompile(`^(?:/dev/[A-Za-z0-9/_.:+-]+|(?:PART)?(?:UUID|LABEL)="?[A-Za-z0-9_.-]+"?)$`)
)

// crypttab keeps of each entry its name and its device (crypttab(5)): the third field
// names a key.
func crypttab(s string) string {
	var out strings.Builder
	for l := range strings.Lines(s) {
		if f := strings.Fields(l); len(f) > 1 && cryptName.MatchString(f[0]) && cryptDevice.MatchString(f[1]) {
			out.WriteString(f[0] + " " + f[1] + "\n")
		}
	}
	return out.String()
}
