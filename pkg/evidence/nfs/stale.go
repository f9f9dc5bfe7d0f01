package nfs

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/reach"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Stale are the NFS mounts of a place that answer ESTALE: their server no longer knows
// what is mounted.
type Stale struct {
	Place  *evidence.Place
	Mounts []snapshot.VolumeMount
	First  Mount
	Is     evidence.Answer
	Served evidence.Answer // that the server's port answers the node
}

// Stales are the nodes of a place with such mounts: of a volume as a whole, and of one on a
// node where the question is not about nodes, all on which it is mounted so.
func Stales(pl *evidence.Place) []Stale {
	return evidence.Keep(evidence.Each(pl.Nodes(), staleOf), func(s Stale) bool { return s.Is.Yes() })
}

// staleOf finds those of the place's volume. Of a place that is a pod, they are those of
// volumes that stand in its own spec; of a place that is a node, those of no volume and of
// no pod that the API knows.
func staleOf(pl *evidence.Place) Stale {
	out := Stale{Place: pl, Is: evidence.No()}
	if pl.View == nil {
		out.Is = pl.Probed().Nothing()
		return out
	}
	var facts []report.Evidence
	for _, m := range pl.VolumePaths() {
		st, _ := pl.View.Statfs(m.Mount.Point)
		n, ok := as(m.Mount)
		if st.Err != "ESTALE" || !ok {
			continue
		}
		if len(out.Mounts) == 0 {
			out.First = n
		}
		out.Mounts = append(out.Mounts, m)
		facts = append(facts, evidence.FromMount(pl.Node, nil, m.Mount), evidence.FromNode(pl.Node, "@statfs"+m.Mount.Point, "ESTALE"))
	}
	out.Is = evidence.When(len(facts) > 0, facts...)
	out.Served = reach.Of(pl.View, out.First.Port, out.First.Addr, out.First.Server).Works(pl.Node, out.First.Addr+":"+out.First.Port)
	return out
}

// Pods are those whose own path is stale.
func (s Stale) Pods() []*corev1.Pod { return evidence.PodsOf(s.Place.X, s.Mounts) }

// Words name the mounts and whose they are, at most three.
func (s Stale) Words() string {
	return evidence.Few(s.Mounts, 3, func(m snapshot.VolumeMount) string {
		return m.Mount.Point + " of " + pods.WhoseMount(s.Place.X, m) + " on node " + s.Place.Node
	})
}

// SaidStale asks whether a fresh text about an NFS volume speaks of a stale handle on the
// place's node, and of which pod, where nobody asked the mounts themselves.
func SaidStale(pl *evidence.Place) (client *corev1.Pod, a evidence.Answer) {
	live := []*snapshot.Consumer{}
	if pl.Volume != nil {
		live = pl.Volume.Live()
	}
	if server, _ := pl.Volume.NFSServer(); pl.Volume == nil || server == "" && !pl.Volume.RegularRWX() || answered(pl) {
		return nil, evidence.No()
	}
	for _, t := range pl.Felt() {
		if !t.Is(message.StaleHandle) {
			continue
		}
		for i, c := range live {
			tied := t.Pod == c.Pod.Namespace+"/"+c.Pod.Name || t.Pod == "" && (t.Node == pl.Node || t.Node == "" && i == 0)
			if c.Node() == pl.Node && pl.Node != "" && tied {
				return c.Pod, evidence.Yes(t.Evidence())
			}
		}
	}
	return nil, evidence.No()
}

// answered tells whether the node was seen and its mounts of the volume were asked: the
// present outranks the words. A bind of a directory that was deleted is never asked.
func answered(pl *evidence.Place) bool {
	return pl.View != nil && !slices.ContainsFunc(pl.X.VolumeMounts(pl.Volume, pl.Node), func(m snapshot.VolumeMount) bool {
		_, ok := pl.View.Statfs(m.Mount.Point)
		return !ok && !m.Mount.Deleted()
	})
}

// Asked says whether the mounts of the place's volume were asked on its node.
func Asked(pl *evidence.Place) evidence.Answer {
	return evidence.Unseen(append(pl.Probed().Lacks(), evidence.Lack{Need: "node/" + pl.Node + "/" + string(probes.Contents), Node: pl.Node, Why: "statfs of the volume's mounts and an answer of its server were not read"})...)
}
