package filesystem

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
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
		if strings.HasPrefix(l.Kind, "xfs") || strings.Contains(l.Text, "online resizing is not allowed") {
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
			f.Fact(evidence.FromKernel(c.view.Name, l))
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

// adviseRepair offers the repair; the engine gives the command only on a device that
// is the volume's, free, readable, wanted by no pod and backed up for this.
func (c carrier) adviseRepair(f *diagnosis.Finding, p *diagnosis.Pass) {
	f.Advise(backupFirst(c.volume, len(c.volume.Live()) > 0))
	for _, t := range p.Texts(c.volume) {
		if t.Is(message.FsckUnsupported) {
			f.Advise(remedy.Words("Get a tool that knows the filesystem's features first."))
			break
		}
	}
	newer := "Use a tool as new as the filesystem"
	if c.volume.IsLonghorn() {
		newer += ", such as the one in Longhorn's instance-manager image"
	}
	step := remedy.Fsck(c.device, c.volume, c.block, c.path(), c.fstype()).Note("%s. Never while it is mounted or while its requests fail, and never make a new filesystem.", newer)
	if name, at := longhorn.LastBackup(c.volume); name != "" && !at.IsZero() {
		step = step.Note("The newest backup that Longhorn knows, %s, is %s old: what was written since is not in it.", name, diagnosis.Duration(p.Age(at)))
	}
	f.Advise(step, remedy.Words("Find out what made the damage, or it comes back: an outage of the disk, a detach while it was mounted, a node that crashed."))
}

func backupFirst(v *snapshot.Volume, live bool) remedy.Step {
	text := "Take a snapshot or backup of the volume first."
	if live {
		text += " Scale the workload to 0, so that no pod mounts the volume meanwhile."
	}
	if v.IsLonghorn() {
		text += " Attach it without a pod (Longhorn's UI, to a node)."
	}
	return remedy.Words(text)
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
