package claim

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed topology_conflict.md
var topologyConflictDoc string

// TopologyConflict finds a pod whose volumes and own placement leave no node.
var TopologyConflict = &diagnosis.Rule{
	Name: "topology-conflict", Layer: diagnosis.Claim, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/nodes"), diagnosis.API("/persistentvolumes"), diagnosis.API("/pods"), diagnosis.API("/events"), diagnosis.API("storage.k8s.io/csinodes")},
	Explains: []string{"pod-waiting-for-volume", "claim-pending", "mount-failed"},
	YieldsTo: []string{"csi-plugin-not-on-node", "driver-never-serves-node"},
	Doc:      topologyConflictDoc,
	Run: func(p *diagnosis.Pass) {
		seen := map[*corev1.Pod]bool{}
		for _, v := range p.Volumes() {
			for _, w := range v.Waiting() {
				if seen[w.Pod] || p.Age(w.Pod.CreationTimestamp.Time) <= time.Minute {
					continue
				}
				seen[w.Pod] = true
				if w.Pod.Spec.NodeName == "" {
					noNodeFits(p, w.Pod)
				} else if n := p.Node(w.Pod.Spec.NodeName); n != nil {
					placedPast(p, w.Pod, n)
				}
			}
		}
	},
}

// fit says what keeps a pod off one node, ignoring resources.
type fit struct {
	node    string
	place   string             // what its labels say of the keys that the volumes ask for
	volumes []*snapshot.Volume // whose node affinity excludes it
	placed  string             // why the pod itself may not run there; empty: it may
}

func noNodeFits(p *diagnosis.Pass, pod *corev1.Pod) {
	var fits []fit
	volumes, left := p.VolumesOfPod(pod), false // left: a node that every volume allows
	for _, n := range p.Cluster.Nodes {
		f := fit{node: n.Name, place: placeOf(volumes, n), placed: pods.Excludes(pod, n), volumes: excludedBy(volumes, n)}
		if len(f.volumes) == 0 {
			if f.placed == "" {
				return // a node is left: something else keeps the pod waiting
			}
			left = true
		}
		fits = append(fits, f)
	}
	bound := slices.DeleteFunc(slices.Clone(volumes), func(v *snapshot.Volume) bool { return affinity(v) == nil })
	if len(bound) == 0 || len(fits) == 0 {
		return // the pod's own placement excludes every node, whatever its volumes are
	}
	guilty := excluding(fits)
	if len(guilty) == 0 && !left {
		guilty = bound // the volumes' places do not meet, or are gone
	}
	subject := diagnosis.PodSubject(pod)
	if len(guilty) > 0 {
		subject = diagnosis.ObjectSubject("PersistentVolume", "", guilty[0].PVName())
	}
	f := p.Find(report.Certain, subject)
	why := fmt.Sprintf("No node of the cluster satisfies both the volumes of pod %s/%s and the pod's own placement: %s.", pod.Namespace, pod.Name, volumePlaces(f, bound))
	if own := pods.PlacementText(pod); own != "" {
		why += " The pod asks for " + own + "."
		f.Fact(diagnosis.FromAPI("Pod "+pod.Namespace+"/"+pod.Name, "spec", own))
	}
	if len(bound) > 1 && !left {
		why += " No node may use all of these volumes."
	}
	for _, place := range missingPlaces(p, bound) {
		why += " " + place
	}
	reportConflict(p, f, pod, why+" "+perNode(fits))
}

// placeOf prints what a node's labels say of the keys that volumes ask for, unless it is
// only its name.
func placeOf(volumes []*snapshot.Volume, n *corev1.Node) string {
	var out []string
	for _, v := range volumes {
		if affinity(v) == nil {
			continue
		}
		for _, t := range affinity(v).NodeSelectorTerms {
			for _, r := range t.MatchExpressions {
				value := n.Labels[r.Key]
				if value == "" {
					value = n.Labels[pods.Renamed[r.Key]]
				}
				if value == "" {
					value = "no label " + r.Key
				}
				if value != n.Name && !slices.Contains(out, value) {
					out = append(out, value)
				}
			}
		}
	}
	if len(out) == 0 {
		return ""
	}
	return " (" + strings.Join(out, ", ") + ")"
}

// excludedBy lists the volumes whose node affinity excludes a node.
func excludedBy(volumes []*snapshot.Volume, n *corev1.Node) []*snapshot.Volume {
	var out []*snapshot.Volume
	for _, v := range volumes {
		if a := affinity(v); a != nil && !pods.SelectorAllows(a, n) {
			out = append(out, v)
		}
	}
	return out
}

// placedPast handles a pod that was put on a node without asking the scheduler: the
// kubelet refuses to mount what may not be used there (NodeAffinity check).
func placedPast(p *diagnosis.Pass, pod *corev1.Pod, n *corev1.Node) {
	guilty := excludedBy(p.VolumesOfPod(pod), n)
	if len(guilty) == 0 || slices.ContainsFunc(p.Texts(guilty[0]), func(t diagnosis.Text) bool { return mountTried(t, n.Name) }) {
		return
	}
	f := p.Find(report.Certain, diagnosis.ObjectSubject("PersistentVolume", "", guilty[0].PVName())).Located(n.Name)
	for _, t := range p.Texts(guilty[0]) {
		if strings.Contains(t.Raw, "NodeAffinity") || strings.Contains(t.Raw, "matching NodeSelectorTerms") {
			f.Fact(t.Evidence())
			break
		}
	}
	reportConflict(p, f, pod, fmt.Sprintf("Pod %s/%s was placed on node %s, where its volume may not be used: %s. The kubelet mounts it only on a node of that kind.",
		pod.Namespace, pod.Name, n.Name, volumePlaces(f, guilty)))
}

