package longhorn

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// tolerated is how long an engine may outlive its attachment.
const tolerated = 2 * time.Minute

// EngineProcess is an engine that an instance-manager says it runs.
type EngineProcess struct {
	Manager *snapshot.LHInstanceManager
	Name    string
	Volume  string // Longhorn's name of the volume
}

// EngineProcesses are the engines that run at a place: of its volume, or, where the
// place is a node alone, those of volumes that do not exist. The list of an
// instance-manager that does not answer is an old one, and is left out.
func EngineProcesses(pl *evidence.Place) []EngineProcess {
	var out []EngineProcess
	if !nodeWorks(pl.X, pl.Node) {
		return nil
	}
	for _, im := range pl.X.InstanceManagersOn(pl.Node) {
		for _, e := range im.Engines {
			name := snapshot.VolumeOfEngine(e.Name)
			v := pl.X.VolumeOfLonghorn(name)
			if e.State == "running" && im.CurrentState == "running" && v == pl.Volume {
				out = append(out, EngineProcess{im, e.Name, name})
			}
		}
	}
	return out
}

// Runs is the fact that an engine runs.
func (p EngineProcess) Runs() report.Evidence {
	return evidence.FromAPI("InstanceManager "+p.Manager.Name, "status.instanceEngines["+p.Name+"].status.state", "running")
}

// Record is the Engine object of a process, or nil.
func (p EngineProcess) Record(x *snapshot.Index) *snapshot.LHEngine {
	return evidence.First(x.Cluster.Longhorn.Engines, func(e *snapshot.LHEngine) bool { return e.Name == p.Name })
}

// Elsewhere is the instance-manager of another node in which the record of a process runs: a
// node whose kubelet was away keeps the engine that Longhorn called stopped meanwhile
// (longhorn issue 6552).
func (p EngineProcess) Elsewhere(x *snapshot.Index) *snapshot.LHInstanceManager {
	e := p.Record(x)
	if e == nil || e.CurrentState != "running" || e.InstanceManager == p.Manager.Name {
		return nil
	}
	return evidence.First(x.Cluster.Longhorn.InstanceManagers, func(m *snapshot.LHInstanceManager) bool {
		return m.Name == e.InstanceManager && m.NodeID != p.Manager.NodeID
	})
}

// Unwanted asks whether nothing wants an engine's process any more, and says why: its
// record is stopped or gone, or runs elsewhere, and the volume is detached, elsewhere, or gone, too.
func (p EngineProcess) Unwanted(x *snapshot.Index, v *snapshot.Volume) (why string, a evidence.Answer) {
	e, lh := p.Record(x), v.LH()
	if e == nil {
		if lh != nil && lh.Status.State != "detached" && lh.Status.CurrentNodeID == p.Manager.NodeID {
			return "", evidence.No() // the volume is or will be there: a change of engines
		}
		why = "no Engine object of that name exists"
		if v == nil {
			why += ", and no volume either"
		}
		return why, Read(x, "engines", "volumes").Nothing(evidence.FromAPI("Engines", "", "collected; none is named "+p.Name))
	}
	if m := p.Elsewhere(x); m != nil {
		return "its Engine object runs in instance-manager " + m.Name + " on node " + m.NodeID,
			evidence.Yes(evidence.FromAPI("Engine "+e.Name, "status.instanceManagerName", m.Name+" on node "+m.NodeID))
	}
	if lh == nil || e.DesireState != "stopped" || e.CurrentState != "stopped" {
		return "", evidence.No()
	}
	why = "its Engine object is stopped and the volume is "
	switch state := lh.Status.State; {
	case state == "detached":
		why += "detached"
	case state == "attached" && lh.Status.CurrentNodeID != p.Manager.NodeID:
		why += "attached to node " + lh.Status.CurrentNodeID
	case state == "attaching" && lh.NodeID != "" && lh.NodeID != p.Manager.NodeID:
		why += "wanted on node " + lh.NodeID
	default:
		return "", evidence.No() // a detach in progress
	}
	return why, evidence.Yes(evidence.FromAPI("Engine "+e.Name, "status.currentState", "stopped"),
		evidence.FromAPI("Volume "+lh.Name, "status.state", strings.TrimSpace(lh.Status.State+" "+lh.Status.CurrentNodeID)))
}

// Orphan is the object that Longhorn 1.9 and later makes of such a process, or nil.
func (p EngineProcess) Orphan(x *snapshot.Index) *snapshot.LHOrphan {
	return evidence.First(x.Cluster.Longhorn.Orphans, func(o *snapshot.LHOrphan) bool {
		return strings.Contains(o.Type, "engine") && (o.NodeID == "" || o.NodeID == p.Manager.NodeID) && slices.Contains(slices.Collect(maps.Values(o.Parameters)), p.Name)
	})
}

