package filesystem

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed encryption_tools_missing.md
var encryptionToolsMissingDoc string

// EncryptionToolsMissing finds nodes that lack what opens an encrypted volume:
// cryptsetup, the module dm_crypt, or the udev rules of device-mapper.
var EncryptionToolsMissing = &diagnosis.Rule{
	Name: "encryption-tools-missing", Layer: diagnosis.Filesystem, Severity: report.Blocking,
	Explains: []string{"mount-failed", "format-failed", "pod-waiting-for-volume", "volume-hung", "share-manager-failing"},
	YieldsTo: []string{"csi-plugin-not-on-node", "driver-never-serves-node", "longhorn-share-manager-misplaced"},
	Doc:      encryptionToolsMissingDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if !v.Encrypted() || len(v.Waiting()) == 0 {
				continue
			}
			for _, node := range openingNodes(p, v) {
				e := encryption{p: p, v: v, node: node, view: p.View(node)}
				e.judge()
			}
		}
	},
}

// openingNodes are where the volume is opened: at the share's server, else where the
// pods wait.
func openingNodes(p *diagnosis.Pass, v *snapshot.Volume) []string {
	if v.RegularRWX() {
		return p.DeviceNodes(v)
	}
	var out []string
	for _, w := range v.Waiting() {
		if n := w.Node(); n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

type encryption struct {
	p    *diagnosis.Pass
	v    *snapshot.Volume
	node string
	view *snapshot.NodeView
}

// The words of nsenter and exec, of cryptsetup, and of the kernel.
var (
	cryptNotRun   = regexp.MustCompile(`(?s)cryptsetup.*exit status 127\b`)
	cryptNotFound = regexp.MustCompile(`(?i)cryptsetup"?:? .{0,80}(no such file|not found)|failed to execute cryptsetup: no such file`)
	cryptKernel   = regexp.MustCompile(`Check that (the )?kernel supports \S+ cipher`)
	cryptUnknown  = regexp.MustCompile(`crypt: unknown target type`)
)

// lack is one thing that the node does not have.
type lack struct {
	certainty report.Certainty
	what, fix string
	facts     []report.Evidence
	missing   string
}

func (e encryption) judge() {
	for _, f := range []func() *lack{e.tool, e.module, e.rules, e.words} {
		if l := f(); l != nil {
			e.report(l)
			return
		}
	}
	if e.view == nil && e.p.Suffers(e.v, "mount-failed", "format-failed") {
		e.p.Probed(e.node)
	}
}

func (e encryption) text(form *regexp.Regexp) []report.Evidence {
	for _, t := range e.p.Texts(e.v) {
		if t.Fresh && form.MatchString(t.Raw) && (t.Node == "" || t.Node == e.node || e.v.RegularRWX()) {
			return []report.Evidence{t.Evidence()}
		}
	}
	return nil
}

// tool: Longhorn runs the host's cryptsetup; other drivers bring their own.
func (e encryption) tool() *lack {
	said := e.text(cryptNotRun)
	read := e.view != nil && e.view.Facts.ToolsRead()
	absent := read && e.v.IsLonghorn() && e.view.Facts.Tool("cryptsetup") == ""
	if !absent && len(said) == 0 || read && !absent && e.v.IsLonghorn() {
		return nil
	}
	l := &lack{certainty: report.Certain, facts: said,
		what: "cryptsetup is not installed on the host, where the volume is opened; a cryptsetup inside a container does not count",
		fix:  "Install cryptsetup on node " + e.node + " and on every node that may run the pod."}
	if !e.v.IsLonghorn() {
		l.what = "cryptsetup is not found where driver " + e.v.Driver + " runs it: in its own image, or on the host"
		l.fix = "Use an image of the driver that has cryptsetup, or install it on node " + e.node + " where the driver runs the host's."
	}
	if absent {
		l.facts = append(l.facts, diagnosis.FromNode(e.node, "{"+strings.Join(probes.ToolDirs(), ",")+"}/cryptsetup", "not there"))
		if at := e.view.Facts.ToolElsewhere("cryptsetup"); at != "" {
			l.what = "cryptsetup is at " + at + ", outside the directories that are searched"
			l.fix = "Make " + at + " reachable in a searched directory of node " + e.node + " (a link in /usr/local/sbin)."
		}
	}
	return l
}

// module: dm_crypt in none of the kernel's lists, or wanted and not to be had.
func (e encryption) module() *lack {
	if e.view == nil {
		return nil
	}
	l := &lack{certainty: report.Certain, what: "the kernel has no dm_crypt", facts: e.text(cryptKernel),
		fix: "On node " + e.node + " run modprobe dm_crypt (its words say why it does not load by itself), install the kernel's package with it if there is none, and list it in /etc/modules-load.d."}
	m := e.view.Facts.Module("dm_crypt")
	for _, k := range e.view.KernelLines() {
		if !m.Loaded && cryptUnknown.MatchString(k.Text) && !k.At.IsZero() && e.p.Age(k.At) < freshLine {
			l.facts = append(l.facts, evidence.FromKernel(e.node, k))
			l.what = "the kernel did not get its target crypt (dm_crypt) when it was wanted"
			return l
		}
	}
	dep, read := e.view.Facts.HostFile("lib/modules/" + e.view.Facts.Identity.Kernel + "/modules.dep")
	if m.Available() || !read || dep.Err != "" || !evidence.Ended(e.p.Index, e.node, probes.Files).Complete() {
		return nil
	}
	l.facts = append(l.facts, diagnosis.FromNode(e.node, "lib/modules/"+e.view.Facts.Identity.Kernel+"/modules.dep", "no dm-crypt"))
	return l
}

// rules: cryptsetup waits for udev to acknowledge the new mapping, and the rules that
// do so are not there (dm_udev_wait in libdevmapper).
func (e encryption) rules() *lack {
	if e.view == nil {
		return nil
	}
	listed := false
	for path := range e.view.Facts.Files {
		dir, name, _ := strings.Cut(path, "udev/rules.d/")
		listed = listed || dir != path && name != ""
		if name == "10-dm.rules" || name == "95-dm-notify.rules" {
			return nil
		}
	}
	q := e.waiting()
	if q == nil || !listed && !e.view.Facts.ToolsRead() {
		return nil
	}
	l := &lack{certainty: report.Certain,
		what: fmt.Sprintf("cryptsetup (PID %d) has made the mapping and waits for udev to acknowledge it, and the udev rules of device-mapper (10-dm.rules, 95-dm-notify.rules), which do that, are not on the host", q.PID),
		fix:  "Install the package with these rules on node " + e.node + " (dmsetup, device-mapper or lvm2). Where lvm2 comes with it, set its filter first, so that LVM leaves the volumes' disks alone."}
	l.facts = append(l.facts,
		diagnosis.FromNode(e.node, "{usr/lib,lib,etc}/udev/rules.d", "no 10-dm.rules, no 95-dm-notify.rules"),
		diagnosis.FromNode(e.node, fmt.Sprintf("proc/%d/wchan", q.PID), strings.TrimSpace(q.Comm+" "+q.WChan)))
	if key := e.cookie(); key != "" {
		l.facts = append(l.facts, diagnosis.FromNode(e.node, "proc/sysvipc/sem", key))
	}
	return l
}

// waiting is a cryptsetup that sleeps on a semaphore.
func (e encryption) waiting() *probes.Process {
	for i := range e.view.Facts.Processes {
		q := &e.view.Facts.Processes[i]
		if q.Comm != "cryptsetup" {
			continue
		}
		asleep := strings.Contains(q.WChan+q.Stack, "semtimedop") || strings.Contains(q.WChan+q.Stack, "semop")
		if asleep || e.cookie() != "" {
			return q
		}
	}
	return nil
}

// cookie quotes a semaphore whose key begins with 0x0d4d: device-mapper's
// (DM_COOKIE_MAGIC in libdm).
func (e encryption) cookie() string {
	for _, line := range strings.Split(e.view.Facts.Files["proc/sysvipc/sem"].Content, "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if key, err := strconv.ParseInt(fields[0], 10, 64); err == nil && uint32(key)>>16 == 0x0d4d {
			return fmt.Sprintf("key 0x%08x (%s)", uint32(key), strings.TrimSpace(line))
		}
	}
	return ""
}

// words judges by texts and by Longhorn's own check of the node.
func (e encryption) words() *lack {
	said := e.text(cryptNotFound)
	if e.view != nil {
		if len(said) == 0 || e.v.IsLonghorn() {
			return nil
		}
		return &lack{certainty: report.Likely, facts: said, what: "cryptsetup is not found where driver " + e.v.Driver + " runs it: in its own image, or on the host",
			fix: "Use an image of the driver that has cryptsetup, or install it on node " + e.node + " where the driver runs the host's.", missing: "the programs in the image of driver " + e.v.Driver}
	}
	said = append(said, e.text(cryptKernel)...)
	if lh := e.p.LHNode(e.node); lh != nil && e.v.IsLonghorn() && e.p.Suffers(e.v, "mount-failed", "format-failed", "share-manager-failing") {
		for _, kind := range []string{"RequiredPackages", "KernelModulesLoaded"} {
			c, ok := lh.Conditions.Get(kind)
			if ok && c.Status == "False" && (strings.Contains(c.Message, "cryptsetup") || strings.Contains(c.Message, "dm_crypt")) {
				said = append(said, diagnosis.FromAPI("nodes.longhorn.io "+e.node, "status.conditions["+kind+"]", c.Reason+": "+c.Message))
			}
		}
	}
	if len(said) == 0 {
		return nil
	}
	return &lack{certainty: report.Likely, facts: said, what: "cryptsetup or the module dm_crypt seems to be missing on the host",
		fix: "Look for cryptsetup and dm_crypt on node " + e.node + " and install what is missing.", missing: "the programs and modules of node " + e.node}
}

func (e encryption) report(l *lack) {
	f := e.p.Find(l.certainty, diagnosis.NodeSubject(e.node)).On(e.v).Located(e.node).Fact(l.facts...)
	for _, w := range e.v.WaitingOn(e.node) {
		f.Pod(w.Pod)
	}
	f.Sayf("Volume %s is encrypted, and node %s cannot open it: %s. The passphrase and the disk have nothing to do with it.", volumeName(e.v), e.node, l.what)
	if l.missing != "" {
		f.Missing(l.missing)
		e.p.Probed(e.node)
	}
	f.Unless("an encrypted volume that the same node opens")
	f.Advise(remedy.Words(l.fix))
	e.p.Report(f)
}
