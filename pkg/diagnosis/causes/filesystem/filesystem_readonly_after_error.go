package filesystem

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed filesystem_readonly_after_error.md
var readonlyAfterErrorDoc string

// ReadonlyAfterError finds filesystems that the kernel closed for writing, or
// altogether, after an error.
var ReadonlyAfterError = &diagnosis.Rule{
	Name: "filesystem-readonly-after-error", Layer: diagnosis.Filesystem, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("mountns"), diagnosis.Probe("superblock")},
	Explains: []string{"volume-readonly", "volume-io-error", "mount-failed", "pod-stuck-terminating", "pod-waiting-for-volume"},
	LeadsTo:  []string{"filesystem-needs-fsck"},
	YieldsTo: []string{"mount-of-dead-device", "ceph-client-fenced"},
	Offers:   []string{"delete-pod"},
	Doc:      readonlyAfterErrorDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if v.Block() {
				continue
			}
			for _, c := range carriers(p, v) {
				if len(c.uses) > 0 && !c.block.ReadOnly && !askedReadOnly(v, c.view.Name) {
					logMissed(p, c.view)
					closedAfterError(p, c)
				}
			}
			engineSaysReadOnly(p, v)
		}
	},
}

// logMissed notes a kernel log that was not read: the superblock's own options prove
// the fault without it, but an XFS that shut down shows it nowhere else.
func logMissed(p *diagnosis.Pass, view *snapshot.NodeView) {
	if st, ok := view.Facts.Status["kmsg"]; ok && st.State != "ok" {
		p.Miss("node/"+view.Name+"/kernelLog", view.Name)
	}
}

// signs are what shows that a mounted filesystem was closed.
type signs struct {
	options   string // "ro", "emergency_ro", "shutdown" of the superblock
	errors    int64  // ext4: errors_count; -1 unknown
	lastError string // ext4: last_error_func
	after     bool   // the last error is later than the mount
	sb        *probes.Superblock
	lines     []probes.KernelLine // abort, remount or shutdown since the mount
}

func closedAfterError(p *diagnosis.Pass, c carrier) {
	s := c.signs(p)
	closed := s.options != "" || len(s.lines) > 0 || s.errors > 0 && s.lastError == "ext4_journal_check_start" && s.after
	if !closed || c.shutByDamage() && !s.extended() {
		return
	}
	if s.options == "ro" && s.errors == 0 && len(s.lines) == 0 {
		return // an administrator's remount: the kernel met no error
	}
	certainty := report.Certain
	f := p.Find(certainty, diagnosis.DeviceSubject(c.view.Name, c.block.Dev))
	c.about(f)
	m := c.uses[0].Mount
	f.Sayf("The kernel set the %s filesystem of volume %s on device %s of node %s read-only after an error (%s). It is mounted at %s. "+
		"It stays so until it is unmounted everywhere on this node: a new pod here inherits it, and mount -o remount,rw returns 0 and changes nothing.%s",
		m.FSType, volumeName(c.volume), c.name(), c.view.Name, s.words(), m.Point, c.users())
	for _, u := range c.uses {
		f.Fact(diagnosis.FromNode(c.view.Name, fmt.Sprintf("proc/%d/mountinfo:%d", u.NS.TablePID, u.Mount.Line), u.Mount.Raw))
	}
	if s.sb != nil && s.errors > 0 {
		f.Fact(diagnosis.FromNode(c.view.Name, s.sb.Locator+"/errors_count", fmt.Sprint(s.errors)))
		f.Fact(diagnosis.FromNode(c.view.Name, s.sb.Locator+"/last_error_func", s.lastError))
	}
	for i, l := range s.lines {
		if i < 4 {
			f.Fact(evidence.FromKernel(c.view.Name, l))
		}
	}
	if c.block.State != "" {
		f.Fact(diagnosis.FromNode(c.view.Name, "sys/class/block/"+c.block.Name+"/device/state", c.block.State))
	}
	if s.options == "ro" && s.errors <= 0 && len(s.lines) == 0 {
		f.Missing("the kernel's word for it (errors_count and log of " + c.block.Name + "): somebody may have remounted it")
	}
	if s.options == "" && len(s.lines) == 0 {
		f.Missing("the kernel log of the time of the error")
	}
	f.Unless("errors_count 0 and no abort or shutdown in the kernel log since the mount")
	c.adviseRestart(f, c.mountedElsewhere(p))
	p.Report(f)
}

// mountedElsewhere is another node that has the same device mounted: a new mount here
// would replay the journal under a second writer.
func (c carrier) mountedElsewhere(p *diagnosis.Pass) string {
	for _, n := range p.NodesOf(c.volume) {
		view := p.View(n)
		d, ok := p.DeviceOn(c.volume, n)
		if n == c.view.Name || view == nil || !ok {
			continue
		}
		for _, dev := range d.Numbers() {
			if len(view.InitUses(dev)) > 0 {
				return n
			}
		}
	}
	return ""
}

// extended tells whether ext4 or btrfs says so itself; an XFS that shut down over
// its own damage is filesystem-needs-fsck.
func (s signs) extended() bool { return s.options != "" || s.errors > 0 }