// Left asks whether a process has been left alone for over two minutes: by the age of
// its Orphan, the volume's last detach, or how long it is wanted elsewhere.
func (p EngineProcess) Left(x *snapshot.Index, v *snapshot.Volume) evidence.Answer {
	if o := p.Orphan(x); o != nil && x.Age(o.CreationTimestamp.Time) > tolerated {
		return evidence.Yes(evidence.FromAPI("Orphan "+o.Name, "spec.orphanType", o.Type+" on node "+o.NodeID))
	}
	unknown := evidence.Unseen(evidence.Lack{Need: "api/longhorn.io/volumes", Why: "that the engine has been alone for over two minutes"})
	lh := v.LH()
	if lh == nil {
		return unknown // nothing dates the end of the volume
	}
	var last *snapshot.Event
	for _, e := range x.Events("Volume", lh.Namespace, lh.Name) {
		if (e.Reason == "Detached" || e.Reason == "Attached") && (last == nil || e.Last.After(last.Last)) {
			last = e
		}
	}
	if last != nil {
		if x.Age(last.Last) <= tolerated {
			return unknown
		}
		return evidence.Yes(evidence.FromAPI("Event Volume "+lh.Name, last.Reason, last.Last.UTC().Format(time.RFC3339)))
	}
	if WantedFor(x, v) > tolerated {
		return evidence.Yes()
	}
	for _, va := range v.Attachments {
		if va.Status.Attached && va.Spec.NodeName == lh.Status.CurrentNodeID {
			if x.Age(va.CreationTimestamp.Time) <= tolerated {
				return evidence.No() // it has just moved, and the list follows
			}
			return evidence.Yes(evidence.FromAPI("VolumeAttachment "+va.Name, "metadata.creationTimestamp", va.CreationTimestamp.UTC().Format(time.RFC3339)))
		}
	}
	return unknown
}

// Disk is what an engine's process serves on its node: an iSCSI session and the disk
// of it. Users are those that mount or hold the disk.
type Disk struct {
	Session, Target, Portal, Name string
	Dev                           probes.Dev
	Users                         []string
	Facts                         []report.Evidence
}

// Disk finds the session of a process and its disk, as the node shows them; without one
// only the target is filled in.
func (p EngineProcess) Disk(x *snapshot.Index) Disk {
	out, view := Disk{Target: snapshot.LonghornTarget(p.Volume)}, x.View(p.Manager.NodeID)
	if view == nil {
		return out
	}
	for _, s := range view.SessionsOf(out.Target) {
		for i, name := range s.Disks {
			b := view.ByName(name)
			if b == nil || b.Dev.IsZero() || len(s.Disks) > 1 && i < len(s.HCTLs) && strings.HasSuffix(s.HCTLs[i], ":0") {
				continue // LUN 0 is the controller
			}
			out.Session, out.Name, out.Dev = s.Name, name, b.Dev
			for _, c := range s.Connections {
				out.Portal = c.PersistentAddress + ":" + c.PersistentPort
			}
			out.Facts = append(out.Facts, evidence.FromNode(view.Name, "sys/class/iscsi_session/"+s.Name, fmt.Sprintf("%s, disk %s (%s)", out.Target, name, b.Dev)))
			out.users(view)
			return out
		}
	}
	return out
}

func (d *Disk) users(view *snapshot.NodeView) {
	add := func(who string, fact report.Evidence) {
		if !slices.Contains(d.Users, who) {
			d.Users, d.Facts = append(d.Users, who), append(d.Facts, fact)
		}
	}
	for _, u := range view.Uses(d.Dev) {
		add("the mount at "+u.Mount.Point, evidence.FromMount(view.Name, u.NS, u.Mount))
	}
	for _, o := range view.Openers(d.Dev) {
		add(fmt.Sprintf("process %d (%s)", o.Process.PID, o.Process.Comm), evidence.FromNode(view.Name, o.Descriptor.Path, o.Descriptor.Target))
	}
}

// NoSession asks whether the node has no session to the target of a process.
func NoSession(pl *evidence.Place, d Disk) evidence.Answer {
	if pl.View == nil {
		return evidence.Unseen(pl.Probed().Lacks()...)
	}
	fact := evidence.FromNode(pl.Node, "sys/class/iscsi_session", "none to "+d.Target)
	return evidence.Tables(pl.X, pl.Node, probes.Sessions, probes.Mounts).Nothing(fact)
}
