package crypt

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Leftover is a mapping with the name of the place's volume, compared with the volume's
// present disk.
type Leftover struct {
	*probes.BlockDevice
	pl    *evidence.Place
	Disk  snapshot.VolumeDevice
	known bool              // the volume's disk is on the node, and is another device than the mapping
	said  []report.Evidence // what alone ties the mapping to the volume
}

// LeftoverOf finds the mapping by its name, or by what is freshly said: one without a disk that the driver meets
// when it opens the volume. False when there is none.
func LeftoverOf(pl *evidence.Place) (Leftover, bool) {
	if pl.View == nil {
		return Leftover{}, false
	}
	d, found := pl.X.DeviceOn(pl.Volume, pl.Node)
	l := Leftover{BlockDevice: disk.Mapping(pl.View, pl.Volume, d.Dev), pl: pl}
	if b, said := stands(pl); l.BlockDevice == nil && b != nil && disk.Bottomless(pl.View, b) {
		l.BlockDevice, l.said = b, []report.Evidence{said}
	}
	if l.BlockDevice == nil {
		return l, false
	}
	l.Disk, l.known = d, found && d.Block != nil && d.Dev != l.Dev
	return l, true
}

// nothing is what lies below a mapping whose disks are gone.
const nothing = "no disk at all"

// Below names the living disks below the mapping; a dangling link is none.
func (l Leftover) Below() string {
	var out []string
	for _, s := range l.Slaves {
		if b := l.pl.View.ByName(s); b != nil && !b.Dev.IsZero() {
			out = append(out, b.Name+" ("+b.Dev.String()+")")
		}
	}
	if len(out) == 0 {
		return nothing
	}
	return strings.Join(out, ", ")
}

// Now says where the volume's present disk is.
func (l Leftover) Now() string {
	if !l.known {
		return "not on the node now"
	}
	return "now " + l.Disk.Block.Name + " (" + l.Disk.Dev.String() + ")"
}

// Old asks whether what lies below the mapping is not the volume's present disk: nothing
// at all, or another one.
func (l Leftover) Old() evidence.Answer {
	facts := append(slices.Clone(l.said),
		evidence.FromNode(l.pl.Node, "sys/class/block/"+l.Name+"/dm/uuid", l.DM.UUID),
		evidence.FromNode(l.pl.Node, "sys/class/block/"+l.Name+"/slaves", cmp.Or(strings.Join(l.Slaves, " "), "(empty)")))
	if c := l.pl.View.Facts.Contents[l.Dev]; c.Err != "" {
		facts = append(facts, evidence.FromNode(l.pl.Node, "@content/"+l.Dev.String(), c.Err))
	}
	switch {
	case l.known && l.rests():
		return evidence.No(facts...) // the rightful mapper of this attachment
	case !l.known && l.Below() != nothing:
		return evidence.No(facts...) // a living disk, and nothing to compare it with
	}
	return evidence.Yes(facts...)
}

// rests tells whether the volume's disk lies somewhere below the mapping.
func (l Leftover) rests() bool {
	if l.pl.View.Rests(l.Dev, l.Disk.Dev) {
		return true
	}
	return slices.ContainsFunc(l.Slaves, func(s string) bool {
		b := l.pl.View.ByName(s)
		return b != nil && b.Dev == l.Disk.Dev
	})
}

// Compared asks whether the volume's present disk is known by its identity, and a mapping that only a text ties to it
// was opened from the header that is on it.
func (l Leftover) Compared() evidence.Answer {
	if uuid := strings.ReplaceAll(l.pl.View.Facts.Contents[l.Disk.Dev].UUID, "-", ""); len(l.said) > 0 && l.known && (uuid == "" || !strings.Contains(l.DM.UUID, uuid)) {
		return evidence.Unseen(evidence.Lack{Need: "the header on the volume's disk as the one from which mapping " + l.DM.Name + " was opened", Node: l.pl.Node, Why: "only a text ties the mapping to the volume"})
	}
	if l.known && l.Disk.Proven {
		return evidence.Yes()
	}
	return evidence.Unseen(evidence.Lack{Need: "the identity of the volume's present disk on node " + l.pl.Node, Node: l.pl.Node, Why: "no session, serial, WWID or image ties a disk to the volume"})
}

// InUse asks whether the mapping is mounted: by the host, by who rightfully uses the
// claim, or below something that lies on it.
func (l Leftover) InUse() evidence.Answer {
	view := l.pl.View
	for _, u := range view.InitUses(l.Dev) {
		return evidence.Yes(evidence.FromNode(l.pl.Node, "proc/1/mountinfo", u.Mount.Raw))
	}
	for _, u := range view.ForeignUses(l.Dev) {
		for _, p := range view.ProcessesIn(u.NS.ID) {
			if l.pl.X.IsConsumerProcess(l.pl.Volume, l.pl.Node, l.pl.X.WhoIs(view, p)) {
				return evidence.Yes(evidence.FromNode(l.pl.Node, "proc/*/mountinfo", u.Mount.Raw))
			}
		}
	}
	if l.Kept().Yes() {
		return evidence.No()
	}
	for _, h := range view.HoldersOf(l.Dev) {
		for _, u := range view.Uses(h.Device.Dev) {
			return evidence.Yes(evidence.FromNode(l.pl.Node, "proc/*/mountinfo", u.Mount.Raw))
		}
	}
	return l.pl.Tables(probes.Mounts).Found()
}

// Kept asks whether a mount namespace of its own still mounts the mapping.
func (l Leftover) Kept() evidence.Answer {
	for _, u := range l.pl.View.ForeignUses(l.Dev) {
		return evidence.Yes(evidence.FromNode(l.pl.Node, "proc/*/mountinfo", u.Mount.Raw))
	}
	return evidence.No()
}
