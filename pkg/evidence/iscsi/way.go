package iscsi

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Way is the way from a disk of a volume to its storage that is lost, or that its
// session, its port or its controller tries to get back.
type Way struct {
	Dev        probes.Dev // the disk; the map, when every path of one is lost
	Name       string
	State      string
	Why        string
	Link       string // what it consists in, as people call it
	Recovering bool
	Is         evidence.Answer
	facts      []report.Evidence
}

// What a way consists in: a session of iSCSI, a remote port of Fibre Channel, a controller of NVMe.
const (
	Session    = "session"
	RemotePort = "remote port"
	Controller = "controller"
)

// BrokenWays are those of the volume's disks on the place's node, and of the disks below
// its mounts there. Of a disk with several paths only the loss of all is one.
func BrokenWays(pl *evidence.Place) []Way {
	mounts := pl.X.VolumeMounts(pl.Volume, pl.Node)
	if pl.View == nil || len(mounts) == 0 && !used(pl) {
		return nil // what is left of a volume there, under no mount and for no pod, is not what suffers
	}
	var out []Way
	seen := map[probes.Dev]bool{}
	add := func(top probes.Dev, paths []*probes.BlockDevice) {
		if len(paths) == 0 || seen[top] {
			return
		}
		seen[top] = true
		if w, broken := judgeAll(pl, top, paths); broken {
			out = append(out, w)
		}
	}
	if d, ok := pl.X.DeviceOn(pl.Volume, pl.Node); ok && d.Block != nil {
		for _, n := range d.Numbers() {
			seen[n] = true
		}
		top := d.Dev
		paths := pl.View.Leaves(d.Dev)
		if len(d.Paths) > 1 {
			paths = d.Paths
		}
		if len(paths) > 1 && d.Mapper != nil {
			top = d.Mapper.Dev
		}
		delete(seen, top)
		add(top, paths)
	}
	for _, m := range mounts {
		if !m.Mount.Dev.Anonymous() {
			leaves := pl.View.Leaves(m.Mount.Dev)
			if len(leaves) == 1 && !seen[leaves[0].Dev] {
				add(leaves[0].Dev, leaves)
			} else if len(leaves) > 1 {
				add(m.Mount.Dev, leaves)
			}
		}
	}
	return out
}

// used tells whether a pod is there for the volume, running, waiting or ending.
func used(pl *evidence.Place) bool {
	return slices.ContainsFunc(pl.Volume.Consumers, func(c *snapshot.Consumer) bool { return c.Node() == pl.Node })
}

// judgeAll joins the paths of a disk: one that works is a disk that works, one that may
// come back a disk that may.
func judgeAll(pl *evidence.Place, top probes.Dev, paths []*probes.BlockDevice) (Way, bool) {
	var all []Way
	for _, b := range paths {
		w, broken := judge(pl, b, len(paths) > 1)
		if !broken {
			return Way{}, false
		}
		all = append(all, w)
	}
	slices.SortStableFunc(all, func(a, b Way) int { // what recovers first: it decides
		return strings.Compare(fmt.Sprint(!a.Recovering), fmt.Sprint(!b.Recovering))
	})
	out := all[0]
	if len(all) > 1 {
		names := make([]string, 0, len(all))
		for _, w := range all {
			names = append(names, w.Name)
			out.facts = append(out.facts, w.facts...)
		}
		slices.Sort(names)
		out.Dev, out.Name = top, strings.Join(names, ", ")
	}
	out.Is = evidence.Yes(out.facts...)
	return out, true
}

// judge reads the state of a disk, of its session, port or controller, and the kernel's
// lines about it since it was attached. Of several paths each is one of a network; the
// state transport-offline is set by transports that have remote ports or sessions alone.
func judge(pl *evidence.Place, b *probes.BlockDevice, several bool) (Way, bool) {
	if strings.HasPrefix(b.Name, "nvme") {
		return judgeNVMe(pl.View, b)
	}
	view, s := pl.View, pl.View.SessionOfDisk(b.Name)
	port := portLost(view, b)
	w := Way{Dev: b.Dev, Name: b.Name, State: b.State, Link: Session}
	if s == nil && (port != nil || ofFC(pl, b)) {
		w.Link = RemotePort
	}
	if b.State != "" && b.State != "running" {
		w.facts = append(w.facts, evidence.FromNode(view.Name, "sys/class/block/"+b.Name+"/device/state", b.State))
	}
	var ended *probes.KernelLine
	if s != nil {
		w.facts = append(w.facts, evidence.FromNode(view.Name, "sys/class/iscsi_session/"+s.Name+"/state", s.State))
		ended = lastLine(view, kmsg.ISCSIRecoveryEnd, s.Name, disk.AttachedAt(view, b))
	}
	gone := snapshot.TakenOffline(b)
	switch {
	case gone && s == nil:
		if !several && b.State != "transport-offline" && w.Link != RemotePort && !ofISCSI(pl, b) {
			return Way{}, false // SAS and the like: nothing between them and the node gives up
		}
		w.Why = "its state is " + b.State
		if port != nil {
			w.facts = append(w.facts, evidence.FromKernel(view.Name, *port))
			w.Why += " (" + strings.TrimSpace(port.Text) + ")"
		}
	case gone:
		w.Why = "its state is " + b.State
	case w.Link == RemotePort && b.State == "blocked": // by fc_remote_port_delete, until the port is back or given up
		w.Recovering, w.Why = true, "its state is blocked"
	case s == nil || s.State == "LOGGED_IN" || s.State == "":
		return Way{}, false
	case ended != nil:
		w.Why = s.Name + " is " + s.State
	case s.State == "FAILED" && outlasted(view, s):
		w.Why = fmt.Sprintf("%s is FAILED for longer than its recovery time of %s s", s.Name, s.RecoveryTmo)
	case s.State == "FAILED":
		w.Recovering, w.Why = true, fmt.Sprintf("%s is FAILED and the disk %s (recovery time %s s)", s.Name, orUnknown(b.State), orUnknown(s.RecoveryTmo))
	default: // FREE without a word of the kernel: the recovery has ended or never began
		w.Recovering, w.Why = true, s.Name+" is "+s.State
	}
	w.tell(view, s, ended, b)
	return w, true
}

