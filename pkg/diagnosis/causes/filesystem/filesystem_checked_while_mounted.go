package filesystem

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed filesystem_checked_while_mounted.md
var filesystemCheckedWhileMountedDoc string

// CheckedWhileMounted finds checks that stopped because the filesystem is mounted
// already, and filesystems that two nodes mount at once.
var CheckedWhileMounted = &diagnosis.Rule{
	Name: "filesystem-checked-while-mounted", Layer: diagnosis.Filesystem, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("mountns"), diagnosis.Probe("blockdev")},
	Explains: []string{"fsck-failed", "mount-failed", "volume-io-error", "volume-readonly", "pod-waiting-for-volume"},
	LeadsTo:  []string{"filesystem-needs-fsck"},
	Doc:      filesystemCheckedWhileMountedDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if v.Block() {
				continue
			}
			list := carriers(p, v)
			for _, t := range p.Texts(v) {
				if t.Fresh && checkMetMount(t) {
					checkedWhileMounted(p, v, list, t)
					break
				}
			}
			mountedTwice(p, v, list)
		}
	},
}

// metMount is e2fsck(8) that finds its device in the mount table (exit status 8),
// and xfs_repair(8) in the same situation. "is in use" is another refusal: an
// exclusive open that failed.
var metMount = regexp.MustCompile(`(?s)(\S+) is mounted\.?\s.*?Cannot continue, aborting|(?:xfs_repair|fsck)[^\n]*?(\S+) contains a mounted`)

func checkMetMount(t diagnosis.Text) bool {
	return metMount.MatchString(t.Raw) && !t.Is(message.FsckUncorrected) && !t.Is(message.WillNotMakeFSMounted) && !t.Is(message.FormatFailed)
}

