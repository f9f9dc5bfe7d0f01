package kept

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/mask"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// storageWord is what a line about storage says.
var storageWord = pattern.MustCompile(`(?i)iscsi|multipath|\bnfs|lockd|statd|mount|volume|\bpvc?\b|pvc-|attach|\bdisk|device|\bcsi\b|csi[-_.]|longhorn|replica|engine|filesystem|file system|fsck|mkfs|\bext[34]\b|\bxfs|btrfs` +
	`|\blvm|\bdm-|cryptsetup|luks|\brbd|ceph|cifs|smb|drbd|nvme|\bscsi|:3260|input/output|i/o error|read-only|no space|orphaned pod|watcher|inotify|fsnotify|podpidslimit|oom|loop[0-9]|subpath|hostpath|plugin`)

// StorageLine tells whether a line of the kubelet or of a boot is about storage.
func StorageLine(l string) bool { return storageWord.MatchString(l) }

// storageDaemon is the program of a syslog line whose words rules read.
var storageDaemon = pattern.MustCompile(`(?:^|\s)(?:kubelet|kubelite|k3s|rke2|k0s|hyperkube|iscsid|iscsiadm|iscsistart|multipathd?|kernel|systemd(?:-udevd|-fsck)?|udevd|dockerd|containerd|crio|rpc\.statd|rpcbind|nfsidmap|rpc\.idmapd|blkdeactivate|lvm|dmeventd|mdadm|fsck\S*|mount\S*|umount|tgtd|longhorn\S*|audit|auditd)(?:\[[0-9]+\])?:`)

func ofStorageDaemon(l string) bool {
	return denied.MatchString(l) || storageDaemon.MatchString(l) && storageWord.MatchString(l)
}

// denied is a denial of SELinux or AppArmor; of whom it speaks stands in comm.
var denied = pattern.MustCompile(`avc:\s+denied|apparmor="DENIED"`)

func ofAudit(l string) bool { return denied.MatchString(l) }

// auditExtra are the fields of an audit record that hold a path of a program, a
// command or an account.
var auditExtra = pattern.MustCompile(` (?:exe|cmd|acct|terminal|hostname|addr|key|proctitle)=(?:"[^"]*"|\S+)`)

// auditFields drops what no rule reads of a denial.
func auditFields(l string) string {
	if !denied.MatchString(l) {
		return l
	}
	return auditExtra.ReplaceAllString(l, "")
}

// kernelWord are words that rules look for in the kernel log, besides those of storage.
var kernelWord = pattern.MustCompile(`^(?:Lustre|LNet|wekafs|beegfs|fuse:)|Linux version|fsid|mon[0-9]|libceph|Stopping disk|crypt|Unknown parameter|Status code returned|WARNING: Pool '|bad option|-104|blocked for more|[Oo]ut of memory|pids controller`)

// KernelLine tells whether a record of the kernel log is one that rules know, or
// speaks of a device.
func KernelLine(text string) bool {
	return kmsg.Known(text) || storageWord.MatchString(text) || denied.MatchString(text) || kernelWord.MatchString(text)
}

// ofKernel is the head of a record that the kernel itself wrote, by its facility (Documentation/ABI/testing/dev-kmsg):
// it tells secrets by their options alone, and says "nfs: server nas-key OK".
var ofKernel = pattern.MustCompile(`^[0-7],`)

// kernelLog keeps the records that rules know, and of the first one its time, which
// says how far the log reaches back. Lines with a blank in front belong to the
// record above.
func kernelLog(s string) string {
	var out strings.Builder
	keep, first := false, true
	for l := range strings.Lines(s) {
		if l[0] == ' ' || l[0] == '\t' {
			if keep && strings.HasPrefix(strings.TrimSpace(l), "DEVICE=") {
				out.WriteString(l)
			}
			continue
		}
		head, text, ok := strings.Cut(l, ";")
		keep = ok && KernelLine(text)
		switch {
		case keep && ofKernel.MatchString(head):
			out.WriteString(mask.Own(auditFields(l), nil))
		case keep:
			out.WriteString(mask.Text(auditFields(l)))
		case first && ok:
			out.WriteString(head + ";\n")
		}
		first = false
	}
	return out.String()
}
