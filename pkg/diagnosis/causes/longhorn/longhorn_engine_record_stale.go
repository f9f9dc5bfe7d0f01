package longhorn

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed longhorn_engine_record_stale.md
var longhornEngineRecordStaleDoc string

// EngineRecordStale finds an engine that is never started because its instance-manager
// still keeps the record of an ended process under its name.
var EngineRecordStale = &diagnosis.Rule{
	Name: "longhorn-engine-record-stale", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("longhorn.io/volumes"), diagnosis.API("longhorn.io/engines"), diagnosis.API("longhorn.io/instancemanagers")},
	Explains: []string{"attach-failed", "pod-waiting-for-volume", "share-manager-failing"},
	LeadsTo:  []string{"longhorn-share-manager-down"},
	YieldsTo: []string{"longhorn-engine-upgrade-stuck", "longhorn-v2-engine-stuck", "longhorn-instance-manager-stuck"},
	Offers:   []string{"delete-instance-manager"},
	Doc:      longhornEngineRecordStaleDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			lh := volumeOf(v)
			if lh == nil || lh.Status.State != "attaching" || wantedFor(p, v) < patience {
				continue
			}
			for _, e := range v.Longhorn.Engines {
				if e.DesireState == "running" && e.InstanceManager == "" && ended(e.CurrentState) && !triedLately(p, e) {
					engineRecord(p, v, e)
				}
			}
		}
	},
}

// ended tells whether a state is that of a process that does not run any more.
func ended(state string) bool { return state == "stopped" || state == "error" }

// triedLately tells whether Longhorn starts the engine again and again: then it is
// not the record that keeps it from trying.
func triedLately(p *diagnosis.Pass, e *snapshot.LHEngine) bool {
	if c, ok := e.Conditions.Get("InstanceCreation"); ok && c.Status == "False" {
		return true
	}
	for _, ev := range p.Events("Engine", e.Namespace, e.Name) {
		if (ev.Reason == "FailedStarting" || ev.Reason == "Start") && p.Age(ev.Last) < 5*time.Minute {
			return true
		}
	}
	return false
}

func engineRecord(p *diagnosis.Pass, v *snapshot.Volume, e *snapshot.LHEngine) {
	for _, im := range p.InstanceManagersOn(e.NodeID) {
		r := processNamed(im.Engines, e.Name)
		if r == nil || !ended(r.State) {
			continue
		}
		f := p.Find(report.Certain, diagnosis.ObjectSubject("Engine", e.Namespace, e.Name)).On(v).Located(e.NodeID)
		f.Object("im", im.Name)
		f.Sayf("The instance-manager %s on node %s still lists engine %s as %s. Longhorn takes that record for the engine's process and so never starts a new one: the Engine wants to run, is %s, and names no instance-manager, while the volume has been attaching for %s.",
			im.Name, e.NodeID, e.Name, r.State, e.CurrentState, diagnosis.Duration(wantedFor(p, v)))
		f.Fact(
			diagnosis.FromAPI("InstanceManager "+im.Name, "status.instanceEngines["+e.Name+"].status.state", r.State),
			diagnosis.FromAPI("Engine "+e.Name, "status.currentState", fmt.Sprintf("%s (desired running, instanceManagerName empty)", e.CurrentState)),
			diagnosis.FromAPI("Volume "+v.LH().Name, "status.state", v.LH().Status.State),
		)
		f.Unless("an instance-manager without a record of that engine")
		adviseRecord(f, im, e.Name)
		p.Report(f)
		return
	}
}

func processNamed(list []snapshot.LHProcess, name string) *snapshot.LHProcess {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// others counts the processes of an instance-manager besides one of a name.
func others(im *snapshot.LHInstanceManager, name string) int {
	n := 0
	for _, list := range [][]snapshot.LHProcess{im.Engines, im.Replicas} {
		for _, r := range list {
			if r.Name != name {
				n++
			}
		}
	}
	return n
}

func adviseRecord(f *diagnosis.Finding, im *snapshot.LHInstanceManager, engine string) {
	f.Advise(remedy.Words("Remove only the ended process record of " + engine + " inside the instance-manager pod " + im.Name + " (its own command line can delete one process by name), or upgrade Longhorn. Verify: the record is gone, the engine starts, the volume attaches."))
	if n := others(im, engine); n > 0 {
		f.Advise(remedy.Words(fmt.Sprintf("Leave the instance-manager itself alone: it runs %d other engines and replicas, which would end with it.", n)))
		return
	}
	f.Advise(remedy.DeleteInstanceManager(im, engine))
}
