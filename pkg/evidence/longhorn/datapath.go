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

// EngineHangs asks whether a volume has been between two states for over three minutes
// while somebody uses or wants it: its engine does not run, or gives no endpoint.
func EngineHangs(pl *evidence.Place, v *snapshot.LHVolume, e *snapshot.LHEngine) evidence.Answer {
	state := v.Status.State
	if state != "attaching" && state != "detaching" {
		return evidence.No()
	}
	if state == "attaching" && e.CurrentState == "running" && e.Endpoint != "" {
		return evidence.No()
	}
	facts := []report.Evidence{evidence.FromAPI("Volume "+v.Name, "status.state", state),
		evidence.FromAPI("Engine "+e.Name, "status.currentState", strings.TrimSpace(e.CurrentState+" "+e.Endpoint))}
	for _, c := range pl.Volume.Live() {
		if pl.X.Age(c.Pod.CreationTimestamp.Time) > 3*time.Minute {
			return evidence.Yes(append(facts, evidence.FromAPI("Pod "+c.Pod.Namespace+"/"+c.Pod.Name, "status.phase", string(c.Pod.Status.Phase)))...)
		}
	}
	return evidence.Not(evidence.Resource(pl.X, "/pods").Nothing())
}

// LeftMap is the device-mapper device of a v2 volume on a node, as Longhorn calls it.
func LeftMap(pl *evidence.Place, v *snapshot.LHVolume) *probes.BlockDevice {
	if pl.View == nil {
		return nil
	}
	for i := range pl.View.Facts.Block {
		if b := &pl.View.Facts.Block[i]; b.DM != nil && b.DM.Name == v.Name {
			return b
		}
	}
	return nil
}

// spdk is how the NQN of a Longhorn volume begins.
const spdk = "nqn.2023-01.io.longhorn.spdk:"

// PathBroken asks whether the data path of a v2 volume on a node is dead: its map has no
// live namespace below it or is suspended, or a controller of its NQN is not live.
func PathBroken(pl *evidence.Place, v *snapshot.LHVolume, e *snapshot.LHEngine) (what string, a evidence.Answer) {
	if r := pl.Probed(); !r.Complete() {
		return "", evidence.Unseen(r.Lacks()...)
	}
	var said []string
	var facts []report.Evidence
	if b := LeftMap(pl, v); b != nil {
		if why := deadMap(pl.View, b); why != "" {
			said = append(said, fmt.Sprintf("the map %s (%s) %s", b.Name, b.Dev, why))
			facts = append(facts, evidence.FromNode(pl.Node, "sys/class/block/"+b.Name+"/slaves", strings.Join(b.Slaves, " ")))
		}
	}
	for _, s := range pl.View.Facts.NVMe {
		if (s.NQN == spdk+e.Name || s.NQN == spdk+"volume-"+v.Name) && s.State != "" && s.State != "live" {
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
func deadMap(view *snapshot.NodeView, b *probes.BlockDevice) string {
	alive := slices.DeleteFunc(slices.Clone(b.Slaves), func(name string) bool { return view.ByName(name) == nil })
	switch {
	case len(alive) == 0:
		return "has lost the NVMe namespace below it"
	case b.DM.Suspended:
		return "is suspended"
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
