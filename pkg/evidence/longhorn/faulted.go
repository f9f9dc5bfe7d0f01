package longhorn

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Faulted asks whether a volume has no usable replica. A restore has none yet; and where
// one runs that was healthy and has not failed since, the engine died and not the data:
// Longhorn attaches the volume again by itself.
func Faulted(v *snapshot.Volume) evidence.Answer {
	lh := v.LH()
	alive := slices.ContainsFunc(v.Longhorn.Replicas, func(r *snapshot.LHReplica) bool {
		return r.CurrentState == "running" && r.FailedAt == "" && r.HealthyAt != ""
	})
	if lh.Status.Robustness != "faulted" || lh.Standby || lh.Status.RestoreRequired || alive || neverPlaced(v) {
		return evidence.No()
	}
	a := evidence.Yes(evidence.FromAPI("Volume "+lh.Name, "status.robustness", "faulted"))
	for _, r := range v.Longhorn.Replicas {
		a = a.With(evidence.FromAPI("Replica "+r.Name, "spec.failedAt", fmt.Sprintf("%s (node %s, healthyAt %s)", OrNone(r.FailedAt), OrNone(r.NodeID), OrNone(r.HealthyAt))))
	}
	return a
}

// neverPlaced tells whether no replica of a volume ever had a place. Longhorn calls such a volume faulted, too, but
// nothing was written to it and nothing can be salvaged: what it lacks is a place (since 1.3 a replica that finds
// none in advance is not even made: "precheck new replica failed").
func neverPlaced(v *snapshot.Volume) bool {
	lh := v.LH()
	scheduled, _ := lh.Status.Conditions.Get("Scheduled")
	return scheduled.Status == "False" && lh.Status.ActualSize == 0 && lh.Status.LastDegradedAt == "" &&
		!slices.ContainsFunc(v.Longhorn.Replicas, func(r *snapshot.LHReplica) bool { return r.NodeID != "" || r.FailedAt != "" || r.HealthyAt != "" })
}

// EngineDied asks whether a volume may be called faulted only because its engine died:
// with replicas that are well Longhorn says so until the volume is detached, and takes it
// back then (longhorn-manager, controller/volume_controller.go, auto-salvage). Replicas
// that were read tell it at any time (Faulted).
func EngineDied(x *snapshot.Index, v *snapshot.Volume) evidence.Answer {
	replicas := Read(x, "replicas")
	if lh := v.LH(); !replicas.Complete() && lh.Status.State == "detached" {
		return evidence.No(evidence.FromAPI("Volume "+lh.Name, "status.state", lh.Status.State))
	}
	return evidence.Not(replicas.Nothing())
}

// Failures are the times at which replicas of a volume failed, the oldest first.
func Failures(v *snapshot.Volume) []string {
	return slices.Sorted(slices.Values(evidence.Each(FailedReplicas(v), func(r *snapshot.LHReplica) string { return r.FailedAt })))
}

// LeftDirectories are the directories of replicas that nobody has a Replica object for:
// Longhorn's Orphans, and what probed nodes show below the disks. A directory is named
// "<volume>-<random>".
func LeftDirectories(x *snapshot.Index, v *snapshot.Volume) []string {
	name := v.LH().Name + "-"
	var out []string
	for _, o := range x.Cluster.Longhorn.Orphans {
		for _, value := range o.Parameters {
			if strings.HasPrefix(value, name) && !strings.Contains(o.Type, "engine") {
				out = append(out, value+" on node "+o.NodeID+" (Orphan "+o.Name+")")
			}
		}
	}
	for _, n := range x.Cluster.Longhorn.Nodes {
		view := x.View(n.Name)
		for i := range n.Disks {
			below := strings.Trim(n.Disks[i].Path, "/") + "/replicas/"
			if view == nil {
				break
			}
			for file := range view.Facts.Files {
				rest, ok := strings.CutPrefix(file, below)
				dir, _, _ := strings.Cut(rest, "/")
				if at := dir + " on node " + n.Name; ok && strings.HasPrefix(dir, name) && !slices.Contains(out, at) {
					out = append(out, at)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// SalvageOff quotes the setting that keeps Longhorn from salvaging, if it does.
func SalvageOff(x *snapshot.Index) []report.Evidence {
	if s, ok := settingFor(x, "auto-salvage", "v1"); ok && s == "false" {
		return []report.Evidence{evidence.FromAPI("Setting auto-salvage", "value", s)}
	}
	return nil
}

// NodesDown are the nodes of a volume's replicas that are not ready or gone, in words, with the
// conditions that say so: a replica there may be as good as it was.
func NodesDown(x *snapshot.Index, v *snapshot.Volume) (words []string, facts []report.Evidence) {
	for _, r := range v.Longhorn.Replicas {
		if text := nodeDown(x, r.NodeID); text != "" && !slices.Contains(words, r.NodeID) {
			words = append(words, r.NodeID)
			facts = append(facts, evidence.FromAPI("Node "+r.NodeID, "status.conditions[Ready]", text))
		}
	}
	return words, facts
}

// WhyNoSalvage says why Longhorn did not salvage by itself: it takes only replicas that
// were healthy once, whose node is up and disk schedulable, and that failed within a
// minute of the newest failure.
func WhyNoSalvage(x *snapshot.Index, v *snapshot.Volume) string {
	if len(SalvageOff(x)) > 0 {
		return "Automatic salvage is switched off."
	}
	var why []string
	failed := Failures(v)
	for _, r := range v.Longhorn.Replicas {
		reason := unsalvageable(x, r, failed)
		if reason == "" {
			return "At least one replica meets the conditions of automatic salvage; why it did not act is open."
		}
		why = append(why, r.Name+": "+reason)
	}
	if len(why) == 0 {
		return ""
	}
	return "Automatic salvage takes none of them: " + strings.Join(why, "; ") + "."
}

func unsalvageable(x *snapshot.Index, r *snapshot.LHReplica, failed []string) string {
	if r.HealthyAt == "" && r.LastHealthyAt == "" {
		return "it was never healthy"
	}
	switch nodeDown(x, r.NodeID) {
	case "no such Node":
		return "node " + r.NodeID + " is gone from the cluster"
	case "not True":
		return "node " + r.NodeID + " is not ready"
	}
	if n := x.LHNode(r.NodeID); n != nil {
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
			return "it failed " + evidence.Duration(newest.Sub(at)) + " before the newest one"
		}
	}
	return ""
}
