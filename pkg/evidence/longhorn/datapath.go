package longhorn

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Initiator is what makes the block device of a v2 volume on a node: the engine, and since
// Longhorn 1.12 an EngineFrontend of its own, which may be on another node than the engine.
type Initiator struct {
	Kind, Resource, Name, Node string
	State, Endpoint, Manager   string
	NQNs                       []string // by which the volume's subsystem may be called
	conditions                 snapshot.Conditions
}

// Pods selects for kubectl the instance-manager that has the initiator, or those of its node
// while it has none (GetInstanceManagerLabels of longhorn-manager: types/types.go).
func (i Initiator) Pods() []string {
	if i.Manager != "" {
		return []string{i.Manager}
	}
	return []string{"-l", "longhorn.io/component=instance-manager,longhorn.io/node=" + i.Node}
}

// InitiatorOf is the initiator of a volume; ok: there is one.
func InitiatorOf(x *snapshot.Index, v *snapshot.Volume) (i Initiator, ok bool) {
	e, f := x.EngineActive(v), x.FrontendActive(v)
	nqns := []string{spdk + "volume-" + v.Handle}
	switch {
	case f != nil:
		for _, p := range f.Paths {
			nqns = append(nqns, p.NQN)
		}
		return Initiator{"EngineFrontend", "enginefrontends.longhorn.io", f.Name, f.NodeID, f.CurrentState, f.Endpoint, f.InstanceManager, nqns, f.Conditions}, true
	case e != nil:
		return Initiator{"Engine", "engines.longhorn.io", e.Name, e.NodeID, e.CurrentState, e.Endpoint, e.InstanceManager, append(nqns, spdk+e.Name), e.Conditions}, true
	}
	return Initiator{}, false
}

// Hangs asks whether a volume has been between two states for over three minutes while
// somebody uses or wants it: its initiator does not run, or gives no endpoint.
func (i Initiator) Hangs(pl *evidence.Place, v *snapshot.LHVolume) evidence.Answer {
	state := v.Status.State
	if state != "attaching" && state != "detaching" {
		return evidence.No()
	}
	if state == "attaching" && i.State == "running" && i.Endpoint != "" {
		return evidence.No()
	}
	facts := []report.Evidence{evidence.FromAPI("Volume "+v.Name, "status.state", state),
		evidence.FromAPI(i.Kind+" "+i.Name, "status.currentState", strings.TrimSpace(OrNone(i.State)+" "+i.Endpoint))}
	for _, c := range pl.Volume.Live() {
		if pl.X.Age(c.Pod.CreationTimestamp.Time) > 3*time.Minute {
			return evidence.Yes(append(facts, evidence.FromPod(c.Pod, "status.phase", string(c.Pod.Status.Phase)))...)
		}
	}
	return evidence.Not(pl.Consumers().Nothing())
}

// Fails asks whether an initiator that shall run is started and fails: its state or its
// condition says so, or events of the last minutes do.
func (i Initiator) Fails(x *snapshot.Index, v *snapshot.LHVolume) evidence.Answer {
	if i.State == "running" {
		return evidence.No()
	}
	if i.State == "error" {
		return evidence.Yes(evidence.FromAPI(i.Kind+" "+i.Name, "status.currentState", i.State))
	}
	return Tried(x, i.Kind, v.Namespace, i.Name, i.conditions)
}

// NoTrace asks whether nothing of a volume's data path is on a node: no map of its name
// and no controller of its NQN.
func (i Initiator) NoTrace(pl *evidence.Place, v *snapshot.LHVolume) evidence.Answer {
	if b := leftMap(pl, v); b != nil {
		return evidence.No(evidence.FromNode(pl.Node, "sys/class/block/"+b.Name+"/dm/name", b.DM.Name))
	}
	if pl.View != nil {
		for _, s := range pl.View.Facts.NVMe {
			if slices.Contains(i.NQNs, s.NQN) {
				return evidence.No(evidence.FromNode(pl.Node, "sys/class/nvme/"+s.Name+"/subsysnqn", s.NQN))
			}
		}
	}
	return pl.Tables(probes.Block, probes.NVMeDevices).Nothing()
}

