package security

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Boolean is what container-selinux asks before a container may mount a kind of file system;
// such a denial is not always in the log.
type Boolean struct {
	Name, Mounts string
	kind         volume.Kind
	fstype       string
	label        string
}

var booleans = []Boolean{
	{"virt_use_nfs", "NFS", volume.NFS, "nfs", "nfs_t"},
	{"virt_use_samba", "SMB", volume.SMB, "cifs", "cifs_t"},
	{"virt_sandbox_use_fusefs", "FUSE", volume.FUSE, "fuse", "fusefs_t"},
}

func (b Boolean) file() string { return "sys/fs/selinux/booleans/" + b.Name }

// off tells whether its current value, the first of two, is 0.
func (b Boolean) off(view *snapshot.NodeView) (content string, ok bool) {
	content = strings.TrimSpace(view.Facts.Files[b.file()].Content)
	return content, strings.HasPrefix(content, "0")
}

// Forbids asks whether a boolean of the place's node keeps containers from mounting what the
// volume is, while a mount made by one fails with EPERM.
func Forbids(pl *evidence.Place) (Boolean, evidence.Answer) {
	if pl.View == nil || pl.Volume.CSIName() == "" {
		return Boolean{}, evidence.No()
	}
	k := volume.KindOf(pl.X, pl.Volume).At(pl.X, pl.Volume, pl.Node)
	for _, b := range booleans {
		content, off := b.off(pl.View)
		if !off {
			continue
		}
		said := pl.Felt().Say(func(t evidence.Text) bool {
			share := k&volume.Disk == 0 && k&b.kind != 0 || strings.Contains(t.Args, "-t "+b.fstype) || b.kind == volume.NFS && t.Is(message.NFSError)
			return share && strings.HasPrefix(t.Op, "MountVolume") && t.Is(message.OperationNotPermitted)
		})
		if said.Yes() {
			return b, evidence.All(Enforcing(pl.View), evidence.Yes(evidence.FromNode(pl.Node, b.file(), content)), said)
		}
	}
	return Boolean{}, evidence.No()
}

// WorksElsewhere asks whether another node, without this rule, has the volume mounted.
func (b Boolean) WorksElsewhere(pl *evidence.Place) evidence.Answer {
	for _, n := range pl.X.NodesOf(pl.Volume) {
		view := pl.X.View(n)
		if view == nil || n == pl.Node || len(pl.X.VolumeMounts(pl.Volume, n)) == 0 {
			continue
		}
		if _, off := b.off(view); !off || Enforcing(view).No() {
			return evidence.Yes(evidence.FromNode(n, "proc/1/mountinfo", pl.X.VolumeMounts(pl.Volume, n)[0].Mount.Raw))
		}
	}
	return evidence.Unseen(evidence.Lack{Need: "a node without this rule that mounts the same export", Why: "none was probed"})
}

// allowing are the booleans that would allow containers what a line denies on the place's mount, and are off: those
// that are of its type, where the whole filesystem has the label of that type.
func allowing(pl *evidence.Place, l Line) []Boolean {
	m := l.mountOf(pl)
	return slices.DeleteFunc(slices.Clone(booleans), func(b Boolean) bool {
		_, off := b.off(pl.View)
		return !off || m == nil || !strings.HasPrefix(m.FSType, b.fstype) || !strings.Contains(l.Label(), ":"+b.label+":")
	})
}

// allows tells whether the boolean for a type of filesystem was read on the place's node, and lets containers use it now.
func allows(pl *evidence.Place, fstype string) bool {
	return slices.ContainsFunc(booleans, func(b Boolean) bool {
		content, off := b.off(pl.View)
		return strings.HasPrefix(fstype, b.fstype) && content != "" && !off
	})
}
