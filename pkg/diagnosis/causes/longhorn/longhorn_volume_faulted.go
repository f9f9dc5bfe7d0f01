package longhorn

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed longhorn_volume_faulted.md
var longhornVolumeFaultedDoc string

// VolumeFaulted finds a volume without a usable replica.
var VolumeFaulted = &diagnosis.Rule{
	Name: "longhorn-volume-faulted", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("longhorn.io/volumes"), diagnosis.API("longhorn.io/replicas")},
	Explains: []string{"attach-failed", "volume-attach-loop", "pod-waiting-for-volume", "volume-io-error", "share-manager-failing", "pod-stuck-terminating"},
	LeadsTo:  []string{"longhorn-remount-pending", "longhorn-share-manager-down", "mount-of-dead-device"},
	YieldsTo: []string{"longhorn-restore-stalled", "longhorn-disk-full", "longhorn-disk-unusable"},
	Offers:   []string{"fsck"},
	Doc:      longhornVolumeFaultedDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if lh := volumeOf(v); lh != nil && lh.Status.Robustness == "faulted" && !lh.Standby && !lh.Status.RestoreRequired && !replicaAlive(v) {
				faulted(p, v, lh)
			}
		}
	},
}

// replicaAlive tells whether a replica runs that was healthy and has not failed since:
// then the engine died, not the data, and Longhorn attaches the volume again by itself.
func replicaAlive(v *snapshot.Volume) bool {
	return slices.ContainsFunc(v.Longhorn.Replicas, func(r *snapshot.LHReplica) bool {
		return r.CurrentState == "running" && r.FailedAt == "" && r.HealthyAt != ""
	})
}

func faulted(p *diagnosis.Pass, v *snapshot.Volume, lh *snapshot.LHVolume) {
	f := p.Find(report.Certain, diagnosis.ObjectSubject("Volume", lh.Namespace, lh.Name)).On(v)
	f.Fact(diagnosis.FromAPI("Volume "+lh.Name, "status.robustness", "faulted"))
	var failed []string
	for _, r := range v.Longhorn.Replicas {
		if r.FailedAt != "" {
			failed = append(failed, r.FailedAt)
		}
		f.Fact(diagnosis.FromAPI("Replica "+r.Name, "spec.failedAt", fmt.Sprintf("%s (node %s, healthyAt %s)", none(r.FailedAt), none(r.NodeID), none(r.HealthyAt))))
	}
	slices.Sort(failed)
	when := ""
	if len(failed) > 0 {
		when = fmt.Sprintf(" %d of %d replicas failed between %s and %s.", len(failed), len(v.Longhorn.Replicas), failed[0], failed[len(failed)-1])
	}
	f.Sayf("Longhorn volume %s is faulted: no usable replica is left.%s %s", lh.Name, when, whyNoSalvage(p, v, failed))
	for _, r := range v.Longhorn.Replicas {
		if r.NodeID != "" && p.View(r.NodeID) == nil {
			p.Miss("node/"+r.NodeID, r.NodeID) // its disk may be the reason; that the volume is faulted is proven
		}
	}
	f.Unless("a robustness other than faulted")
	f.Advise(
		remedy.Words("Cure the disks, nodes and network of the replicas first, and keep a copy of the replica directories where they may differ."),
		remedy.Words("Scale the workload to 0, then salvage the volume in the Longhorn UI, choosing the replica with the newest healthyAt and failedAt, or restore a backup. Delete no replica before that. A check of the filesystem comes after the salvage, while nothing has it mounted."),
	)
	p.Report(f)
}

// whyNoSalvage says why Longhorn did not salvage by itself: it takes only replicas
// that were healthy once, whose node is up and disk schedulable, and that failed
// within a minute of the newest failure.
func whyNoSalvage(p *diagnosis.Pass, v *snapshot.Volume, failed []string) string {
	if settingIs(p, "auto-salvage", "false") {
		return "Automatic salvage is switched off."
	}
	var why []string
	usable := false
	for _, r := range v.Longhorn.Replicas {
		switch reason := unsalvageable(p, r, failed); {
		case reason != "":
			why = append(why, r.Name+": "+reason)
		default:
			usable = true
		}
	}
	if len(v.Longhorn.Replicas) == 0 {
		return "It has no replicas at all."
	}
	if usable {
		return "At least one replica meets the conditions of automatic salvage; why it did not act is open."
	}
	return "Automatic salvage takes none of them: " + strings.Join(why, "; ") + "."
}

func unsalvageable(p *diagnosis.Pass, r *snapshot.LHReplica, failed []string) string {
	if r.HealthyAt == "" && r.LastHealthyAt == "" {
		return "it was never healthy"
	}
	if ready := p.NodeReady(r.NodeID); ready.Known && (!ready.Exists || !ready.Ready) {
		return "node " + r.NodeID + " is not ready"
	}
	if n := p.LHNode(r.NodeID); n != nil {
		for _, d := range n.Disks {
			if c, ok := d.Conditions.Get("Schedulable"); ok && d.UUID == r.DiskID && c.Status == "False" {
				return "its disk on " + r.NodeID + " is not schedulable (" + c.Reason + ")"
			}
		}
	}
	if len(failed) > 0 {
		newest, err1 := time.Parse(time.RFC3339, failed[len(failed)-1])
		at, err2 := time.Parse(time.RFC3339, r.FailedAt)
		if err1 == nil && err2 == nil && newest.Sub(at) > time.Minute {
			return "it failed " + newest.Sub(at).Round(time.Second).String() + " before the newest one"
		}
	}
	return ""
}

func none(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
