package filesystem

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// damagedWhileMounted judges a filesystem in use by the kernel's words: XFS that
// found bad metadata and asks for xfs_repair leaves no doubt; ext4 and btrfs may go
// on, so their lines, or an application that gets EUCLEAN, make it likely.
func damagedWhileMounted(p *diagnosis.Pass, c carrier, app *diagnosis.Text) {
	lines := c.damageLines()
	if gone(c.block) || len(lines) == 0 && (app == nil || len(c.failedRequests()) > 0) {
		return
	}
	certainty := report.Likely
	for _, l := range lines {
		if strings.HasPrefix(l.Kind, "xfs") {
			certainty = report.Certain
		}
	}
	m := c.uses[0].Mount
	f := p.Find(certainty, diagnosis.DeviceSubject(c.view.Name, c.block.Dev))
	c.about(f)
	who, text := "Kernel", ""
	if len(lines) > 0 {
		text = strings.TrimSpace(lines[0].Text)
	} else {
		who, text = "An application", app.Raw
	}
	if app != nil {
		f.Fact(app.Evidence())
	}
	f.Sayf("The %s filesystem of volume %s on device %s of node %s is corrupt: bad metadata was found in it while it was mounted at %s, and no request to the device has failed since. %s: %q.%s",
		m.FSType, volumeName(c.volume), c.name(), c.view.Name, m.Point, who, text, c.users())
	for i, l := range lines {
		if i < 5 {
			f.Fact(evidenceOf(c.view.Name, l))
		}
	}
	f.Fact(diagnosis.FromNode(c.view.Name, fmt.Sprintf("proc/%d/mountinfo:%d", c.uses[0].NS.TablePID, m.Line), m.Raw))
	if x := c.view.Facts.Contents[c.block.Dev]; x.State != "" {
		f.Fact(diagnosis.FromNode(c.view.Name, "@content/"+c.block.Dev.String(), "TYPE="+x.Type+" STATE="+x.State))
	}
	if certainty != report.Certain {
		f.Missing("a check of the filesystem while nothing mounts it")
	}
	f.Unless("failed requests of the device before these lines, or a check without a finding")
	c.adviseRepair(f, p)
	p.Report(f)
}

// formerDamage are damage lines about the volume's disk under a name that it had
// before on this node: a name that has no device now, or the present one. Where
// requests of that name failed, the lines tell of an outage and not of damage.
func (c carrier) formerDamage() []probes.KernelLine {
	failed := map[string]bool{}
	for _, l := range c.view.KernelLines(kmsg.IOError, kmsg.OfflineDevice, kmsg.MediumError, kmsg.BeyondEnd) {
		for _, n := range l.Names {
			failed[n] = true
		}
	}
	var out []probes.KernelLine
	for _, l := range c.view.KernelLines(kmsg.Ext4Error, kmsg.XFSCorruption) {
		if !speaksOfDamage(l) {
			continue
		}
		for _, n := range l.Names {
			if !failed[n] && (n == c.block.Name || c.view.ByName(n) == nil && strings.HasPrefix(n, "sd")) {
				out = append(out, l)
				break
			}
		}
	}
	return out
}

// refusedUnseen reports a refusal when no node showed the device.
func refusedUnseen(p *diagnosis.Pass, v *snapshot.Volume, t *diagnosis.Text) {
	node := t.Node
	if node == "" {
		if nodes := p.DeviceNodes(v); len(nodes) > 0 {
			node = nodes[0]
		}
	}
	subject := diagnosis.ObjectSubject("PersistentVolume", "", v.PVName())
	if lh := v.LH(); lh != nil {
		subject = diagnosis.ObjectSubject("Volume", lh.Namespace, lh.Name)
	}
	f := p.Find(report.Likely, subject).On(v).Located(node)
	p.Probed(node)
	f.Sayf("The filesystem of volume %s has errors that the automatic check on node %s does not repair alone.%s Whether the device is the volume's, is readable and is free was not seen.", volumeName(v), node, quoted(t))
	f.Fact(t.Evidence())
	f.Missing("the device, its mounts and the kernel log on node " + node)
	f.Unless("I/O errors of the device, another device in its place, or a mount of it")
	f.Advise(backupFirst(v, false), remedy.Words("See first that the device on node "+node+" is the volume's, is readable and is mounted nowhere. Then check it by hand, read-only first."))
	p.Report(f)
}

