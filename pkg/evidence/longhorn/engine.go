// Package longhorn answers questions about Longhorn's volumes, engines, replicas and nodes.
package longhorn

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Read says whether objects of Longhorn ("replicas") were read whole.
func Read(x *snapshot.Index, resources ...string) evidence.Reading {
	var out evidence.Reading
	for _, r := range resources {
		out = out.And(evidence.Resource(x, "longhorn.io/"+r))
	}
	return out
}

// IsV2 tells whether a volume has the v2 data engine (SPDK).
func IsV2(v *snapshot.LHVolume) bool { return v != nil && v.DataEngine == "v2" }

// Migrates tells whether a volume is being moved between nodes: then it has two engines.
func Migrates(v *snapshot.LHVolume) bool {
	return v.MigrationNodeID != "" || v.Status.CurrentMigrationNodeID != ""
}

// Degraded asks whether an attached volume has fewer copies than it wants.
func Degraded(v *snapshot.LHVolume) evidence.Answer {
	return evidence.When(v.Status.State == "attached" && v.Status.Robustness == "degraded",
		evidence.FromAPI("Volume "+v.Name, "status", v.Status.State+", "+v.Status.Robustness))
}

// Loose asks whether a replica runs, has an address, and its engine was never told of it.
func Loose(x *snapshot.Index, e *snapshot.LHEngine, r *snapshot.LHReplica) evidence.Answer {
	_, told := e.ReplicaAddressMap[r.Name]
	runs := r.Active && r.FailedAt == "" && r.CurrentState == "running" && r.IP != "" && r.StorageIP != "" && r.Port != 0
	if told || !runs || e.CurrentState != "running" || x.Age(since(x, r)) < 5*time.Minute {
		return evidence.No()
	}
	return evidence.Yes(evidence.FromAPI("Replica "+r.Name, "status", fmt.Sprintf("running at %s:%d", r.StorageIP, r.Port)),
		evidence.FromAPI("Engine "+e.Name, "spec.replicaAddressMap", strings.Join(slices.Sorted(maps.Keys(e.ReplicaAddressMap)), " ")))
}

// since is when a replica can have begun to run: its own creation or the start of its
// instance-manager, whichever is later.
func since(x *snapshot.Index, r *snapshot.LHReplica) time.Time {
	at := r.CreationTimestamp.Time
	for _, im := range x.InstanceManagersOn(r.NodeID) {
		if im.Name == r.InstanceManager && im.CreationTimestamp.After(at) {
			at = im.CreationTimestamp.Time
		}
	}
	return at
}

// Sibling finds a copy that could be good and does not run: as long as there is one, the
// controller returns before it writes the engine's map (longhorn-manager:
// openVolumeDependentResources).
func Sibling(v *snapshot.Volume) (name string, a evidence.Answer) {
	for _, r := range v.Longhorn.Replicas {
		if r.Active && r.FailedAt == "" && r.NodeID != "" && r.CurrentState != "running" {
			return r.Name, evidence.Yes(evidence.FromAPI("Replica "+r.Name, "status.currentState", r.CurrentState+" on "+r.NodeID))
		}
	}
	return "", evidence.No()
}

// Ghost finds an entry of the engine's map that has no Replica object and is in error.
func Ghost(x *snapshot.Index, v *snapshot.Volume, e *snapshot.LHEngine) (name string, a evidence.Answer) {
	for _, n := range slices.Sorted(maps.Keys(e.ReplicaAddressMap)) {
		exists := slices.ContainsFunc(v.Longhorn.Replicas, func(r *snapshot.LHReplica) bool { return r.Name == n })
		if !exists && e.ReplicaModes[n] == "ERR" {
			return n, Read(x, "replicas").Nothing(evidence.FromAPI("Engine "+e.Name, "spec.replicaAddressMap", n+", of which no Replica exists"),
				evidence.FromAPI("Engine "+e.Name, "status.replicaModeMap", n+": ERR"))
		}
	}
	return "", evidence.No()
}

// Rebuilds asks whether a rebuild is in progress, or none is allowed by the setting.
func Rebuilds(x *snapshot.Index, e *snapshot.LHEngine) evidence.Answer {
	if limit, ok := x.Setting("concurrent-replica-rebuild-per-node-limit"); ok && strings.TrimSpace(limit) == "0" {
		return evidence.Yes(evidence.FromAPI("Setting concurrent-replica-rebuild-per-node-limit", "value", limit))
	}
	for _, address := range slices.Sorted(maps.Keys(e.Rebuilding)) {
		if e.Rebuilding[address] {
			return evidence.Yes(evidence.FromAPI("Engine "+e.Name, "status.rebuildStatus", address+" is being rebuilt"))
		}
	}
	return Read(x, "settings").Found()
}

