package xfs

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/filesystem"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var duplicateUUID = pattern.MustCompile(`duplicate UUID ([0-9a-fA-F-]{36})`)

// Copy is an XFS filesystem whose mount is refused, or one of Btrfs.
type Copy struct {
	carrier filesystem.Carrier
	Kind    string // xfs | btrfs
	UUID    string
	Said    evidence.Answer // the kernel calls it a duplicate
	Refused evidence.Answer // a mount was refused in words that name no reason
	Fails   evidence.Answer // a mount fails, in whatever words
}

// CopyOf reads the kernel's line about a carrier, the fresh refusal, and its UUID.
func CopyOf(c filesystem.Carrier) Copy {
	content, _ := c.Content()
	out := Copy{carrier: c, Kind: "xfs", UUID: content.UUID, Said: evidence.No(), Refused: evidence.No(), Fails: evidence.No()}
	var shown report.Evidence
	if content.UUID != "" {
		shown = c.Shows("TYPE="+content.Type, "UUID="+content.UUID)
	}
	if content.Type == "xfs" && content.UUID != "" {
		out.Refused, out.Fails = filesystem.MountRefused(c.Place).With(shown), evidence.When(filesystem.MountFails(c.Place), shown)
	}
	if lines := c.Lines(kmsg.XFSDuplicateUUID); len(lines) > 0 {
		l := lines[len(lines)-1]
		if m := duplicateUUID.FindStringSubmatch(l.Text); m != nil {
			out.UUID = m[1]
		}
		out.Said = evidence.Yes(evidence.FromKernel(c.Place.Node, l), shown)
		if strings.Contains(l.Text, "BTRFS") { // it says so whoever looks for filesystems (device_list_add in fs/btrfs/volumes.c)
			out.Kind, out.Said = "btrfs", evidence.All(out.Said, evidence.When(filesystem.MountFails(c.Place)))
		}
	}
	return out
}

// Original is another filesystem of the node with the same UUID that is mounted.
type Original struct {
	Name  string // of the device and its volume, as a sentence goes on
	Point string
	Is    evidence.Answer
	Own   evidence.Answer // whether it is the volume itself under another number
	Apart evidence.Answer // whether copies are mounted with nouuid: it by its driver, or the volume by its own options
}

// Original finds it; paths and maps of the same disk do not count.
func (c Copy) Original() Original {
	pl, own := c.carrier.Place, c.carrier.Numbers()
	for _, b := range pl.View.Blocks() {
		x, uses := pl.View.Facts.Contents[b.Dev], pl.View.Uses(b.Dev)
		if x.UUID != c.UUID || c.UUID == "" || x.Type != c.Kind || len(uses) == 0 || slices.Contains(own, b.Dev) {
			continue
		}
		line := c.carrier.MountLine(uses[0])
		v := volumeAt(pl, uses)
		return Original{
			Name: b.Name + " (" + b.Dev.String() + ")" + whose(v), Point: uses[0].Mount.Point,
			Is:    evidence.Yes(line, evidence.FromNode(pl.Node, "@content/"+b.Dev.String(), "UUID="+x.UUID)),
			Own:   evidence.When(pl.Volume.Same(v), line),
			Apart: evidence.When(uses[0].Mount.HasSuper("nouuid") || pl.Volume.PV != nil && slices.Contains(pl.Volume.PV.Spec.MountOptions, "nouuid"), line),
		}
	}
	seen := pl.Mounts().And(pl.Tables(probes.Contents, probes.Block)).Found()
	if seen.No() && c.Said.Yes() { // the kernel has seen it
		seen = evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node + "/" + string(probes.Contents), Node: pl.Node, Why: "which mounted device has the same UUID"})
	}
	return Original{Is: seen, Own: evidence.No(), Apart: evidence.No()}
}

func volumeAt(pl *evidence.Place, uses []snapshot.Use) *snapshot.Volume {
	for _, u := range uses {
		if v := pl.X.VolumeOfPath(pl.Node, u.Mount.Point); u.Init && v != nil {
			return v
		}
	}
	return nil
}

func whose(v *snapshot.Volume) string {
	if v == nil {
		return ""
	}
	text := ", volume " + volume.Name(v)
	if ns, name := v.ClaimRef(); name != "" {
		text += " of claim " + ns + "/" + name
	}
	return text
}