// checkedPath is the device that the check names.
func checkedPath(t diagnosis.Text) string {
	m := metMount.FindStringSubmatch(t.Raw)
	return strings.Trim(strings.TrimSuffix(m[1]+m[2], ":"), `"'\`)
}

func checkedWhileMounted(p *diagnosis.Pass, v *snapshot.Volume, list []carrier, t diagnosis.Text) {
	path := checkedPath(t)
	for _, c := range list {
		if t.Node != "" && t.Node != c.view.Name {
			continue
		}
		if !c.named(path) {
			return // the name means another disk now
		}
		uses := c.usesOfNode()
		if len(uses) == 0 && len(c.uses) > 0 {
			return // only foreign namespaces have it mounted: they hold it, and no check can find it
		}
		f := p.Find(report.Certain, diagnosis.DeviceSubject(c.view.Name, c.block.Dev))
		c.about(f)
		text := fmt.Sprintf("The driver checks the filesystem of volume %s on node %s once more although it is mounted there: fsck of %s stops with \"is mounted\" (exit status 8) before it looks at anything, and the mount for the next pod fails with it. Nothing is damaged.", volumeName(v), c.view.Name, path)
		f.Fact(t.Evidence())
		for i, u := range uses {
			if i < 4 {
				f.Fact(diagnosis.FromNode(c.view.Name, fmt.Sprintf("proc/%d/mountinfo:%d", u.NS.TablePID, u.Mount.Line), u.Mount.Raw))
			}
		}
		switch {
		case len(uses) > 0:
			text += fmt.Sprintf(" Device %s is mounted at %s.", c.name(), uses[0].Mount.Point) + c.holders(p)
		default:
			text += fmt.Sprintf(" Device %s is mounted in no namespace that was read: the other mount may be gone by now.", c.name())
			f.Missing("a mount of " + c.block.Name + " on node " + c.view.Name)
		}
		f.Sayf("%s", text)
		finishChecked(p, v, f)
		return
	}
	node := t.Node
	subject := diagnosis.ObjectSubject("PersistentVolume", "", v.PVName())
	f := p.Find(report.Likely, subject).On(v).Located(node).Fact(t.Evidence())
	p.Probed(node)
	for _, w := range v.WaitingOn(node) {
		f.Pod(w.Pod)
	}
	f.Sayf("The driver checks the filesystem of volume %s on node %s although it is mounted there: fsck of %s stops with \"is mounted\" (exit status 8), and the mount fails with it. That is no damage. Where it is mounted was not seen.", volumeName(v), node, path)
	f.Missing("the mounts of " + path + " on node " + node)
	finishChecked(p, v, f)
}

func finishChecked(p *diagnosis.Pass, v *snapshot.Volume, f *diagnosis.Finding) {
	f.Unless("no mount of the device, or words of the check about damage (exit status 4)")
	text := "Nothing needs repair."
	if len(v.Live()) > 1 {
		text += " Let one pod of the claim run on this node at a time, or place the second one so that the first is gone before it starts."
	} else {
		text += " Let the other mount go: end what uses it, and unmount exactly that path if nobody does."
	}
	f.Advise(
		remedy.Words(text),
		remedy.Words("Update the driver, or switch its check off: it must not check a device that it has mounted itself. Never run a check or repair now, while the filesystem is mounted."),
	)
	p.Report(f)
}

// named tells whether a path means this device, or leads nowhere that was seen.
func (c carrier) named(path string) bool {
	dev, ok := c.view.NumberAt(path)
	return !ok || dev == c.block.Dev || slices.Contains(c.device.Numbers(), dev)
}

// usesOfNode are the mounts that a driver's check can see: in the host's namespace,
// which the plugin's own shares below the kubelet's directory.
func (c carrier) usesOfNode() []snapshot.Use {
	var out []snapshot.Use
	for _, u := range c.uses {
		if u.Init {
			out = append(out, u)
		}
	}
	return out
}

// holders names the pods whose mount the check met.
func (c carrier) holders(p *diagnosis.Pass) string {
	var names []string
	for _, m := range p.VolumeMounts(c.volume, c.view.Name) {
		pod := p.PodByUID(m.Path.PodUID)
		if pod == nil {
			continue
		}
		if name := pod.Namespace + "/" + pod.Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " That is the mount of pod " + strings.Join(names, ", ") + "."
}

// mountedTwice reports a local filesystem that two nodes have mounted for writing at
// once while the kernel finds damage in it.
func mountedTwice(p *diagnosis.Pass, v *snapshot.Volume, list []carrier) {
	var users []carrier
	for _, c := range list {
		if u := c.usesOfNode(); len(u) > 0 && local(u[0].Mount.FSType) && !u[0].Mount.HasSuper("ro") && len(v.LiveConsumersOn(c.view.Name)) > 0 {
			users = append(users, c)
		}
	}
	i := slices.IndexFunc(users, func(c carrier) bool { return len(c.damageLines()) > 0 })
	if len(users) < 2 || i < 0 {
		return
	}
	c, nodes := users[i], []string{}
	f := p.Find(report.Likely, diagnosis.DeviceSubject(c.view.Name, c.block.Dev))
	for _, u := range users {
		u.about(f)
		nodes = append(nodes, u.view.Name)
		m := u.usesOfNode()[0]
		f.Fact(diagnosis.FromNode(u.view.Name, fmt.Sprintf("proc/%d/mountinfo:%d", m.NS.TablePID, m.Mount.Line), m.Mount.Raw))
	}
	for n, l := range c.damageLines() {
		if n < 3 {
			f.Fact(evidence.FromKernel(c.view.Name, l))
		}
	}
	f.Sayf("The %s filesystem of volume %s is mounted for writing on nodes %s at once, and the kernel of node %s finds damage in it. %s is a filesystem of one machine: two kernels that write to it destroy it, whatever the access modes say.",
		c.fstype(), volumeName(v), strings.Join(nodes, ", "), c.view.Name, c.fstype())
	f.Missing("writes of both nodes to the same blocks")
	f.Unless("a filesystem made for several nodes, or a mount that one of the nodes only reads")
	f.Advise(remedy.Words("Stop all pods of the volume at once and keep it detached, take a snapshot or backup, then check the filesystem by hand (later, unmounted everywhere). Use access mode ReadWriteOnce for this driver, or a share."))
	p.Report(f)
}

// local tells whether a filesystem belongs to one machine.
func local(fstype string) bool {
	return slices.Contains([]string{"ext2", "ext3", "ext4", "xfs", "btrfs"}, fstype)
}
