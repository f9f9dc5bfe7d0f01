package longhorn

import (
	"fmt"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// ended tells whether a state is that of a process that does not run any more.
func ended(state string) bool { return state == "stopped" || state == "error" }

// process finds the record of an instance in a list of an instance-manager.
func process(list []snapshot.LHProcess, name string) *snapshot.LHProcess {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// Others counts the instances of an instance-manager besides one of a name.
func Others(im *snapshot.LHInstanceManager, besides string) int {
	return len(evidence.Keep(im.Instances(), func(r snapshot.LHProcess) bool { return r.Name != besides }))
}

// Forgotten asks whether an engine that shall run, and names no instance-manager, is still
// listed by the one of its node as a process that ended.
func Forgotten(x *snapshot.Index, e *snapshot.LHEngine) (im *snapshot.LHInstanceManager, state string, a evidence.Answer) {
	if e.DesireState != "running" || e.InstanceManager != "" || !ended(e.CurrentState) {
		return nil, "", evidence.No()
	}
	for _, m := range x.InstanceManagersOn(e.NodeID) {
		if r := process(m.Engines, e.Name); r != nil && ended(r.State) {
			return m, r.State, evidence.Yes(evidence.FromAPI("InstanceManager "+m.Name, "status.instanceEngines["+e.Name+"].status.state", r.State),
				evidence.FromAPI("Engine "+e.Name, "status.currentState", fmt.Sprintf("%s (desired running, instanceManagerName empty)", e.CurrentState)))
		}
	}
	return nil, "", evidence.Not(Read(x, "instancemanagers").Nothing())
}

// Attaching asks whether a volume that somebody wants has been attaching for longer than
// that takes.
func Attaching(x *snapshot.Index, v *snapshot.Volume) evidence.Answer {
	lh := v.LH()
	return evidence.When(lh.Status.State == "attaching" && WantedFor(x, v) >= patience, evidence.FromAPI("Volume "+lh.Name, "status.state", lh.Status.State))
}

// Tried asks whether Longhorn starts an instance again and again: its condition says that
// the start fails, or events tell of starts in the last minutes.
func Tried(x *snapshot.Index, kind, namespace, name string, conditions snapshot.Conditions) evidence.Answer {
	if c, ok := conditions.Get("InstanceCreation"); ok && c.Status == "False" {
		return evidence.Yes(evidence.FromAPI(kind+" "+name, "status.conditions[InstanceCreation]", "False "+c.Message))
	}
	var starts []report.Evidence
	for _, e := range x.Events(kind, namespace, name) {
		if (e.Reason == "FailedStarting" || e.Reason == "Start") && x.Age(e.Last) < 5*time.Minute {
			starts = append(starts, evidence.FromEvent(kind+" "+name, e))
		}
	}
	return evidence.ResourceIn(x, "/events", namespace).Found(starts...)
}
