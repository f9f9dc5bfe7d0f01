package security

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/helper"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Places are the nodes on which somebody works at a volume: where it is or is wanted,
// and where a helper makes it; those of them that were looked at, and whether that is all.
func Places(pl *evidence.Place) (seen []*evidence.Place, all evidence.Reading) {
	nodes := evidence.Once([]string{helper.Node(pl)}, pl.X.NodesOf(pl.Volume)...)
	nodes = evidence.Once(nodes, evidence.Each(pl.Volume.Live(), (*snapshot.Consumer).Node)...)
	for _, n := range nodes {
		if n == "" {
			continue
		}
		at := pl.On(n)
		if all = all.And(at.Probed()); at.View != nil {
			seen = append(seen, at)
		}
	}
	return seen, all
}

// Denial is a denial that belongs to a volume.
type Denial struct {
	Line   Line
	Module string      // SELinux | AppArmor
	Says   string      // how it belongs to the volume
	Volume string      // the volume's name
	Pod    *corev1.Pod // whose process was denied; nil: the node's own, or not known
	Is     evidence.Answer
	Stops  evidence.Answer // a step of the volume, now
	Off    []Boolean       // that would allow it
	Sure   evidence.Answer // that it is this volume, and this that the pod lacks
}

// DenialOf finds the newest enforced denial that belongs to the place's volume.
func DenialOf(pl *evidence.Place) (Denial, bool) {
	d := Denial{Module: "AppArmor", Volume: pl.Volume.Called()}
	l, way, ok := of(pl)
	if !ok {
		return d, false
	}
	d.Line, d.Says, d.Is, d.Stops, d.Sure = l, string(way), evidence.Yes(l.Fact()), fails(pl), evidence.Yes()
	if l.SELinux {
		d.Module = "SELinux"
		d.Is = d.Is.With(Enforcing(pl.View).Facts()...)
	}
	switch who := l.Process(pl); {
	case way == OfDirectory:
		d.Pod = helper.PodOf(pl)
	case way == InUse:
		var last evidence.Answer
		d.Pod, d.Sure = l.user(pl)
		d.Stops, last = l.keeps(pl, d.Pod)
		d.Sure, d.Off = evidence.All(d.Sure, last), allowing(pl, l)
	case way == OnSocket:
		d.Pod, d.Stops = l.deaf(pl), Held(pl) // an attacher that reaches nobody says nothing
	case who.Pod != nil:
		d.Pod = who.Pod
	case l.contained() && l.asksToMount():
		d.Pod = pl.X.DriverPodOn(pl.Volume.CSIName(), pl.Node)
	case l.contained(), l.inContainer(pl):
		d.Pod = onlyUser(pl)
	}
	return d, true
}

// onlyUser is the one pod that uses a volume on a node.
func onlyUser(pl *evidence.Place) *corev1.Pod {
	if users := pl.Volume.LiveConsumersOn(pl.Node); len(users) == 1 {
		return users[0].Pod
	}
	return nil
}

// fails asks whether a step of the volume fails at the place now, in whatever words.
func fails(pl *evidence.Place) evidence.Answer {
	return pl.Felt().Say(func(t evidence.Text) bool { return !t.Ordinary })
}
