package symptom

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/filesystem"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// mountBusy: mount(2) or a tool before it answers EBUSY, or the device refuses an
// exclusive open although nothing mounts it and a pod wants it.
var mountBusy = &diagnosis.SymptomRule{Name: "mount-busy", Run: func(p *diagnosis.Pass) {
	toldOf(p, mounting(saysBusy), func(v *snapshot.Volume, t diagnosis.Text) string {
		return fmt.Sprintf("The device of %s is busy: %s", name(v), evidence.Brief(t.Desc))
	})
	for _, v := range p.Volumes() {
		for _, d := range p.Devices(v) {
			refusesClaim(p, v, d)
		}
	}
}}

// shared tells whether the share-manager of a Longhorn RWX volume mounts it to serve it.
func shared(v *snapshot.Volume, uses []snapshot.Use) bool {
	return v.RegularRWX() && slices.ContainsFunc(uses, func(u snapshot.Use) bool { return u.Mount.Point == "/export/"+v.Handle })
}

func saysBusy(t diagnosis.Text) bool {
	return is(t, message.AlreadyMountedBusy, message.CryptsetupInUse, message.MpathMember) ||
		is(t, message.CannotOpenBlockdev) && !strings.Contains(t.Raw, "Can't lookup blockdev")
}

func refusesClaim(p *diagnosis.Pass, v *snapshot.Volume, d snapshot.VolumeDevice) {
	if v.Block() || d.Mapper != nil || d.View.Facts.Claims[d.Dev] != "EBUSY" || !volume.Awaited(p.Index, v, d.Node) {
		return
	}
	for _, n := range d.Numbers() {
		if len(d.View.InitUses(n)) > 0 || shared(v, d.View.ForeignUses(n)) {
			return
		}
	}
	if _, works := filesystem.AtWork(p.Index, v, d.Node); works.Yes() {
		return // mkfs and fsck open it so, and end
	}
	s := onVolume(v, fmt.Sprintf("Device %s of %s on node %s refuses an exclusive open, and nothing mounts it there for a pod.", d.Dev, name(v), d.Node))
	s.Device(d.Node, d.Dev)
	s.At(d.Node)
	s.Evidence = append(s.Evidence, evidence.FromNode(d.Node, "@claim/"+d.Dev.String(), "EBUSY"))
	p.AddSymptom(s)
}
