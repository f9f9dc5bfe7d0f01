package longhorn

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Imageless is a node on which an engine image is missing, and what needs it there.
type Imageless struct{ Node, Part, said string }

// WantedUnattached asks whether somebody wants a volume that is not attached.
func WantedUnattached(x *snapshot.Index, v *snapshot.Volume) evidence.Answer {
	state := v.LH().Status.State
	return evidence.When(state != "attached" && WantedFor(x, v) > 0, evidence.FromAPI("Volume "+v.LH().Name, "status.state", state))
}

// WithoutImage lists the nodes with a part of a volume that cannot start for want of its
// engine image. A part that runs already, and a node that is down, are other stories.
func WithoutImage(x *snapshot.Index, v *snapshot.Volume, ei *snapshot.LHEngineImage) []Imageless {
	var out []Imageless
	add := func(node, part string) {
		ready, listed := ei.Deployed[node]
		known := slices.ContainsFunc(out, func(n Imageless) bool { return n.Node == node })
		if node == "" || ready || known || !nodeWorks(x, node) || managerAway(x, node) != "" || x.LHNode(node) == nil && Read(x, "nodes").Complete() {
			return
		}
		said := "false"
		if !listed {
			said = "absent"
		}
		out = append(out, Imageless{node, part, said})
	}
	for _, n := range WantedNodes(v) {
		add(n, "the engine")
	}
	nowhere := !slices.ContainsFunc(v.Longhorn.Replicas, func(r *snapshot.LHReplica) bool { return r.FailedAt == "" && ei.Deployed[r.NodeID] })
	for _, r := range v.Longhorn.Replicas {
		// A detached volume attaches when one replica's node has the image.
		if r.FailedAt == "" && r.CurrentState != "running" && (nowhere || r.DesireState == "running" || v.LH().Status.State == "attaching") {
			add(r.NodeID, "replica "+r.Name)
		}
	}
	return out
}

// Incompatible asks whether this version of Longhorn cannot work with an engine image.
func Incompatible(ei *snapshot.LHEngineImage) evidence.Answer {
	return evidence.When(ei.Incompatible, evidence.FromAPI("EngineImage "+ei.Name, "status.incompatible", "true"))
}

// ImageMissing asks whether the image is missing on one of the nodes, and says what keeps it from each.
func ImageMissing(x *snapshot.Index, ei *snapshot.LHEngineImage, nodes []Imageless) (why string, is evidence.Answer) {
	is = evidence.When(len(nodes) > 0, evidence.Each(nodes, func(n Imageless) report.Evidence {
		return evidence.FromAPI("EngineImage "+ei.Name, "status.nodeDeploymentMap["+n.Node+"]", n.said)
	})...)
	var reasons []string
	for _, n := range nodes {
		reason, facts := whyNoImage(x, ei, n.Node)
		reasons, is = append(reasons, "on node "+n.Node+", where "+n.Part+" must start: "+reason), is.With(facts...)
	}
	return strings.Join(reasons, "; "), is
}

// AnyDown asks whether one of the nodes may be down or without Longhorn's manager: then the
// missing image is one of its consequences. Those that are known to be are not in the list.
func AnyDown(x *snapshot.Index, nodes []Imageless) evidence.Answer {
	whole := Read(x, "nodes")
	for _, n := range nodes {
		if !x.NodeReady(n.Node).Known {
			whole = whole.And(evidence.Resource(x, "/nodes"))
		}
	}
	return evidence.Not(whole.Nothing())
}

// whyNoImage looks at the DaemonSet's pod on a node, and says what keeps the image away.
func whyNoImage(x *snapshot.Index, ei *snapshot.LHEngineImage, node string) (string, []report.Evidence) {
	ds := "engine-image-" + ei.Name
	for _, pod := range x.PodsOn(node) {
		if pod.Namespace != ei.Namespace || !strings.HasPrefix(pod.Name, ds+"-") {
			continue
		}
		name := pod.Namespace + "/" + pod.Name
		facts := []report.Evidence{evidence.FromAPI("Pod "+name, "status", Trouble(pod))}
		for _, e := range x.Events("Pod", pod.Namespace, pod.Name) {
			if e.Type == corev1.EventTypeWarning {
				facts = append(facts, evidence.FromEvent("Pod "+name, e))
			}
		}
		return "pod " + name + ": " + Trouble(pod), facts
	}
	if !evidence.ResourceIn(x, "/pods", ei.Namespace).Complete() {
		return "its pod there was not read", nil
	}
	for _, d := range x.Cluster.DaemonSets {
		if d.Namespace == ei.Namespace && d.Name == ds {
			if reason, ok := x.WhyNotScheduled(d, node); ok {
				return "DaemonSet " + ds + " has no pod there, " + reason, nil
			}
		}
	}
	return "DaemonSet " + ds + " has no pod there", nil
}

// ImageWords is the newest text that says that an image is missing.
func ImageWords(pl *evidence.Place, ei *snapshot.LHEngineImage) []report.Evidence {
	return pl.Texts.Say(func(t evidence.Text) bool {
		return strings.Contains(t.Raw, "is not ready on node") || strings.Contains(t.Raw, "image "+ei.Image+" is not deployed")
	}).Facts()
}

// nameless is the name that Longhorn gives the engine image of an empty text: the hash of nothing.
const nameless = "ei-cf83e135"

// ImageGone asks whether no EngineImage is there for the image of the place's volume, which may
// name none at all. Longhorn keeps at least the one of its own version: an empty list is not all.
func ImageGone(pl *evidence.Place) evidence.Answer {
	v := pl.Volume.LH()
	named := evidence.FromAPI("Volume "+v.Name, "spec.image", OrNone(v.Image))
	if v.Image == "" {
		return pl.Texts.Say(func(t evidence.Text) bool {
			return strings.Contains(t.Raw, `"`+nameless+`" not found`)
		}).With(named)
	}
	images := pl.X.Cluster.Longhorn.EngineImages
	there := evidence.Each(images, func(ei *snapshot.LHEngineImage) string { return ei.Image })
	if len(images) == 0 || slices.Contains(there, v.Image) {
		return evidence.No()
	}
	return Read(pl.X, "engineimages").Nothing(named, evidence.FromAPI("EngineImages", "spec.image", strings.Join(there, ", ")))
}
