package machine

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Shared asks whether what is mounted below the kubelet's directory reaches the
// containers that mount it with propagation: the mount that holds the directory must be
// shared (mount_namespaces(7)). The second result is its mount point.
func Shared(x *snapshot.Index, node string) (evidence.Answer, string) {
	view := x.View(node)
	if view == nil || view.Init == nil {
		return evidence.Unseen(evidence.Tables(x, node, probes.Mounts).And(evidence.Partial(lack(node, probes.Mounts, "the mount table of process 1 was not read"))).Lacks()...), ""
	}
	m := view.Containing(view.KubeletRoot())
	if m == nil {
		return evidence.Unseen(lack(node, probes.Mounts, "no mount holds "+view.KubeletRoot())), ""
	}
	fact := evidence.FromMount(node, nil, *m)
	return evidence.When(m.Shared != 0, fact), m.Point
}

// Enforcing asks whether SELinux of a node enforces; a kernel without it does not.
func Enforcing(x *snapshot.Index, node string) evidence.Answer {
	return begins(x, node, "sys/fs/selinux/enforce", '1')
}

// AppArmor asks whether AppArmor of a node is at work; a kernel without it has no such file.
func AppArmor(x *snapshot.Index, node string) evidence.Answer {
	return begins(x, node, "sys/module/apparmor/parameters/enabled", 'Y')
}

// begins asks whether a file of a node begins with a letter; one that is not there does not.
func begins(x *snapshot.Index, node, at string, with byte) evidence.Answer {
	if text, ok := file(x, node, at); ok {
		return evidence.When(len(text) > 0 && text[0] == with, evidence.FromNode(node, at, text))
	}
	r := Read(x, node, probes.Files, at)
	if !r.Complete() {
		return evidence.Unseen(r.Lacks()...)
	}
	return evidence.No(evidence.FromNode(node, at, "not there"))
}

// deniedISCSI is an enforced denial of a program of the iSCSI initiator.
var deniedISCSI = pattern.MustCompile(`avc:\s+denied\s+\{[^}]*\} .*comm="(iscsiadm|iscsid)"`)

// ISCSIDenied asks whether SELinux of a node keeps the programs of the iSCSI initiator
// from their work: it enforces, and the audit log or the kernel's has a denial. The
// second result is its line.
func ISCSIDenied(x *snapshot.Index, node string) (evidence.Answer, string) {
	enforcing := Enforcing(x, node)
	if !enforcing.Yes() {
		return enforcing, ""
	}
	const audit = "var/log/audit/audit.log"
	view := x.View(node)
	text, _ := file(x, node, audit)
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(l); deniedISCSI.MatchString(l) && !strings.Contains(l, "permissive=1") {
			return enforcing.With(evidence.FromNode(node, audit, l)), l
		}
	}
	for _, l := range view.Facts.Kernel {
		if deniedISCSI.MatchString(l.Text) && !strings.Contains(l.Text, "permissive=1") {
			return enforcing.With(evidence.FromNode(node, fmt.Sprintf("@kmsg:%d", l.Sequence), l.Text)), l.Text
		}
	}
	r := Read(x, node, probes.Files, audit).And(evidence.Ended(x, node, probes.KernelLog))
	if !r.Complete() {
		return evidence.Unseen(r.Lacks()...), ""
	}
	return evidence.No(enforcing.Facts()...).With(evidence.FromNode(node, audit, "no denial of iscsiadm or iscsid")), ""
}
