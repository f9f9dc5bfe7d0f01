package noise

import (
	"fmt"
	"sort"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var auditField = pattern.MustCompile(`\b(\w+)=("[^"]*"|\S+)`)

// audit takes the fields of an audit record apart.
func audit(line string) map[string]string {
	out := map[string]string{}
	for _, m := range auditField.FindAllStringSubmatch(line, -1) {
		if _, ok := out[m[1]]; !ok {
			out[m[1]] = strings.Trim(m[2], `"`)
		}
	}
	return out
}

// logLines returns the lines of a node's text logs and of its kernel log that contain
// a word, in order.
func logLines(view *snapshot.NodeView, word string) []string {
	var out []string
	for _, l := range view.Facts.Kernel {
		if strings.Contains(l.Text, word) {
			out = append(out, l.Text)
		}
	}
	var paths []string
	for p := range view.Facts.Files {
		if strings.HasPrefix(p, "var/log/") {
			paths = append(paths, p)
		}
	}
	sort.Strings(paths)
	for _, p := range paths {
		for _, l := range strings.Split(view.Facts.Files[p].Content, "\n") {
			if strings.Contains(l, word) {
				out = append(out, strings.TrimSpace(l))
			}
		}
	}
	return out
}

// logLine is the last line that contains two words, or empty.
func logLine(view *snapshot.NodeView, a, b string) string {
	last := ""
	for _, l := range logLines(view, a) {
		if strings.Contains(l, b) {
			last = l
		}
	}
	return last
}

// denials returns the lines of the kernel log and of the audit log of a node that
// contain a word, each once, in order.
func denials(view *snapshot.NodeView, kind, word string) []string {
	kernel := evidence.Each(view.KernelLines(kind), func(l probes.KernelLine) string { return l.Text })
	return evidence.Once(kernel, logLines(view, word)...)
}

// times counts in words.
func times(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// storage are programs whose denial can break a volume.
var storage = map[string]bool{
	"iscsiadm": true, "iscsid": true, "mount": true, "umount": true, "mount.nfs": true, "mount.nfs4": true, "kubelet": true,
	"multipathd": true, "multipath": true, "cryptsetup": true, "mkfs.ext4": true, "mke2fs": true, "mkfs.xfs": true, "fsck": true,
	"e2fsck": true, "blkid": true, "systemd-udevd": true, "nsenter": true, "rbd": true, "losetup": true, "lvm": true,
	"ganesha.nfsd": true, "longhorn-manager": true, "longhorn-instan": true, "instance-manage": true, "tgtd": true,
	"k3s": true, "k3s-server": true, "k3s-agent": true, "rke2": true, "containerd": true, "dockerd": true, "runc": true, "crun": true, "crio": true,
}
