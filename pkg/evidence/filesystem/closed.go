package filesystem

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Closed is what shows that a mounted filesystem was closed for writing, or altogether.
type Closed struct {
	c         Carrier
	options   string // "ro", "emergency_ro", "shutdown" of the superblock
	errors    int64  // ext4: errors_count; -1 unknown
	lastError string // ext4: last_error_func
	after     bool   // the last error is later than the mount
	sb        *probes.Superblock
	lines     []probes.KernelLine // abort, remount or shutdown since the mount
}

// ClosedOf reads the signs on a filesystem that is mounted.
func ClosedOf(c Carrier) Closed {
	s := Closed{c: c, errors: -1, sb: c.Place.View.SuperblockOf(c.Block.Name)}
	for _, u := range c.Uses {
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
		s.after = afterStart(c.Place, at)
	}
	for _, l := range c.Lines(kmsg.Ext4Aborted, kmsg.RemountedReadOnly, kmsg.XFSShutdown, kmsg.BtrfsError, kmsg.IOError) {
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

// afterStart tells whether the last error, in seconds since 1970, is later than the start
// of a pod on the node: the filesystem was mounted before that pod ran. The counter itself
// survives a remount until the next fsck.
func afterStart(pl *evidence.Place, seconds string) bool {
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || n == 0 {
		return false
	}
	return slices.ContainsFunc(pl.Volume.LiveConsumersOn(pl.Node), func(c *snapshot.Consumer) bool {
		t := c.Pod.Status.StartTime
		return t != nil && time.Unix(n, 0).After(t.Time)
	})
}

// Is asks whether the kernel closed it. An XFS that shut down shows it in the kernel's log
// only; the options of a superblock prove it without one. An administrator's remount is
// none: the kernel met no error; an image was never open for writing.
func (s Closed) Is() evidence.Answer {
	node, remounted := s.c.Place.Node, s.options == "ro" && s.errors == 0 && len(s.lines) == 0
	if remounted || Image(s.c.FSType()) {
		return evidence.No()
	}
	if s.options == "" && len(s.lines) == 0 && (s.errors <= 0 || s.lastError != "ext4_journal_check_start" || !s.after) {
		return s.c.Place.Tables(probes.KernelLog).Found()
	}
	facts := evidence.Each(s.c.Uses, s.c.MountLine)
	if s.sb != nil && s.errors > 0 {
		facts = append(facts, evidence.FromNode(node, s.sb.Locator+"/errors_count", fmt.Sprint(s.errors)), evidence.FromNode(node, s.sb.Locator+"/last_error_func", s.lastError))
	}
	facts = append(facts, s.c.quote(s.lines, 4)...)
	if b := s.c.Block; b.State != "" {
		facts = append(facts, evidence.FromNode(node, "sys/class/block/"+b.Name+"/device/state", b.State))
	}
	return evidence.Yes(facts...)
}

// Error asks for the kernel's own word for the error: somebody may have remounted it.
func (s Closed) Error() evidence.Answer {
	switch {
	case len(s.lines) > 0, s.options != "" && s.errors > 0, s.options == "emergency_ro", s.options == "shutdown":
		return evidence.Yes()
	case s.options == "":
		return s.c.KernelLine("of the time of the error")
	}
	return s.c.KernelLine("(errors_count and log of " + s.c.Block.Name + "): somebody may have remounted it")
}

// Damage asks whether it is an XFS that stopped over its own damage. ext4 and btrfs say
// themselves that they are closed.
func (s Closed) Damage() evidence.Answer {
	if s.options != "" || s.errors > 0 {
		return evidence.No()
	}
	return s.c.shutByDamage()
}

// Words say how it is seen.
func (s Closed) Words() string {
	w := []string{"the mount options still say rw, as newer kernels do"}
	if s.options != "" {
		w[0] = "superblock option " + s.options
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

// MountedElsewhere is another node that has the same device mounted: a new mount here
// would replay the journal under a second writer.
func MountedElsewhere(pl *evidence.Place) string {
	for _, n := range volume.Nodes(pl.X, pl.Volume) {
		view := pl.X.View(n)
		d, ok := pl.X.DeviceOn(pl.Volume, n)
		if n == pl.Node || view == nil || !ok {
			continue
		}
		if slices.ContainsFunc(d.Numbers(), func(dev probes.Dev) bool { return len(view.InitUses(dev)) > 0 }) {
			return n
		}
	}
	return ""
}

// EngineSays asks whether Longhorn found the filesystem read-only on a node that was not
// looked at.
func EngineSays(pl *evidence.Place) evidence.Answer {
	e := pl.X.EngineActive(pl.Volume)
	if e == nil || e.NodeID == "" || e.NodeID != pl.Node || pl.View != nil {
		return evidence.No()
	}
	k, ok := e.Conditions.Get("FilesystemReadOnly")
	return evidence.When(ok && k.Status == "True", evidence.FromAPI("Engine "+e.Name, "status.conditions[FilesystemReadOnly]", strings.TrimSpace(k.Reason+" "+k.Message)))
}
