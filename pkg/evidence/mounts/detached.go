package mounts

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Detached is the filesystem of the place's volume, looked for without any mount.
type Detached struct {
	pl      *evidence.Place
	Dev     probes.Dev // what carries the filesystem
	Disk    snapshot.VolumeDevice
	Holders []snapshot.Opener
}

// DetachedOf finds it where the mount table of process 1 was read.
func DetachedOf(pl *evidence.Place) (Detached, bool) {
	if pl.View == nil || pl.View.Init == nil {
		return Detached{}, false
	}
	d, ok := pl.X.DeviceOn(pl.Volume, pl.Node)
	out := Detached{pl: pl, Dev: d.Top(), Disk: d}
	seen := map[int]bool{}
	for _, o := range pl.View.Openers(out.Dev) {
		// The kernel's own threads are a sign of it and not its reason.
		if !o.Descriptor.Device && !o.Process.Kthread && !seen[o.Process.PID] {
			seen[o.Process.PID] = true
			out.Holders = append(out.Holders, o)
		}
	}
	return out, ok
}

// Alive asks whether the filesystem lives.
func (d Detached) Alive() evidence.Answer {
	if s := d.pl.View.Superblock(d.Dev); s != nil {
		return evidence.Yes(evidence.FromNode(d.pl.Node, s.Locator, "the superblock is alive"))
	}
	return d.pl.Tables(probes.Superblocks).Found()
}

// Listed asks whether a mount table of the node, or of another one of the same kernel, has
// the filesystem.
func (d Detached) Listed() evidence.Answer {
	for _, u := range d.pl.View.Uses(d.Dev) {
		return evidence.Yes(evidence.FromMount(d.pl.Node, u.NS, u.Mount))
	}
	if d.pl.X.MountedByMate(d.pl.View, d.Dev) {
		return evidence.Yes(evidence.FromNode(d.pl.Node, "proc/sys/kernel/random/boot_id", "another node of this kernel mounts it"))
	}
	if mate := d.pl.X.UnseenMate(d.pl.View); mate != "" {
		return evidence.Unseen(evidence.Lack{Need: "node/" + mate, Node: mate, Why: "node " + mate + " has the same kernel and was not looked at"})
	}
	return node.Whole(d.pl.X, d.pl.Node, probes.Mounts).Found()
}

// Unlisted is the fact that no table has a line of it.
func (d Detached) Unlisted() evidence.Answer {
	return evidence.Yes(evidence.FromNode(d.pl.Node, "proc/*/mountinfo", fmt.Sprintf("no line with %s in %d mount namespaces", d.Dev, len(d.pl.View.Facts.Namespaces))))
}

// Busy asks whether an exclusive open of the device fails now.
func (d Detached) Busy() evidence.Answer {
	claim := d.pl.View.Facts.Claims[d.Dev]
	if claim == "" {
		return evidence.Unseen(evidence.Lack{Need: "node/" + d.pl.Node + "/claim", Node: d.pl.Node, Why: "no exclusive open of the device was tried"})
	}
	return evidence.When(claim != "free", evidence.FromNode(d.pl.Node, "@claim/"+d.Dev.String(), claim))
}

// Covered asks whether something lies on the device, or the node swaps to it: then that
// is what keeps it.
func (d Detached) Covered() evidence.Answer {
	for _, h := range d.pl.View.HoldersOf(d.Dev) {
		return evidence.Yes(evidence.FromNode(d.pl.Node, "sys/class/block", h.Device.Name+" lies on it"))
	}
	if d.pl.View.Swap(d.Dev) != nil {
		return evidence.Yes()
	}
	return d.pl.Tables(probes.Block, probes.Swaps).Found()
}

// KeptBy names those who keep something in it open, as a sentence.
func (d Detached) KeptBy() string {
	if len(d.Holders) == 0 {
		return "No process that keeps it was found."
	}
	list := evidence.Each(d.Holders, func(o snapshot.Opener) string {
		who := d.pl.X.WhoIs(d.pl.View, o.Process)
		return fmt.Sprintf("process %s%s (%s) by %s", o.Process.Comm, pods.Whose(who), pods.Within(d.pl.X, o.Process, who), o.Descriptor.Path)
	})
	return "It is kept by " + strings.Join(list, ", ") + "."
}

// Held quotes what the holders have open.
func (d Detached) Held() evidence.Answer {
	out := evidence.Yes()
	for _, o := range d.Holders {
		out = out.With(evidence.FromNode(d.pl.Node, o.Descriptor.Path, o.Descriptor.Target))
	}
	return out
}
