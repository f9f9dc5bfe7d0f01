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

//go:embed longhorn_engine_orphaned.md
var longhornEngineOrphanedDoc string

// EngineOrphaned finds an engine process that outlives the attachment of its volume.
var EngineOrphaned = &diagnosis.Rule{
	Name: "longhorn-engine-orphaned", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("longhorn.io/volumes"), diagnosis.API("longhorn.io/engines"), diagnosis.API("longhorn.io/instancemanagers")},
	Explains: []string{"attach-failed", "volume-attach-loop", "detach-stuck", "pod-waiting-for-volume"},
	LeadsTo:  []string{"device-mapped-on-other-node"},
	Offers:   []string{"delete-instance-manager"},
	Doc:      longhornEngineOrphanedDoc,
	Run: func(p *diagnosis.Pass) {
		if !p.Has("longhorn.io/engines") {
			return
		}
		for _, im := range p.Cluster.Longhorn.InstanceManagers {
			for i := range im.Engines {
				// The list of an instance-manager that does not answer is an old one.
				if im.Engines[i].State == "running" && im.CurrentState == "running" && nodeWorks(p, im.NodeID) {
					engineProcess(p, im, im.Engines[i].Name)
				}
			}
		}
	},
}

// volumeOfEngine cuts the number off an engine's name: "<volume>-e-<suffix>".
func volumeOfEngine(engine string) string {
	if i := strings.LastIndex(engine, "-e-"); i > 0 {
		return engine[:i]
	}
	return ""
}

func engineProcess(p *diagnosis.Pass, im *snapshot.LHInstanceManager, name string) {
	v := p.VolumeOfLonghorn(volumeOfEngine(name))
	if asked := p.Sweep() && slices.Contains(p.Nodes(), im.NodeID); !asked && (v == nil || !p.InScope(v)) {
		return
	}
	why, subject := orphaned(p, im, v, name)
	if why == "" {
		return
	}
	orphan := orphanRecord(p, im, name)
	c := report.Certain
	if !longEnough(p, v, orphan) {
		c = report.Likely
	}
	f := p.Find(c, subject).On(v).Located(im.NodeID)
	f.Object("im", im.Name)
	f.Sayf("The engine process %s still runs in instance-manager %s on node %s, but %s. It outlives its attachment and keeps the volume's target and disk on that node.",
		name, im.Name, im.NodeID, why)
	f.Fact(diagnosis.FromAPI("InstanceManager "+im.Name, "status.instanceEngines["+name+"].status.state", "running"))
	if orphan != nil {
		f.Fact(diagnosis.FromAPI("Orphan "+orphan.Name, "spec.orphanType", orphan.Type+" on node "+orphan.NodeID))
	}
	if c == report.Likely {
		f.NotConfirmed = append(f.NotConfirmed, "that the volume has been detached for more than two minutes")
	}
	if lh := v.LH(); lh != nil && lh.Status.State == "attached" && !p.Suffers(v, "attach-failed", "volume-attach-loop") {
		f.Severity, f.Explains = report.Degraded, []string{"detach-stuck"} // nobody waits for it
	}
	f.Unless("a running Engine object for that process on that node")
	adviseOrphan(p, f, v, im, name, orphan)
	p.Report(f)
}

