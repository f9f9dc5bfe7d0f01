package filesystem

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/filesystem"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// NeedsFsck finds filesystems with damage that automatic repair refuses.
var NeedsFsck = &diagnosis.Rule{
	Name: "filesystem-needs-fsck", Layer: diagnosis.Filesystem, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing, diagnosis.Serving, diagnosis.Resizing, diagnosis.Using},
	YieldsTo: []string{"device-renumbered", "device-is-not-the-volume", "device-lun-reused", "xfs-log-not-replayed"},
	Offers:   []string{"fsck"},
	Asks:     diagnosis.EachPlace,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		k := filesystem.CheckOf(pl)
		if k.Says == "" || pl.Volume.Block() {
			return []*diagnosis.Proof{diagnosis.Unread(filesystem.Looked(pl))}
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.FilesystemSubject(pl.Volume), Says: k.Says, State: []evidence.Answer{k.Is}, Last: []evidence.Answer{k.Sure},
			LookAlikes: []diagnosis.LookAlike{{Cause: "a refusal that is past", Is: k.Past}, {Cause: "requests of the device that fail", Is: k.Failing},
				{Cause: "a device that is smaller than its filesystem", Is: k.Short}, {Cause: "a disk that is write-protected", Is: k.Sealed}},
			With:  words.Fields{"volume": volume.Name(pl.Volume), "node": pl.Node, "words": k.Words, "earlier": k.Earlier, "marked": "", "pods": ""},
			Steps: []remedy.Step{backupFirst(pl, k.Seen)},
		}
		if !k.Seen {
			p.Steps = append(p.Steps, remedy.Words("See first that the device on node "+pl.Node+" is the volume's, is readable and is mounted nowhere. Then check it by hand, read-only first."))
			return []*diagnosis.Proof{p}
		}
		c := k.Carrier
		p.Subject, p.With["device"], p.With["type"] = diagnosis.DeviceSubject(pl.Node, c.Block.Dev), c.Name(), c.FSType()
		if c.Marked() {
			p.With["marked"] = "errors"
		}
		if len(c.Uses) > 0 {
			p.With["point"], p.With["pods"] = c.Uses[0].Mount.Point, words.List(diagnosis.PodNames(pl.Volume.LiveConsumersOn(pl.Node)), 0)
		}
		if filesystem.Unsupported(pl) {
			p.Steps = append(p.Steps, remedy.Words("Get a tool that knows the filesystem's features first."))
		}
		p.Steps = append(p.Steps, repair(pl, c), remedy.Words("Find out what made the damage, or it comes back: an outage of the disk, a detach while it was mounted, a node that crashed."))
		p.Carried(pl.Volume, pl.Node, c.Numbers()...)
		return []*diagnosis.Proof{p}
	},
}

func backupFirst(pl *evidence.Place, seen bool) remedy.Step {
	text := "Take a snapshot or backup of the volume first."
	if seen && len(pl.Volume.Live()) > 0 {
		text += " Scale the workload to 0, so that no pod mounts the volume meanwhile."
	}
	if pl.Volume.IsLonghorn() {
		text += " Attach it without a pod (Longhorn's UI, to a node)."
	}
	return remedy.Words(text)
}

// repair is the step whose command the engine gives only on a device that is the volume's,
// free, readable, wanted by no pod and backed up for this.
func repair(pl *evidence.Place, c filesystem.Carrier) remedy.Step {
	newer := "Use a tool as new as the filesystem"
	if pl.Volume.IsLonghorn() {
		newer += ", such as the one in Longhorn's instance-manager image"
	}
	step := remedy.Fsck(c.Device, pl.Volume, c.Block, c.Path(), c.FSType()).Note("%s. Never while it is mounted or while its requests fail, and never make a new filesystem.", newer)
	if name, at := longhorn.LastBackup(pl.Volume); name != "" && !at.IsZero() {
		step = step.Note("The newest backup that Longhorn knows, %s, is %s old: what was written since is not in it.", name, evidence.Duration(pl.X.Age(at)))
	}
	return step
}
