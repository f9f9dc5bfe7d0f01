package mount

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/mounts"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// BlockVolumeStagingLost finds block volumes whose staged or published device is a
// plain file.
var BlockVolumeStagingLost = &diagnosis.Rule{
	Name: "block-volume-staging-lost", Layer: diagnosis.Mount, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Publishing, diagnosis.Unmounting},
	Offers: []string{"delete-pod"},
	Asks:   diagnosis.EachPlace,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if !pl.Volume.Block() || pl.Volume.PVName() == "" {
			return nil
		}
		victim, attached := mounts.VictimOf(pl), mounts.Attached(pl)
		if victim == nil || attached.No() {
			return nil
		}
		whole := pl.Tables(probes.Mounts, probes.KubeletDirs)
		out := []*diagnosis.Proof{diagnosis.Rest(whole)}
		l, ok := mounts.BlockListOf(pl)
		if !ok {
			return out
		}
		points, uids := mounts.Points(l.Strays())
		p := &diagnosis.Proof{
			Subject: mounts.Subject(pl.Volume), Says: "waits",
			With:  words.Fields{"node": pl.Node, "volume": volume.Name(pl.Volume), "wrong": l.Wrong(string(victim.UID)), "pod": pods.Name(victim), "device": "", "uids": strings.Join(uids, ", ")},
			State: []evidence.Answer{l.Lost(string(victim.UID))}, Last: []evidence.Answer{attached, pl.Consumers().Nothing(), whole.Nothing()},
		}
		if d, ok := pl.X.DeviceOn(pl.Volume, pl.Node); ok && d.Block != nil {
			p.With["device"] = mounts.Title(pl.View, d.Dev)
		}
		p.Users(pl.Volume.LiveConsumersOn(pl.Node)...)
		list := ""
		if len(points) > 0 {
			list = " (" + strings.Join(points, ", ") + ")"
		}
		p.Steps = []remedy.Step{remedy.Words("On node " + pl.Node + " unmount only entries of pod UIDs that do not exist any more" + list + "; leave those of living pods alone.")}
		if victim.DeletionTimestamp != nil {
			p.Says = "ends"
		} else {
			p.Steps = append(p.Steps, remedy.DeletePod(victim).Note("No container of it runs, so nothing writes; a new pod makes the kubelet stage the volume again."))
		}
		if pl.Volume.IsLonghorn() {
			p.Steps = append(p.Steps, remedy.Words("Longhorn 1.6.1 and later stage such a volume again by themselves."))
		}
		return append(out, p)
	},
}
