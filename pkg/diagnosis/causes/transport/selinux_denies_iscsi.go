package transport

import (
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed selinux_denies_iscsi.md
var selinuxDeniesISCSIDoc string

// SELinuxDeniesISCSI finds nodes where SELinux keeps iscsiadm or iscsid from their work.
var SELinuxDeniesISCSI = &diagnosis.Rule{
	Name: "selinux-denies-iscsi", Layer: diagnosis.Transport, Severity: report.Blocking,
	Explains: []string{"attach-failed", "volume-attach-loop", "pod-waiting-for-volume"},
	YieldsTo: []string{"csi-plugin-not-on-node", "driver-never-serves-node", "longhorn-share-manager-misplaced"},
	Doc:      selinuxDeniesISCSIDoc,
	Run: func(p *diagnosis.Pass) {
		for _, n := range iscsiNeeds(p) {
			if view := p.View(n.node); view != nil && n.attach() {
				selinuxDenies(p, n, view)
			}
		}
	},
}

var (
	deniedISCSI = regexp.MustCompile(`avc:\s+denied\s+\{ ([^}]*)\} .*comm="(iscsiadm|iscsid)"`)
	auditTime   = regexp.MustCompile(`audit\((\d+)\.\d+:\d+\)`)
)

// denial is an enforced and fresh AVC record of an initiator's program.
type denial struct {
	permission, comm string
	evidence         report.Evidence
}

// freshDenials reads the kernel log and the audit log; auditd keeps the records from
// the former.
func freshDenials(p *diagnosis.Pass, view *snapshot.NodeView) []denial {
	var out []denial
	add := func(line, locator string, at time.Time) {
		m := deniedISCSI.FindStringSubmatch(line)
		if m == nil || strings.Contains(line, "permissive=1") {
			return
		}
		if s := auditTime.FindStringSubmatch(line); s != nil {
			if sec, err := strconv.ParseInt(s[1], 10, 64); err == nil {
				at = time.Unix(sec, 0)
			}
		}
		if at.IsZero() || at.After(p.TakenAt.Add(time.Minute)) || p.Age(at) >= 10*time.Minute {
			return
		}
		out = append(out, denial{strings.TrimSpace(m[1]), m[2], diagnosis.FromNode(view.Name, locator, line)})
	}
	for _, l := range view.KernelLines() {
		add(l.Text, fmt.Sprintf("@kmsg:%d", l.Sequence), l.At)
	}
	for _, path := range sortedFiles(view, "var/log/") {
		for i, l := range strings.Split(view.Facts.Files[path].Content, "\n") {
			if strings.Contains(l, "avc:") {
				add(l, fmt.Sprintf("%s:%d", path, i+1), time.Time{})
			}
		}
	}
	return out
}

func selinuxDenies(p *diagnosis.Pass, n need, view *snapshot.NodeView) {
	const enforce = "sys/fs/selinux/enforce"
	file, read := view.Facts.Files[enforce]
	if read && strings.TrimSpace(file.Content) == "0" {
		return
	}
	list := freshDenials(p, view)
	failing := false
	for _, v := range n.volumes {
		failing = failing || p.Suffers(v, "attach-failed", "volume-attach-loop", "mount-failed")
	}
	if len(list) == 0 || !failing {
		return
	}
	d := list[len(list)-1]
	f := p.Find(report.Certain, diagnosis.NodeSubject(n.node))
	n.tie(f)
	f.Sayf("SELinux of node %s is enforcing and denies %s the permission %s (%d times in the last ten minutes), in the same time in which attaches over iSCSI fail there. The programs are installed and run; the policy keeps them from their records. %s.",
		n.node, d.comm, d.permission, len(list), sentence(n.why))
	if read {
		f.Fact(diagnosis.FromNode(n.node, enforce, strings.TrimSpace(file.Content)))
	} else {
		f.Missing(enforce + " of node " + n.node)
	}
	f.Fact(d.evidence)
	if _, said := unreachedTarget(p, n.node); said.Text != "" {
		f.Fact(said)
	}
	f.Unless("permissive=1 in the record, or attaches that work beside it")
	f.Advise(
		remedy.Words("Install a policy that allows it: the corrected container-selinux or selinux-policy package of the distribution, else a local module made from exactly these records (audit2allow) and nothing else. Longhorn's documentation has such a module for "+d.permission+"."),
		remedy.Words("Do not disable SELinux on the node. A call of iscsiadm by hand runs in another domain and proves nothing."),
	)
	p.Report(f)
}
