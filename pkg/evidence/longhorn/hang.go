package longhorn

import (
	"fmt"
	"slices"
	"strings"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// listTimeout is a list of instances that was not got: "failed to list processes", of a later release "instances"
// (longhorn-instance-manager: pkg/client/process_manager.go, instance.go).
var listTimeout = pattern.MustCompile(`(?i)(ProcessList|InstanceList|process list|list processes|list instances).*(DeadlineExceeded|deadline exceeded|timed? ?out|Unavailable)`)

// quoted is how many stuck volumes a report quotes.
const quoted = 5

// Hang is what shows that an instance-manager does not act any more.
type Hang struct {
	Manager   *snapshot.LHInstanceManager
	Stuck     int      // volumes of the cluster
	Traces    []string // signs besides the objects, as sentences
	unchanged int      // volumes whose record contradicts what is wanted
	facts     []report.Evidence
}

// HangsOf are the instance-managers on which the place's volume is stuck.
func HangsOf(pl *evidence.Place) []Hang {
	var out []Hang
	if pl.Volume.LH() == nil || !moving(pl.X, pl.Volume) {
		return nil
	}
	for _, im := range pl.X.Cluster.Longhorn.InstanceManagers {
		if im.CurrentState != "running" || !nodeWorks(pl.X, im.NodeID) {
			continue
		}
		h := Hang{Manager: im}
		if !h.holds(pl.X, pl.Volume) {
			continue
		}
		for _, v := range pl.X.Volumes {
			if v != pl.Volume && v.LH() != nil && moving(pl.X, v) {
				h.holds(pl.X, v)
			}
		}
		h.trace(pl.X)
		out = append(out, h)
	}
	return out
}

// moving tells whether a volume has been on its way for longer than it should.
func moving(x *snapshot.Index, v *snapshot.Volume) bool {
	state := v.LH().Status.State
	return (state == "attaching" || state == "detaching") && WantedFor(x, v) > patience || state == "detaching" && staysAttached(x, v)
}

// staysAttached tells whether an attachment of a volume has been about to go for longer than that takes.
func staysAttached(x *snapshot.Index, v *snapshot.Volume) bool {
	return slices.ContainsFunc(v.Attachments, func(va *storagev1.VolumeAttachment) bool {
		return va.DeletionTimestamp != nil && x.Age(va.DeletionTimestamp.Time) > patience
	})
}

// holds tells whether an instance of a volume stands still in the instance-manager, and
// counts it.
func (h *Hang) holds(x *snapshot.Index, v *snapshot.Volume) bool {
	for _, i := range instances(v) {
		said, contradicts := h.stands(x, v, i)
		if said == "" {
			continue
		}
		h.Stuck++
		if contradicts {
			h.unchanged++
		}
		if h.Stuck <= quoted {
			h.facts = append(h.facts, evidence.FromAPI("InstanceManager "+h.Manager.Name, "status."+i.Kind+"["+i.Name+"]", said))
		}
		return true
	}
	return false
}

// stands compares what an instance should be with its record. Only instances that nothing
// else keeps from starting count: an engine waits for its replicas, and a start that fails
// is no hang.
func (h *Hang) stands(x *snapshot.Index, v *snapshot.Volume, i Instance) (said string, contradicts bool) {
	im := h.Manager
	if i.NodeID != im.NodeID || !i.serves(im) || i.InstanceManager != "" && i.InstanceManager != im.Name {
		return "", false
	}
	r := process(map[string][]snapshot.LHProcess{"engine": im.Engines, "engineFrontend": im.Frontends, "replica": im.Replicas}[i.Kind], i.Name)
	switch {
	case i.DesireState == "stopped" && r != nil && r.State == "running":
		return "running, wanted stopped", true
	case i.DesireState == "running" && r != nil && (r.State == "starting" || r.State == "stopping"):
		return r.State + ", wanted running", true
	case i.DesireState != "running" || i.CurrentState == "running" || r != nil || i.InstanceManager == "":
		return "", false
	}
	if c, ok := i.Conditions.Get("InstanceCreation"); ok && c.Status == "False" || otherwise(x, v, i) {
		return "", false
	}
	return "no process, wanted running", false
}

// otherwise tells whether something else keeps an instance from starting, or may for all
// that was read.
func otherwise(x *snapshot.Index, v *snapshot.Volume, i Instance) bool {
	lh := v.LH()
	whole := Read(x, "replicas", "engines", "engineimages").And(evidence.ResourceIn(x, "/events", x.LonghornNamespace()))
	if WaitsForImage(x, v).Yes() || !whole.Complete() {
		return true
	}
	for _, ei := range x.Cluster.Longhorn.EngineImages {
		if lh.Image != "" && ei.Image == lh.Image && !ei.Deployed[i.NodeID] {
			return true
		}
	}
	if i.Kind == "engine" && slices.ContainsFunc(v.Longhorn.Replicas, func(r *snapshot.LHReplica) bool { return r.FailedAt == "" && r.CurrentState != "running" }) {
		return true
	}
	if i.Kind == "engineFrontend" && !slices.ContainsFunc(v.Longhorn.Engines, func(e *snapshot.LHEngine) bool { return e.CurrentState == "running" }) {
		return true // the initiator starts after its target
	}
	kind := strings.ToUpper(i.Kind[:1]) + i.Kind[1:]
	return slices.ContainsFunc(x.Events(kind, x.LonghornNamespace(), i.Name), func(e *snapshot.Event) bool {
		return e.Reason == "FailedStarting" && x.Age(e.Last) < freshFor
	})
}

// trace looks for signs of the hang: managers whose calls time out, and processes of the
// pod that the kernel does not let go on.
func (h *Hang) trace(x *snapshot.Index) {
	im := h.Manager
	for _, log := range x.Logs {
		if log.Namespace != im.Namespace {
			continue
		}
		if line, ok := logLine(x, log.Namespace, log.Pod, freshFor, h.timesOut); ok {
			h.Traces = append(h.Traces, "Calls of longhorn-manager to it time out.")
			h.facts = append(h.facts, line)
			break
		}
	}
	view, pod := x.View(im.NodeID), x.Pod(im.Namespace, im.Name)
	if view == nil || pod == nil {
		return
	}
	for _, proc := range view.ProcessesOfPod(string(pod.UID)) {
		if proc.State == "D" {
			h.Traces = append(h.Traces, fmt.Sprintf("Process %d (%s) of its pod is in uninterruptible sleep.", proc.PID, proc.Comm))
			h.facts = append(h.facts, evidence.FromNode(im.NodeID, fmt.Sprintf("proc/%d/stat", proc.PID), fmt.Sprintf("%s state D %s", proc.Comm, proc.WChan)))
		}
	}
}

// timesOut recognises a line about a call to the instance-manager that got no answer.
func (h *Hang) timesOut(line string) bool {
	im := h.Manager
	names := strings.Contains(line, im.Name) || im.IP != "" && strings.Contains(line, im.IP) || strings.Contains(line, "node="+im.NodeID)
	return names && listTimeout.MatchString(line)
}

// Hangs asks whether it stands still for more than one volume, or shows it otherwise.
func (h Hang) Hangs() evidence.Answer {
	return evidence.When(h.Stuck >= 2 || len(h.Traces) > 0, h.facts...)
}

// Sure asks whether several volumes and a second sign say so.
func (h Hang) Sure() evidence.Answer {
	if h.Stuck >= 2 && (len(h.Traces) > 0 || h.unchanged >= 2) {
		return evidence.Yes()
	}
	return evidence.Unseen(evidence.Lack{Need: "node/" + h.Manager.NodeID, Node: h.Manager.NodeID, Why: "a second stuck volume whose process list stands still, or a sign of the hang on the node"})
}

// Twins are two instance-managers of one node, image and type: Longhorn wants "the only
// available" one and uses neither.
type Twins struct {
	Surplus, Keep *snapshot.LHInstanceManager
	Waits         Instance // what waits for the only one
	Are           evidence.Answer
}

// TwinsOf finds those for which an instance of the place's volume waits.
func TwinsOf(pl *evidence.Place) []Twins {
	var out []Twins
	for _, i := range instances(pl.Volume) {
		if i.DesireState != "running" || i.CurrentState == "running" || i.NodeID == "" {
			continue
		}
		all := pl.X.InstanceManagersOn(i.NodeID)
		for n, a := range all {
			for _, b := range all[n+1:] {
				if i.serves(a) && a.Type == b.Type && a.Image == b.Image && EngineKind(a.DataEngine) == EngineKind(b.DataEngine) && a.DeletionTimestamp == nil && b.DeletionTimestamp == nil {
					out = append(out, twins(pl, i, a, b))
				}
			}
		}
	}
	return out
}

// twins takes the one with fewer instances, else the younger one, for the surplus one.
func twins(pl *evidence.Place, i Instance, a, b *snapshot.LHInstanceManager) Twins {
	out := Twins{Surplus: a, Keep: b, Waits: i}
	if younger := b.CreationTimestamp.After(a.CreationTimestamp.Time); Others(b, "") < Others(a, "") || Others(a, "") == Others(b, "") && younger {
		out.Surplus, out.Keep = b, a
	}
	spec := func(im *snapshot.LHInstanceManager) report.Evidence {
		return evidence.FromAPI("InstanceManager "+im.Name, "spec", fmt.Sprintf("node %s, type %s, image %s", im.NodeID, im.Type, im.Image))
	}
	said := pl.Texts.Say(func(t evidence.Text) bool { return strings.Contains(t.Raw, "only available instance manager") })
	out.Are = evidence.Yes(spec(out.Surplus), spec(out.Keep)).With(said.Facts()...)
	return out
}