// adviseRepair offers the repair only on a device that is the volume's, free,
// readable and wanted by no pod; else the missing steps in words.
func (c carrier) adviseRepair(f *diagnosis.Finding, p *diagnosis.Pass) {
	live := len(c.volume.Live()) > 0
	f.Advise(backupFirst(c.volume, live))
	why, copied := c.notSafe(p), backupOf(c.volume)
	if why == "" && !live && copied.Text != "" {
		f.Fact(copied)
		f.Advise(remedy.Fsck(c.view.Name, c.path(), c.fstype(), fmt.Sprintf("%s is the volume's device (%s), an exclusive open succeeded, it is in no mount table of a probed node and no request of it failed; Longhorn has the backup %s", c.block.Name, c.device.How, copied.Text)))
		return
	}
	tool := "e2fsck -f; with -y only after the snapshot"
	if c.fstype() == "xfs" {
		tool = "xfs_repair; with -L only when the log may be lost"
	}
	newer := "with a tool as new as the filesystem"
	if c.volume.IsLonghorn() {
		newer += ", such as the one in Longhorn's instance-manager image"
	}
	text := "Then check the filesystem by hand on " + c.path() + " of node " + c.view.Name + ", read-only first (" + tool + "), " + newer + ". Never while it is mounted or while its requests fail, and never make a new filesystem."
	if why != "" {
		text += " Before that: " + why + "."
	}
	f.Advise(remedy.Words(text), remedy.Words("Find out what made the damage, or it comes back: an outage of the disk, a detach while it was mounted, a node that crashed."))
}

// backupOf is a backup of the volume that its object shows; whether there is one
// elsewhere only its owner knows.
func backupOf(v *snapshot.Volume) report.Evidence {
	lh := v.LH()
	if lh == nil {
		return report.Evidence{}
	}
	return diagnosis.FromAPI("volumes.longhorn.io "+lh.Name, "status.lastBackup", lh.Status.LastBackup)
}

func backupFirst(v *snapshot.Volume, live bool) report.Remedy {
	text := "Take a snapshot or backup of the volume first."
	if live {
		text += " Scale the workload to 0, so that no pod mounts the volume meanwhile."
	}
	if v.IsLonghorn() {
		text += " Attach it without a pod (Longhorn's UI, to a node)."
	}
	return remedy.Words(text)
}

// notSafe names what keeps the repair from being offered as a command.
func (c carrier) notSafe(p *diagnosis.Pass) string {
	var why []string
	add := func(bad bool, what string) {
		if bad {
			why = append(why, what)
		}
	}
	add(len(c.uses) > 0, "the filesystem must be unmounted everywhere")
	add(!c.device.Proven, "see that "+c.block.Name+" is the volume's disk")
	add(len(c.uses) == 0 && c.view.Facts.Claims[c.block.Dev] != "free", "see that nothing holds the device")
	add(!c.view.AllNamespacesRead(), "see the mount namespaces that were not read")
	add(len(c.view.HoldersOf(c.block.Dev)) > 0, "release what lies above the device")
	for _, d := range p.Devices(c.volume) {
		for _, n := range d.Numbers() {
			add(d.View != nil && d.Node != c.view.Name && len(d.View.Uses(n)) > 0, "unmount it on node "+d.Node)
		}
	}
	for _, t := range p.Texts(c.volume) {
		if t.Is(message.FsckUnsupported) {
			add(true, "get a tool that knows the filesystem's features")
			break
		}
	}
	return strings.Join(slices.Compact(why), "; ")
}

func (c carrier) path() string {
	if c.device.NodePath != "" && c.block.Dev == c.device.Dev {
		return c.device.NodePath
	}
	if c.block.DM != nil {
		return "/dev/mapper/" + c.block.DM.Name
	}
	return "/dev/" + c.block.Name
}

func (c carrier) fstype() string {
	if len(c.uses) > 0 {
		return c.uses[0].Mount.FSType
	}
	return c.view.Facts.Contents[c.block.Dev].Type
}
