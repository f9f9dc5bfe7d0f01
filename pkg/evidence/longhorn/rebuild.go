package longhorn

import (
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// RebuildsFail asks whether Longhorn tries to replace a missing replica and fails each time: the
// volume does not become whole by itself. One or two failures are followed by a success.
func RebuildsFail(x *snapshot.Index, v *snapshot.Volume) evidence.Answer {
	const often = 3
	if v.LH() == nil || v.LH().Status.State != "attached" || v.LH().Status.Robustness != "degraded" {
		return evidence.No()
	}
	var facts []report.Evidence
	times := 0
	for _, e := range v.Longhorn.Engines {
		for _, ev := range x.Events("Engine", e.Namespace, e.Name) {
			if ev.Reason == "FailedRebuilding" && x.Age(ev.Last) < freshFor {
				times += max(1, ev.Count)
				facts = append(facts, evidence.FromEvent("Engine "+e.Name, ev))
			}
		}
	}
	for _, r := range v.Longhorn.Replicas {
		if rebuildFailed(r) && r.HealthyAt == "" && r.RebuildRetries > 0 {
			times = max(times, int(r.RebuildRetries))
			c, _ := r.Conditions.Get("RebuildFailed")
			facts = append(facts, evidence.FromAPI("Replica "+r.Name, "status.conditions[RebuildFailed]", fmt.Sprintf("%s, spec.rebuildRetryCount %d", c.Message, r.RebuildRetries)))
		}
	}
	return evidence.When(times >= often, facts...)
}
