package mask

import (
	"path"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// harmless are shapes of values that give nothing away by themselves: numbers and
// sizes, truth values, durations, paths, addresses, device numbers, versions. The longest
// address has 39 digits and colons: more is a key in hexadecimal digits.
var harmless = pattern.MustCompile(`^(?:` +
	`[0-9][0-9.,:]*(?:[KMGTPE]i?B?|[smhdu]|ms)?|[0-9]+(?:h|m|s|ms)(?:[0-9]+(?:m|s|ms))*|0x[0-9a-f]+|true|false|yes|no|on|off|none|auto|json|text` +
	`|(?:unix|tcp|http|https|file|npipe)://\S+|[A-Za-z0-9.:\[\]_-]+:/\S*|//\S+|/\S*|\[?[0-9a-fA-F:.]{1,39}\]?(?::[0-9]+)?` +
	`|(?:sd|vd|xvd|nvme|dm-|rbd|nbd|loop|md)[0-9a-z]+|pvc-[0-9a-z-]+|iqn\.\S+` +
	`|[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::[0-9]+)?)$`)

// knownFlags are options whose values probes and rules read, or that only say how
// a storage program works. What they hold is masked as text.
var knownFlags = wordSet(`
		root-dir kubelet-root-dir kubelet-dir kubelet-arg kubelet-args-file kubelet-path kubelet-registration-path plugin-registration-path
		config kubeconfig bootstrap-kubeconfig hostname-override node-name nodename node-id nodeid node-ip node node_name cloud-provider
		container-runtime container-runtime-endpoint runtime-cgroups pod-infra-container-image max-pods feature-gates register-node
		csi-address csi-endpoint endpoint csi drivername driver-name driver drivertype type instanceid cluster-id clusterid clustername
		leader-election leader-election-namespace http-endpoint metrics-address metricsport timeout v retry-interval-start retry-interval-max
		worker-threads default-fstype extra-create-metadata feature strict-topology enable-capacity capacity-ownerref-level volume-name-prefix
		volume-name engine-instance-name size current-size frontend replica listen snapshot-max-count snapshot-max-size data-engine
		engine-image instance-manager-image share-manager-image backing-image-manager-image manager-image service-account
		target source subdir data-server-protocol volume engine process-name disable-revision-counter unmap-mark-snap-chain-removed
		o t f F L m n r s d p T a w i k G g h foreground debug lun op tid portal login logout mode targetname session rescan interface
		drive device blockdev machine netdev object name cluster pool image id cluster_id monid user fsid options mount log
		staging-path target-path health-port address node-topology max-volumes-per-node allow-nfs-export csi-mode sanity
		set-node-id attach kubernetes-version logtostderr stderrthreshold alsologtostderr vmodule pidfile pid-file conf state no-lock`)

// words are positional arguments that say what a program does.
var words = wordSet(`agent server daemon start run controller replica engine process-manager instance-manager sync-agent backing-image-manager
		share-manager longhorn-manager kubelet csi deploy-driver uninstall tgt-blockdev iscsi nvmf ublk map unmap mount umount attach detach show list
		luksOpen luksClose luksFormat luksDump open close resize isLuks -o ext4 ext3 xfs btrfs nfs nfs4 cifs ceph ganesha.nfsd system-upgrade
		new update delete target conn logicalunit node session discovery sendtargets --login --logout init nbd-server simple add remove
		create scan vgscan vgchange pvscan lvchange pvs vgs lvs dump-to bind rbd start-all wait watch block fs`)

// ofStorage are programs whose arguments name what they work on: "rbd map POOL/IMAGE",
// "zfs mount POOL/DATASET". None takes a secret as a word of its own.
var ofStorage = wordSet(`rbd rbd-nbd zfs zpool lvs vgs drbdsetup drbdadm`)

// ofStack are programs of storage and of the node, whose short options take no secret: "-p" of
// iscsiadm(8) is a portal, that of others a password. Containers are listed without their program.
var ofStack = pattern.MustCompile(`^(?:\.|mount.*|umount.*|iscsi.*|rbd.*|ceph.*|m(?:ulti)?path.*|dm.*|lv.*|vg.*|pv.*|mkfs.*|mke2fs|fsck.*|e2fsck|xfs_.*|resize2fs|btrfs.*|cryptsetup|nvme.*|longhorn.*|tgt.*|kubelet|kubelite|hyperkube|k[30]s|rke2|zfs|zpool|drbd.*|linstor.*|rpc.*|nfs.*|ganesha.*|.*csi.*|blkid|losetup|udevadm|systemd.*|conmon|containerd.*|runc|crun|dockerd|sshd.*|open-iscsi|sg_.*|scsi.*|targetcli|fio|dd|rsync|weka.*|gluster.*)$`)

var objects = pattern.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_.@-]+){0,3}$`)

// Args hides the values on a command line. The program, known options and values
// of harmless shapes stay; any other value is hidden.
func Args(argv []string) []string {
	if len(argv) == 0 {
		return argv
	}
	out := make([]string, len(argv))
	out[0] = Text(argv[0])
	l := line{stack: ofStack.MatchString(path.Base(argv[0])), storage: ofStorage[path.Base(argv[0])]}
	for i, a := range argv[1:] {
		out[i+1] = l.word(a)
	}
	return out
}

// line is a command line that is read word by word.
type line struct {
	stack, storage bool   // what the program is
	flag           string // whose value may follow
	set            string // what iscsiadm(8) sets: its "-n NAME -v VALUE"
}

func (l *line) word(a string) string {
	flag := l.flag
	l.flag = ""
	switch {
	case strings.HasPrefix(a, "-") && len(a) > 1:
		name, v, ok := strings.Cut(a, "=")
		if ok {
			return name + "=" + l.argument(name, v)
		}
		l.flag = a
		return glueless(a)
	case l.storage && objects.MatchString(a) && !Secret(strings.TrimLeft(flag, "-")):
		return a
	}
	return l.argument(flag, a)
}

// known tells an option whose value is no secret.
func (l *line) known(bare string) bool { return knownFlags[bare] && (len(bare) > 1 || l.stack) }

// glueless cuts a value that is glued to a short option (-pPASSWORD); short
// options without one are a letter or a few (-vvv, -oro).
func glueless(a string) string {
	if strings.HasPrefix(a, "--") || len(a) <= 4 || !strings.HasPrefix(a, "-p") && !strings.HasPrefix(a, "-a") || Secret(a) {
		return Text(a)
	}
	if bare := strings.TrimLeft(a, "-"); knownFlags[bare] || words[a] || !strings.ContainsAny(bare, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ!#$%^&*+/") {
		return Text(a)
	}
	return a[:2] + Hidden
}

func (l *line) argument(flag, v string) string {
	bare := strings.TrimLeft(flag, "-")
	if bare == "n" || bare == "name" {
		l.set = v
	}
	switch {
	case v == "" || v == Hidden:
		return v
	case flag != "" && Secret(bare), (bare == "v" || bare == "value") && Secret(l.set), bare == "user" && strings.Contains(v, ":"):
		return Hidden
	case l.known(bare) && !pair(v) || words[v]:
		return Text(v)
	case harmless.MatchString(v):
		return Text(v)
	case strings.Contains(v, ","), pair(v):
		return list(v, l.known(bare))
	}
	return Hidden
}

// pair tells a value that is itself NAME=VALUE, as behind -o and --kubelet-arg.
func pair(v string) bool { return strings.Contains(v, "=") }

// list hides the values in NAME=VALUE,NAME,… of which the shape is not harmless.
func list(v string, known bool) string {
	parts := strings.Split(v, ",")
	for i, p := range parts {
		name, value, ok := strings.Cut(p, "=")
		bare := strings.TrimLeft(name, "-")
		switch {
		case ok && (Secret(bare) && value != ""):
			parts[i] = name + "=" + Hidden
		case ok && (known || knownFlags[bare] || harmless.MatchString(value)):
			parts[i] = name + "=" + Text(value)
		case ok && value != "":
			parts[i] = name + "=" + Hidden
		case !ok && !known && !words[p] && !harmless.MatchString(p) && len(p) > 0:
			parts[i] = Hidden
		}
	}
	return Text(strings.Join(parts, ","))
}
