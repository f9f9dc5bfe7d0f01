package noise

import (
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// volumeDegradedHarmless: a volume has lost a replica and works with the others.
var volumeDegradedHarmless = &diagnosis.NoiseRule{Name: "volume-degraded-harmless", Run: func(p *diagnosis.Pass) {
	for _, v := range p.Volumes() {
		lh := v.LH()
		if lh == nil || lh.Status.Robustness != "degraded" || lh.Status.State != "attached" || needsAll(lh) || len(v.Waiting()) > 0 {
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
			fmt.Sprintf("Longhorn volume %s is degraded: %d of %d replicas work.", lh.Name, working, lh.NumberOfReplicas),
			"reading and writing go on with the remaining replicas, and no mount depends on the missing one")
	}
}}

// needsAll tells whether something depends on every replica: a live migration, a
// replica that must be local, the v2 data engine at attach.
func needsAll(lh *snapshot.LHVolume) bool {
	return lh.MigrationNodeID != "" || lh.Status.CurrentMigrationNodeID != "" || lh.DataLocality == "strict-local"
}