// mountTried tells whether the driver was asked to mount on a node lately: the kubelet
// does that only after its own check of the volume's affinity.
func mountTried(t diagnosis.Text, node string) bool {
	return t.Fresh && t.Node == node && t.Code != "" && strings.HasPrefix(t.Op, "MountVolume") && !strings.Contains(t.Raw, "NodeAffinity")
}

// missingPlaces names the single nodes that volumes are bound to and that are gone, down
// or cordoned.
func missingPlaces(p *diagnosis.Pass, volumes []*snapshot.Volume) []string {
	var out []string
	for _, v := range volumes {
		for _, t := range affinity(v).NodeSelectorTerms {
			for _, r := range t.MatchExpressions {
				if r.Key != corev1.LabelHostname || r.Operator != corev1.NodeSelectorOpIn || len(r.Values) != 1 {
					continue
				}
				host := r.Values[0]
				i := slices.IndexFunc(p.Cluster.Nodes, func(n *corev1.Node) bool { return n.Labels[corev1.LabelHostname] == host })
				switch {
				case i < 0:
					out = append(out, fmt.Sprintf("No node has the host name label %s that volume %s wants: the node was removed or renamed, or the name is misspelt. The nodes here are called %s.", host, v.PVName(), hostNames(p.Cluster.Nodes)))
				case p.NodeReady(p.Cluster.Nodes[i].Name).Known && !p.NodeReady(p.Cluster.Nodes[i].Name).Ready:
					out = append(out, fmt.Sprintf("Node %s, where volume %s lies, is not Ready.", p.Cluster.Nodes[i].Name, v.PVName()))
				case p.Cluster.Nodes[i].Spec.Unschedulable:
					out = append(out, fmt.Sprintf("Node %s, where volume %s lies, is cordoned.", p.Cluster.Nodes[i].Name, v.PVName()))
				}
			}
		}
	}
	return out
}

// hostNames are the host name labels of the nodes.
func hostNames(nodes []*corev1.Node) string {
	var out []string
	for _, n := range nodes {
		if h := n.Labels[corev1.LabelHostname]; h != "" {
			out = append(out, h)
		}
	}
	return words.List(out, 6)
}

// excluding lists the volumes that exclude a node which the pod could use.
func excluding(fits []fit) []*snapshot.Volume {
	var out []*snapshot.Volume
	for _, f := range fits {
		if f.placed != "" {
			continue
		}
		for _, v := range f.volumes {
			if !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
	}
	return out
}

// volumePlaces says, and quotes, where volumes may be used.
func volumePlaces(f *diagnosis.Finding, volumes []*snapshot.Volume) string {
	var where []string
	for _, v := range volumes {
		f.Volume(v)
		text := pods.SelectorText(affinity(v))
		where = append(where, fmt.Sprintf("volume %s may be used only where %s", v.PVName(), text))
		f.Fact(diagnosis.FromAPI("PersistentVolume "+v.PVName(), "spec.nodeAffinity.required", text))
	}
	return strings.Join(where, "; ")
}

func reportConflict(p *diagnosis.Pass, f *diagnosis.Finding, pod *corev1.Pod, message string) {
	f.Pod(pod)
	f.Sayf("%s", message)
	f.Unless("a node that meets the affinity of every volume and the pod's selectors and tolerations")
	f.Advise(
		remedy.Words("Where a volume wants a host name that no node has: bring the node back under that name, or make a new PersistentVolume for the same directory or disk with the right name (the affinity of a PersistentVolume cannot be changed)."),
		remedy.Words("Where the volumes lie in different zones: use a StorageClass with volumeBindingMode WaitForFirstConsumer, and create or migrate one of the volumes again so that both lie in one zone."),
		remedy.Words("Where the pod's selector, affinity or a taint excludes the volume's place: change that, bring the node back or add one there, or move the data. Do not edit the nodeAffinity of a volume: the disk stays where it is."),
	)
	p.Report(f)
}

// perNode explains the exclusion node by node, at most six of them.
func perNode(fits []fit) string {
	var out []string
	for _, f := range fits {
		var why []string
		for _, v := range f.volumes {
			why = append(why, "volume "+v.PVName())
		}
		if f.placed != "" {
			why = append(why, f.placed)
		}
		out = append(out, f.node+f.place+": "+strings.Join(why, ", "))
	}
	const shown = 6
	if len(out) > shown {
		out = append(out[:shown], fmt.Sprintf("and %d more nodes", len(fits)-shown))
	}
	return "Excluded by node: " + strings.Join(out, "; ") + "."
}

func affinity(v *snapshot.Volume) *corev1.NodeSelector {
	if v.PV == nil || v.PV.Spec.NodeAffinity == nil {
		return nil
	}
	return v.PV.Spec.NodeAffinity.Required
}
