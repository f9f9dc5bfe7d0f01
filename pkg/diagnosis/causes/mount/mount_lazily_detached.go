package mount

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed mount_lazily_detached.md
var mountLazilyDetachedDoc string

// MountLazilyDetached finds filesystems that live without any mount line.
var MountLazilyDetached = &diagnosis.Rule{
	Name: "mount-lazily-detached", Layer: diagnosis.Mount, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("mountns"), diagnosis.Probe("blockdev")},
	Explains: []string{"unmount-blocked", "detach-stuck", "mount-busy", "format-failed", "multi-attach-error", "pod-waiting-for-volume"},
	LeadsTo:  []string{"drbd-state-blocks", "device-mapped-on-other-node", "crypt-mapper-stale", "rbd-lock-or-watcher-stale"},
	Offers:   []string{"restart-holder"},
	Doc:      mountLazilyDetachedDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			for _, node := range nodesOf(p, v) {
				detachedOn(p, v, node)
			}
		}
	},
}

// detachedOn looks at a node that should let the volume go or cannot mount it.
func detachedOn(p *diagnosis.Pass, v *snapshot.Volume, node string) {
	released, why := p.WantedReleased(v, node)
	wanted := p.WantedHere(v, node)
	if !released && !wanted || !wanted && p.JustReleased(v, node) && !p.Suffers(v, "unmount-blocked", "detach-stuck", "multi-attach-error") {
		return // nothing to let go, or an unmount that is under way
	}
	view := p.View(node)
	if view == nil || view.Init == nil {
		if released && p.Suffers(v, "unmount-blocked", "detach-stuck", "multi-attach-error") || wanted && p.Suffers(v, "mount-busy", "format-failed") {
			tablesMissing(p, node)
		}
		return
	}
	d, ok := p.DeviceOn(v, node)
	if !ok {
		return
	}
	top := d.Top()
	s, claim := view.Superblock(top), view.Facts.Claims[top]
	if s == nil || len(view.Uses(top)) > 0 || claim == "free" || len(view.HoldersOf(top)) > 0 || view.Swap(top) != nil {
		return
	}
	if p.MountedByMate(view, top) {
		return
	}
	if wanted {
		why = "a pod on the node waits for the device"
	}
	reportDetached(p, v, view, top, s, why)
}

func reportDetached(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, top probes.Dev, s *probes.Superblock, why string) {
	holders := detachedHolders(view, top)
	certainty := report.Certain
	whole := view.AllNamespacesRead()
	if !whole {
		certainty = report.Possible
		if len(holders) > 0 {
			certainty = report.Likely
		}
	}
	f := p.Find(certainty, diagnosis.DeviceSubject(view.Name, top)).On(v).Located(view.Name)
	f.Device(view.Name, top)
	if d, ok := p.DeviceOn(v, view.Name); ok {
		f.Device(view.Name, d.Dev)
	}
	said := "no mount table has a line of it: it was unmounted lazily"
	if !whole {
		said = "no mount table that was read has a line of it. It is mounted in one that could not be read, or it was unmounted lazily"
	}
	f.Sayf("The filesystem on %s of volume %s is alive on node %s, but %s and lives on for who keeps something in it open. "+
		"The device stays busy, although %s.%s", diskName(view, top), volumeName(v), view.Name, said, why, namesOf(p, view, holders))
	f.Fact(diagnosis.FromNode(view.Name, s.Locator, "the superblock is alive"))
	f.Fact(diagnosis.FromNode(view.Name, "proc/*/mountinfo", fmt.Sprintf("no line with %s in %d mount namespaces", top, len(view.Facts.Namespaces))))
	if c := view.Facts.Claims[top]; c != "" {
		f.Fact(diagnosis.FromNode(view.Name, "@claim/"+top.String(), c))
	} else {
		f.Missing("an exclusive open of the device")
	}
	if unread := view.Unread(); unread > 0 {
		f.Missing(fmt.Sprintf("the tables of %d mount namespaces", unread))
	} else if !whole {
		f.Missing("the tables of all mount namespaces")
	}
	f.Unless("a mount line of this device in any namespace, or a second sample in which the superblock is gone (an unmount that was under way)")
	for _, o := range holders {
		f.Fact(diagnosis.FromNode(view.Name, o.Descriptor.Path, o.Descriptor.Target))
		adviseHolder(p, f, v, view, o)
	}
	if len(holders) == 0 {
		f.Advise(remedy.Words("Nobody who keeps it open was found. Drain node " + view.Name + " and reboot it; nothing else ends a detached filesystem without a holder."))
	}
	p.Report(f)
}

// detachedHolders are the processes that keep something in the filesystem open;
// the kernel's own threads are a sign of it and not its reason.
func detachedHolders(view *snapshot.NodeView, dev probes.Dev) []snapshot.Opener {
	var out []snapshot.Opener
	seen := map[int]bool{}
	for _, o := range view.Openers(dev) {
		if o.Descriptor.Device || o.Process.Kthread || seen[o.Process.PID] {
			continue
		}
		seen[o.Process.PID] = true
		out = append(out, o)
	}
	return out
}

func namesOf(p *diagnosis.Pass, view *snapshot.NodeView, holders []snapshot.Opener) string {
	if len(holders) == 0 {
		return " No process that keeps it was found."
	}
	var list []string
	for _, o := range holders {
		list = append(list, fmt.Sprintf("process %d (%s%s) by %s", o.Process.PID, o.Process.Comm, belongsTo(p, p.WhoIs(view, o.Process)), o.Descriptor.Path))
	}
	return " It is kept by " + strings.Join(list, ", ") + "."
}

// adviseHolder ends the process through its owner.
func adviseHolder(p *diagnosis.Pass, f *diagnosis.Finding, v *snapshot.Volume, view *snapshot.NodeView, o snapshot.Opener) {
	who := p.WhoIs(view, o.Process)
	if rightful(p, v, view.Name, who) {
		f.Advise(remedy.Words("Let pod " + podName(who.Pod) + " end first: it uses the claim itself."))
		return
	}
	f.Advise(remedy.EndHolder(view.Name, who))
}
