package device

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/multipath"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// DeviceLUNReused finds paths that lead to different disks because a LUN number was
// given to another volume while old paths stayed.
var DeviceLUNReused = &diagnosis.Rule{
	Name: "device-lun-reused", Layer: diagnosis.Device, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Staging, diagnosis.Using},
	LeadsTo: []string{"device-is-not-the-volume", "filesystem-needs-fsck"},
	Offers:  []string{"unmap-device"},
	Asks:    diagnosis.EachPlace,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Volume.Longhorn != nil || !volume.Belongs(pl) {
			return nil // one target per volume: LUN numbers are never reused
		}
		whole := pl.Tables(probes.Block, probes.Mounts)
		out := []*diagnosis.Proof{diagnosis.Rest(whole)}
		add := func(says string, dev probes.Dev, with words.Fields, state ...evidence.Answer) *diagnosis.Proof {
			with["node"], with["volume"] = pl.Node, volume.Name(pl.Volume)
			p := &diagnosis.Proof{Subject: diagnosis.DeviceSubject(pl.Node, dev), Says: says, With: with, State: state, Last: []evidence.Answer{whole.Nothing()}}
			p.LookAlikes = []diagnosis.LookAlike{{Cause: "mount-of-dead-device", Is: disk.MountedByOthers(pl, dev)}}
			p.Device(pl.Node, dev)
			out = append(out, p)
			return p
		}
		if pl.View == nil {
			said := multipath.SaidForeign(pl)
			if !said.Yes() {
				return out
			}
			return append(out, &diagnosis.Proof{
				Subject: diagnosis.ObjectSubject("PersistentVolume", "", pl.Volume.PVName()), Says: "said", With: words.Fields{"node": pl.Node, "volume": volume.Name(pl.Volume)},
				State: []evidence.Answer{whole.Nothing()}, Hint: said,
				Steps: []remedy.Step{remedy.Words("Compare the identity of every path below the map on node " + pl.Node + " with the array before anything is mounted, written or removed.")},
			})
		}
		for _, m := range multipath.MixedOf(pl) {
			p := add("mixed", m.Map.Dev, words.Fields{"map": m.Map.DM.Name, "device": m.Map.Name + ", " + m.Map.Dev.String(), "stale": multipath.Titles(m.Wrong), "now": multipath.Titles(m.Right)}, m.Is())
			p.Steps = []remedy.Step{remedy.Words("Stop the pods of this volume. Compare the identity of every path with the array before anything is removed; then remove only the stale paths, drop and rebuild the map." + remedy.Calm(pl.View, slices.Concat(m.Wrong, m.Right)...) + " Write nothing through the map. A check of the filesystem comes later, while it is unmounted.")}
			if len(m.Right) == 0 {
				p.Says = "old"
			}
			for _, b := range append(m.Wrong, m.Right...) {
				p.Device(pl.Node, b.Dev)
			}
			for _, b := range m.Wrong {
				p.Steps = append(p.Steps, remedy.UnmapSCSI(pl.View, pl.Volume, b, m.Map.Name))
			}
		}
		for _, o := range disk.OthersAt(pl) {
			subject, steps := o.Dev, []remedy.Step{remedy.Words("Stop the pods of this volume and compare the disk's identity with the array. Then remove exactly this stale disk from the node and scan again." + remedy.Calm(pl.View, o.BlockDevice) + " Write nothing to it. A check of the filesystem comes later, while it is unmounted.")}
			if m := multipath.MapOn(pl.View, o.Dev); m != nil {
				subject = m.Dev
			} else {
				steps = append(steps, remedy.UnmapSCSI(pl.View, pl.Volume, o.BlockDevice))
			}
			if len(out) == 1 {
				p := add("stale", subject, words.Fields{"disk": o.Name + " (" + o.Dev.String() + ", LUN " + disk.OrUnknown(disk.LUN(o.BlockDevice)) + ")", "why": o.Why}, o.Is)
				p.Device(pl.Node, o.Dev)
				p.Steps = steps
			}
		}
		if b, warned := disk.Warned(pl); b != nil && len(out) == 1 {
			p := add("moved", b.Dev, words.Fields{"disk": disk.Title(b)}, warned, volume.Fails(pl))
			p.AtMost = report.Possible // the warning does not tell which LUN changed
			p.Steps = []remedy.Step{remedy.Words("Compare the identity of " + b.Name + " on node " + pl.Node + " with the array before anything is mounted, written or removed.")}
		}
		return out
	},
}
