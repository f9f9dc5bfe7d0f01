package longhorn

import (
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// VolumeFaulted finds a volume without a usable replica.
var VolumeFaulted = &diagnosis.Rule{
	Name: "longhorn-volume-faulted", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Attaching, diagnosis.Serving, diagnosis.Using, diagnosis.Unmounting},
	LeadsTo:  []string{"longhorn-remount-pending", "longhorn-share-manager-down", "mount-of-dead-device"},
	YieldsTo: []string{"longhorn-restore-stalled", "longhorn-disk-full", "longhorn-disk-unusable"},
	Offers:   []string{"fsck"},
	Asks:     diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		v := pl.Volume.LH()
		if v == nil {
			return nil
		}
		faulted := lh.Faulted(pl.Volume)
		if faulted.No() {
			return nil
		}
		down, silent := lh.NodesDown(pl.X, pl.Volume)
		first := "Cure the disks, nodes and network of the replicas first, and keep a copy of the replica directories where they may differ."
		if len(down) > 0 {
			first = "Bring the nodes of the replicas back first (" + words.List(down, 3) + "): their data lies there, and Longhorn may take it as it is. Delete neither these nodes nor the replicas on them."
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.ObjectSubject("Volume", v.Namespace, v.Name), Says: "failed", State: []evidence.Answer{faulted.With(lh.EngineSaid(pl.X, pl.Volume)...).With(lh.SalvageOff(pl.X)...).With(silent...)},
			With: words.Fields{"volume": v.Name, "failed": "", "all": words.Count(len(pl.Volume.Longhorn.Replicas), "replica"), "first": "", "last": "",
				"salvage": lh.WhyNoSalvage(pl.X, pl.Volume), "left": "", "alone": "", "once": "", "engine": lh.EngineWords(pl.X, pl.Volume), "down": words.List(down, 3), "backup": v.Status.LastBackup},
			LookAlikes: []diagnosis.LookAlike{{Cause: "an engine that died over a living replica", Is: lh.EngineDied(pl.X, pl.Volume)}},
			Steps: []remedy.Step{
				remedy.Words(first),
				remedy.Words("Scale the workload to 0, then salvage the volume in the Longhorn UI, choosing the replica with the newest healthyAt and failedAt, or restore a backup. Delete no replica before that. A check of the filesystem comes after the salvage, while nothing has it mounted."),
			},
		}
		if failed := lh.Failures(pl.Volume); len(failed) > 0 {
			p.With["failed"], p.With["first"], p.With["last"] = fmt.Sprint(len(failed)), failed[0], failed[len(failed)-1]
			if failed[0] == failed[len(failed)-1] {
				p.With["alone"], p.With["once"], p.With["failed"] = fmt.Sprintf("%d of %s", len(failed), p.With["all"]), failed[0], ""
			}
		}
		if len(pl.Volume.Longhorn.Replicas) == 0 && lh.Read(pl.X, "replicas").Complete() {
			left := lh.LeftDirectories(pl.X, pl.Volume)
			p.Says, p.With["left"] = "none", words.List(left, 3)
			p.Steps = []remedy.Step{remedy.Words("Nothing is there to salvage. Restore the newest backup into a new volume.")}
			if len(left) > 0 {
				p.Steps = []remedy.Step{remedy.Words("Keep the directory of the replica (" + words.List(left, 3) + "): its data can be exported from it (Longhorn documentation, \"Exporting a volume from a single replica\"), and its Orphan must not be deleted before."),
					remedy.Words("Or restore the newest backup into a new volume.")}
			}
		}
		return []*diagnosis.Proof{p}
	},
}