// leftMap is the device-mapper device of a v2 volume on a node, as Longhorn calls it.
func leftMap(pl *evidence.Place, v *snapshot.LHVolume) *probes.BlockDevice {
	return evidence.First(pl.View.Blocks(), func(b *probes.BlockDevice) bool { return b.DM != nil && b.DM.Name == v.Name })
}

// spdk is how the NQN of a Longhorn volume begins.
const spdk = "nqn.2023-01.io.longhorn.spdk:"

// PathBroken asks whether the data path of a v2 volume on a node is dead: its map has no
// live namespace of the volume below it or is suspended, or a controller of its NQN is
// not live.
func (i Initiator) PathBroken(pl *evidence.Place, v *snapshot.LHVolume) (what string, a evidence.Answer) {
	if r := pl.Probed(); !r.Complete() {
		return "", evidence.Unseen(r.Lacks()...)
	}
	var said []string
	var facts []report.Evidence
	if b := leftMap(pl, v); b != nil {
		if why := i.deadMap(pl.View, b); why != "" {
			said = append(said, fmt.Sprintf("the map %s (%s) %s", b.Name, b.Dev, why))
			facts = append(facts, evidence.FromNode(pl.Node, "sys/class/block/"+b.Name+"/slaves", strings.Join(b.Slaves, " ")))
		}
	}
	for _, s := range pl.View.Facts.NVMe {
		if slices.Contains(i.NQNs, s.NQN) && s.State != "" && s.State != "live" {
			said = append(said, fmt.Sprintf("its controller %s is %s", s.Name, s.State))
			facts = append(facts, evidence.FromNode(pl.Node, "sys/class/nvme/"+s.Name+"/state", s.State))
		}
	}
	if len(facts) == 0 {
		return "", evidence.No()
	}
	return strings.Join(said, ", and "), evidence.Yes(facts...)
}

// deadMap says why a map cannot serve, or nothing.
func (i Initiator) deadMap(view *snapshot.NodeView, b *probes.BlockDevice) string {
	alive := slices.DeleteFunc(slices.Clone(b.Slaves), func(name string) bool { return view.ByName(name) == nil })
	switch {
	case len(alive) == 0:
		return "has lost the NVMe namespace below it"
	case b.DM.Suspended:
		return "is suspended"
	}
	for _, s := range view.Facts.NVMe {
		below := slices.ContainsFunc(s.Namespaces, func(n string) bool { return slices.Contains(alive, n) })
		if below && strings.HasPrefix(s.NQN, spdk) && !slices.Contains(i.NQNs, s.NQN) {
			return "lies on a namespace of " + strings.TrimPrefix(s.NQN, spdk) + ", which is not the volume's target any more"
		}
	}
	return ""
}

// RestartedSince asks whether the v2 instance-manager of a node, or the node itself, began
// later than the volume was attached.
func RestartedSince(pl *evidence.Place) evidence.Answer {
	var attached time.Time
	for _, va := range pl.Volume.Attachments {
		if va.Spec.NodeName == pl.Node && (attached.IsZero() || va.CreationTimestamp.Time.Before(attached)) {
			attached = va.CreationTimestamp.Time
		}
	}
	if attached.IsZero() {
		return evidence.No()
	}
	for _, im := range pl.X.InstanceManagersOn(pl.Node) {
		start := im.CreationTimestamp.Time
		if pod := pl.X.Pod(im.Namespace, im.Name); pod != nil && pod.Status.StartTime != nil {
			start = pod.Status.StartTime.Time
		}
		if im.DataEngine == "v2" && start.After(attached) {
			return evidence.Yes(evidence.FromAPI("InstanceManager "+im.Name, "started", start.UTC().Format(time.RFC3339)))
		}
	}
	return evidence.Not(Read(pl.X, "instancemanagers").Nothing())
}