// tell adds the kernel's lines.
func (w *Way) tell(view *snapshot.NodeView, s *probes.ISCSISession, ended *probes.KernelLine, b *probes.BlockDevice) {
	if ended != nil {
		w.facts = append(w.facts, evidence.FromKernel(view.Name, *ended))
		w.Why += fmt.Sprintf(" (%s)", strings.TrimSpace(ended.Text))
	}
	if s != nil && s.State == "LOGGED_IN" && !w.Recovering {
		w.Why += fmt.Sprintf("; %s is LOGGED_IN again, which does not bring this disk back", s.Name)
	}
	for _, kind := range []string{kmsg.OfflineDevice, kmsg.ISCSIConnError} {
		names := []string{b.Name, b.HCTL}
		if kind == kmsg.ISCSIConnError && s != nil {
			names = []string{"connection" + strings.TrimPrefix(s.Name, "session") + ":0"}
		}
		for _, n := range names {
			if l := lastLine(view, kind, n, disk.AttachedAt(view, b)); n != "" && l != nil {
				w.facts = append(w.facts, evidence.FromKernel(view.Name, *l))
				break
			}
		}
	}
}

// ofISCSI tells whether a disk without a session entry is one of iSCSI: by its volume, or
// by tgt's vendor name, the only mark that such a disk keeps.
func ofISCSI(pl *evidence.Place, b *probes.BlockDevice) bool {
	return strings.TrimSpace(b.Vendor) == "IET" || Uses(pl.X, pl.Volume, pl.Texts)
}

// ofFC tells whether a disk is one of Fibre Channel: by the link that udev makes from the
// port's name, or by its volume.
func ofFC(pl *evidence.Place, b *probes.BlockDevice) bool {
	for _, l := range pl.View.Facts.DevLinks {
		if dev, ok := pl.View.NumberAt(l.Path); ok && dev == b.Dev && strings.Contains(l.Path, "-fc-0x") {
			return true
		}
	}
	return OverFC(pl.Volume)
}

// portLost is the last line in which the kernel gave up a remote port of the disk's
// host (fc_timeout_deleted_rport in drivers/scsi/scsi_transport_fc.c).
func portLost(view *snapshot.NodeView, b *probes.BlockDevice) *probes.KernelLine {
	host, _, ok := strings.Cut(b.HCTL, ":")
	if !ok {
		return nil
	}
	return evidence.Last(view.KernelLines(kmsg.FCPortLost), func(l probes.KernelLine) bool {
		return strings.Contains(l.Text, "rport-"+host+":") && l.Micros >= disk.AttachedAt(view, b)
	})
}

// outlasted tells whether the connection broke longer ago than the session waits.
func outlasted(view *snapshot.NodeView, s *probes.ISCSISession) bool {
	tmo, err := strconv.Atoi(s.RecoveryTmo)
	now := view.Facts.Identity.Uptime
	if err != nil || tmo <= 0 || now == 0 {
		return false
	}
	l := lastLine(view, kmsg.ISCSIConnError, "connection"+strings.TrimPrefix(s.Name, "session")+":0", 0)
	return l != nil && now-time.Duration(l.Micros)*time.Microsecond > time.Duration(tmo)*time.Second
}

// lastLine is the last line of a kind that names something, not older than a moment.
func lastLine(view *snapshot.NodeView, kind, name string, since int64) *probes.KernelLine {
	return evidence.Last(view.KernelLines(kind), func(l probes.KernelLine) bool { return slices.Contains(l.Names, name) && l.Micros >= since })
}

func orUnknown(s string) string {
	return cmp.Or(s, "unknown")
}

// Unread is no when the place's node was looked at, or nothing of the volume can be lost
// there: nobody there lives on it.
func Unread(pl *evidence.Place) evidence.Answer {
	if pl.View != nil || len(pl.Volume.LiveConsumersOn(pl.Node)) == 0 || len(pl.Volume.WaitingOn(pl.Node)) > 0 {
		return evidence.No()
	}
	return evidence.Not(pl.Probed().Nothing())
}