func (c carrier) signs(p *diagnosis.Pass) signs {
	s := signs{errors: -1, sb: c.view.SuperblockOf(c.block.Name)}
	for _, u := range c.uses {
		for _, o := range []string{"emergency_ro", "shutdown", "ro"} {
			if u.Mount.HasSuper(o) {
				s.options = o
				break
			}
		}
	}
	if s.sb != nil && s.sb.FSType == "ext4" {
		s.errors = s.sb.ErrorsCount
		at := ""
		for _, a := range s.sb.Attrs {
			switch a.Name {
			case "last_error_func":
				s.lastError = a.Value
			case "last_error_time":
				at = a.Value
			}
		}
		s.after = afterStart(c, at)
	}
	for _, l := range c.lines(kmsg.Ext4Aborted, kmsg.RemountedReadOnly, kmsg.XFSShutdown, kmsg.BtrfsError, kmsg.IOError) {
		switch {
		case l.Kind == kmsg.BtrfsError && !strings.Contains(l.Text, "errno="): // an aborted transaction names the error that ended it
		case l.Kind == kmsg.IOError && !strings.Contains(l.Text, "log I/O error"): // of XFS, which shuts down over it
		default:
			s.lines = append(s.lines, l)
		}
	}
	if s.errors == 0 && s.options == "" {
		s.lines = nil // repaired and mounted anew since: an abort is always counted
	}
	return s
}

// afterStart tells whether the last error, in seconds since 1970, is later than the
// start of a pod on the node: the filesystem was mounted before that pod ran. The
// counter itself survives a remount until the next fsck.
func afterStart(c carrier, seconds string) bool {
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || n == 0 {
		return false
	}
	for _, x := range c.volume.LiveConsumersOn(c.view.Name) {
		if t := x.Pod.Status.StartTime; t != nil && time.Unix(n, 0).After(t.Time) {
			return true
		}
	}
	return false
}

func (s signs) words() string {
	var w []string
	if s.options != "" {
		w = append(w, "superblock option "+s.options)
	} else {
		w = append(w, "the mount options still say rw, as newer kernels do")
	}
	if s.errors > 0 {
		w = append(w, fmt.Sprintf("errors_count %d", s.errors))
	}
	if len(s.lines) > 0 {
		l := s.lines[len(s.lines)-1]
		text := "kernel: " + strings.TrimSpace(l.Text)
		if !l.At.IsZero() {
			text += " at " + l.At.UTC().Format(time.RFC3339)
		}
		w = append(w, text)
	}
	return strings.Join(w, "; ")
}

func (c carrier) users() string {
	if names := c.pods(); names != "" {
		return " Pods that use it there: " + names + "."
	}
	return ""
}

// adviseRestart lets every pod of the volume on the node go, because only then is
// the filesystem unmounted.
func (c carrier) adviseRestart(f *diagnosis.Finding, elsewhere string) {
	all := c.volume.LiveConsumersOn(c.view.Name)
	if elsewhere != "" {
		f.Advise(remedy.Words("Node " + elsewhere + " has the same filesystem mounted, too: two nodes write to one disk. Stop the workloads of both first. A new pod here would replay the journal under the other writer."))
		all = nil
	}
	for _, x := range all {
		if !x.Terminating() {
			f.Advise(remedy.DeletePod(x.Pod).If(remedy.OnlyHere(c.volume, c.view.Name)).Note("It is one of %d on node %s that use the volume; the filesystem is unmounted only when all of them are gone at one time.", len(all), c.view.Name))
		}
	}
	f.Advise(remedy.Words("Find the outage that made the error. The filesystem wants a check later, while nothing mounts it; most drivers make one before the next mount."))
}

// engineSaysReadOnly takes Longhorn's word where the node was not probed.
func engineSaysReadOnly(p *diagnosis.Pass, v *snapshot.Volume) {
	e := p.EngineActive(v)
	if e == nil || e.NodeID == "" || p.View(e.NodeID) != nil || askedReadOnly(v, e.NodeID) {
		return
	}
	k, ok := e.Conditions.Get("FilesystemReadOnly")
	if !ok || k.Status != "True" {
		return
	}
	f := p.Find(report.Likely, diagnosis.ObjectSubject("Volume", e.Namespace, volumeName(v))).On(v).Located(e.NodeID)
	p.Probed(e.NodeID)
	f.Sayf("Longhorn found the filesystem of volume %s read-only on node %s (condition FilesystemReadOnly of engine %s), and nobody asked for that.", volumeName(v), e.NodeID, e.Name)
	f.Fact(diagnosis.FromAPI("Engine "+e.Name, "status.conditions[FilesystemReadOnly]", strings.TrimSpace(k.Reason+" "+k.Message)))
	f.Missing("the mount and the kernel log on node " + e.NodeID)
	f.Unless("a mount that is read-write, or a device that is gone below it")
	carrier{view: &snapshot.NodeView{Name: e.NodeID}, volume: v}.adviseRestart(f, "")
	p.Report(f)
}