// Upgrade is what is left of a live upgrade of an engine.
type Upgrade struct {
	Inactive []*snapshot.LHReplica // the new copies, which take over at the end
	Facts    []report.Evidence
	Begun    time.Time // since when; zero: unknown
}

// UpgradeOf reads the traces of a live upgrade of a v1 volume; none: no facts.
func UpgradeOf(pl *evidence.Place, v *snapshot.LHVolume, e *snapshot.LHEngine) Upgrade {
	var u Upgrade
	for _, r := range pl.Volume.Longhorn.Replicas {
		if !r.Active && r.MigrationEngineRef == "" {
			u.Inactive = append(u.Inactive, r)
			u.Facts = append(u.Facts, evidence.FromAPI("Replica "+r.Name, "spec.active", "false"))
			if r.CreationTimestamp.After(u.Begun) {
				u.Begun = r.CreationTimestamp.Time
			}
		}
	}
	if len(e.UpgradedMap) > 0 {
		u.Facts = append(u.Facts, evidence.FromAPI("Engine "+e.Name, "spec.upgradedReplicaAddressMap", strings.Join(slices.Sorted(maps.Keys(e.UpgradedMap)), " ")))
	}
	if v.Image != "" && v.Status.CurrentImage != "" && v.Image != v.Status.CurrentImage {
		u.Facts = append(u.Facts, evidence.FromAPI("Volume "+v.Name, "spec.image", v.Image), evidence.FromAPI("Volume "+v.Name, "status.currentImage", v.Status.CurrentImage))
	}
	if u.Begun.IsZero() { // a map that was left over is as old as the attachment that it blocks
		for _, va := range pl.Volume.Attachments {
			if va.CreationTimestamp.After(u.Begun) {
				u.Begun = va.CreationTimestamp.Time
			}
		}
	}
	if u.Begun.IsZero() {
		u.Begun = e.CreationTimestamp.Time
	}
	return u
}

// Lasts asks whether traces of an upgrade are over ten minutes old.
func (u Upgrade) Lasts(x *snapshot.Index) evidence.Answer {
	return evidence.When(len(u.Facts) > 0 && !u.Begun.IsZero() && x.Age(u.Begun) > 10*time.Minute, u.Facts...)
}

// Blocks asks whether an engine runs and gives no endpoint because its status is not
// refreshed: the monitor leaves out engines with an upgrade under way
// (longhorn-manager: controller/engine_controller.go).
func (u Upgrade) Blocks(e *snapshot.LHEngine) evidence.Answer {
	skipped := len(e.UpgradedMap) > 0 || e.CurrentImage != "" && e.CurrentImage != e.Image
	blind := skipped && e.CurrentState == "running" && e.Endpoint == "" && e.Frontend != "" && !e.DisableFrontend
	return evidence.When(blind, evidence.FromAPI("Engine "+e.Name, "status.currentState", e.CurrentState), evidence.FromAPI("Engine "+e.Name, "status.endpoint", "empty"))
}

// TooMany asks whether more copies are active than the volume wants: then an upgrade
// never ends (issue 11825).
func (u Upgrade) TooMany(v *snapshot.Volume) evidence.Answer {
	n := len(evidence.Keep(v.Longhorn.Replicas, func(r *snapshot.LHReplica) bool { return r.Active }))
	want := v.LH().NumberOfReplicas
	return evidence.When(want > 0 && n > want, evidence.FromAPI("Volume "+v.LH().Name, "spec.numberOfReplicas", fmt.Sprintf("%d, active are %d", want, n)))
}

// TwinDown asks whether one of the new copies does not run while the volume is attached.
func (u Upgrade) TwinDown(v *snapshot.LHVolume) evidence.Answer {
	for _, r := range u.Inactive {
		if r.CurrentState != "running" && v.Status.State == "attached" {
			return evidence.Yes(evidence.FromAPI("Replica "+r.Name, "status.currentState", r.CurrentState))
		}
	}
	return evidence.No()
}

// Condition is how Longhorn itself calls the condition of a volume.
func Condition(v *snapshot.LHVolume) string {
	return strings.TrimSpace(v.Status.State + " " + v.Status.Robustness)
}
