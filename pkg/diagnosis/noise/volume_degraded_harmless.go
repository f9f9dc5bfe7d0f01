package noise

import (
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// volumeDegradedHarmless: a volume has lost a replica and works with the others.
var volumeDegradedHarmless = &diagnosis.NoiseRule{Name: "volume-degraded-harmless", Run: func(p *diagnosis.Pass) {
	for _, v := range p.Volumes() {
		lh := v.LH()
		if lh == nil || lh.Status.Robustness != "degraded" && !unscheduled(lh) || lh.Status.Robustness == "faulted" || lh.Status.State != "attached" || needsAll(lh) || len(v.Waiting()) > 0 || longhorn.RebuildsFail(p.Index, v).Yes() {
			continue
		}
		e := p.EngineActive(v)
		if e == nil {
			continue
		}
		working := 0
		for _, mode := range e.ReplicaModes {
			if mode == "RW" {
				working++
			}
		}
		if working == 0 {
			continue
		}
		p.AddNoise(diagnosis.ObjectSubject("Volume", lh.Namespace, lh.Name),
			fmt.Sprintf("Longhorn volume %s %s: %d of %d replicas work.", lh.Name, state(lh), working, lh.NumberOfReplicas),
			"reading and writing go on with the remaining replicas, and no mount depends on the missing one")
	}
}}

// unscheduled tells whether a replica found no disk.
func unscheduled(lh *snapshot.LHVolume) bool {
	c, ok := lh.Status.Conditions.Get("Scheduled")
	return ok && c.Status == "False"
}

func state(lh *snapshot.LHVolume) string {
	if lh.Status.Robustness == "degraded" {
		return "is degraded"
	}
	return "has a replica that no disk takes (Scheduled False)"
}

// needsAll tells whether something depends on every replica: a live migration, a
// replica that must be local, the v2 data engine at attach.
func needsAll(lh *snapshot.LHVolume) bool {
	return lh.MigrationNodeID != "" || lh.Status.CurrentMigrationNodeID != "" || lh.DataLocality == "strict-local"
}