// orphaned tells why nothing wants the process any more, and what to call it.
func orphaned(p *diagnosis.Pass, im *snapshot.LHInstanceManager, v *snapshot.Volume, name string) (string, report.Subject) {
	var e *snapshot.LHEngine
	for _, x := range p.Cluster.Longhorn.Engines {
		if x.Name == name {
			e = x
		}
	}
	if e == nil {
		why := "no Engine object of that name exists"
		if v == nil {
			why += ", and no volume either"
		}
		if lh := v.LH(); lh != nil && lh.Status.State != "detached" && lh.Status.CurrentNodeID == im.NodeID {
			return "", report.Subject{} // the volume is or will be there: a change of engines
		}
		return why, diagnosis.ObjectSubject("InstanceManager", im.Namespace, im.Name)
	}
	subject := diagnosis.ObjectSubject("Engine", e.Namespace, e.Name)
	lh := v.LH()
	if lh == nil || e.DesireState != "stopped" || e.CurrentState != "stopped" {
		return "", subject
	}
	switch {
	case lh.Status.State == "detached":
		return "its Engine object is stopped and the volume is detached", subject
	case lh.Status.State == "attached" && lh.Status.CurrentNodeID != im.NodeID:
		return "its Engine object is stopped and the volume is attached to node " + lh.Status.CurrentNodeID, subject
	case lh.Status.State == "attaching" && lh.NodeID != "" && lh.NodeID != im.NodeID:
		return "its Engine object is stopped and the volume is wanted on node " + lh.NodeID, subject
	}
	return "", subject // a detach in progress
}

// orphanRecord is the Orphan object that Longhorn 1.9 and later makes of such a process.
func orphanRecord(p *diagnosis.Pass, im *snapshot.LHInstanceManager, name string) *snapshot.LHOrphan {
	for _, o := range p.Cluster.Longhorn.Orphans {
		if strings.Contains(o.Type, "engine") && (o.NodeID == "" || o.NodeID == im.NodeID) {
			for _, value := range o.Parameters {
				if value == name {
					return o
				}
			}
		}
	}
	return nil
}

// longEnough tells whether the process has been left alone for over two minutes, by
// the age of its Orphan, the volume's last detach, or how long it is wanted elsewhere.
func longEnough(p *diagnosis.Pass, v *snapshot.Volume, o *snapshot.LHOrphan) bool {
	const tolerated = 2 * time.Minute
	if o != nil && p.Age(o.CreationTimestamp.Time) > tolerated {
		return true
	}
	lh := v.LH()
	if lh == nil {
		return false // nothing dates the end of the volume
	}
	var last time.Time
	for _, e := range p.Events("Volume", lh.Namespace, lh.Name) {
		if (e.Reason == "Detached" || e.Reason == "Attached") && e.Last.After(last) {
			last = e.Last
		}
	}
	if !last.IsZero() {
		return p.Age(last) > tolerated
	}
	if wantedFor(p, v) > tolerated {
		return true
	}
	for _, va := range v.Attachments {
		if va.Status.Attached && va.Spec.NodeName == lh.Status.CurrentNodeID && p.Age(va.CreationTimestamp.Time) > tolerated {
			return true
		}
	}
	return false
}

func adviseOrphan(p *diagnosis.Pass, f *diagnosis.Finding, v *snapshot.Volume, im *snapshot.LHInstanceManager, name string, o *snapshot.LHOrphan) {
	view, ok := p.Probed(im.NodeID)
	if !ok || !view.AllNamespacesRead() {
		how := "end that one process inside the instance-manager pod " + im.Name
		if o != nil {
			how = "delete the Orphan object " + o.Name + ", and Longhorn ends the process"
		}
		f.Advise(remedy.Words("Make sure on node " + im.NodeID + " first that no mount namespace has the disk of its session: the node was not probed completely. Once that is sure, " + how + "."))
		return
	}
	if v != nil {
		if d, found := p.DeviceOn(v, im.NodeID); found && (len(view.Uses(d.Dev)) > 0 || len(view.Openers(d.Dev)) > 0) {
			f.Advise(remedy.Words(fmt.Sprintf("Node %s still mounts or uses %s of that engine: release it first.", im.NodeID, d.Dev)))
			return
		}
	}
	if o != nil {
		f.Advise(remedy.Words("Delete the Orphan object " + o.Name + " in namespace " + o.Namespace + ": Longhorn then ends the process. No mount that was read uses its disk."))
		return
	}
	f.Advise(remedy.Words("End that one process inside the instance-manager pod " + im.Name + " (its command line deletes one process by name). No mount that was read uses its disk."))
	if step := remedy.DeleteInstanceManager(im, name); v != nil {
		f.Advise(step.If(remedy.UnusedOn(v, im.NodeID)))
	}
}
