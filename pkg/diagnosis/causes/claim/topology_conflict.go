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
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed topology_conflict.md
var topologyConflictDoc string

// TopologyConflict finds a pod whose volumes and own placement leave no node.
var TopologyConflict = &diagnosis.Rule{
	Name: "topology-conflict", Layer: diagnosis.Claim, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/nodes"), diagnosis.API("/persistentvolumes"), diagnosis.API("/pods"), diagnosis.API("storage.k8s.io/csinodes")},
	Explains: []string{"pod-waiting-for-volume", "claim-pending"},
	YieldsTo: []string{"csi-plugin-not-on-node"},
	Doc:      topologyConflictDoc,
	Run: func(p *diagnosis.Pass) {
		seen := map[*corev1.Pod]bool{}
		for _, v := range p.Volumes() {
			for _, w := range v.Waiting() {
				if w.Pod.Spec.NodeName == "" && !seen[w.Pod] && p.Age(w.Pod.CreationTimestamp.Time) > time.Minute {
					seen[w.Pod] = true
					noNodeFits(p, w.Pod)
				}
			}
		}
	},
}

// fit says what keeps a pod off one node, ignoring resources.
type fit struct {
	node     string
	volumes  []*snapshot.Volume // whose node affinity excludes it
	placed   string             // why the pod itself may not run there; empty: it may
	volumeOK bool
}

func noNodeFits(p *diagnosis.Pass, pod *corev1.Pod) {
	var fits []fit
	for _, n := range p.Cluster.Nodes {
		f := fit{node: n.Name, placed: podExcludes(pod, n), volumeOK: true}
		for _, v := range p.VolumesOfPod(pod) {
			if a := affinity(v); a != nil && !snapshot.NodeMatches(a, n) {
				f.volumes, f.volumeOK = append(f.volumes, v), false
			}
		}
		if f.volumeOK && f.placed == "" {
			return // a node is left: something else keeps the pod waiting
		}
		fits = append(fits, f)
	}
	guilty := excluding(fits)
	if len(guilty) == 0 {
		return // the pod's own placement excludes every node, whatever its volumes are
	}
	reportConflict(p, pod, fits, guilty)
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

func reportConflict(p *diagnosis.Pass, pod *corev1.Pod, fits []fit, guilty []*snapshot.Volume) {
	f := p.Find(report.Certain, diagnosis.ObjectSubject("PersistentVolume", "", guilty[0].PVName()))
	f.Pod(pod)
	var where []string
	for _, v := range p.VolumesOfPod(pod) {
		if a := affinity(v); a != nil {
			f.Volume(v)
			where = append(where, fmt.Sprintf("volume %s may be used only where %s", v.PVName(), selectorText(a)))
			f.Fact(diagnosis.FromAPI("PersistentVolume "+v.PVName(), "spec.nodeAffinity.required", selectorText(a)))
		}
	}
	why := fmt.Sprintf("No node of the cluster satisfies both the volumes of pod %s/%s and the pod's own placement: %s.", pod.Namespace, pod.Name, strings.Join(where, "; "))
	if own := placementText(pod); own != "" {
		why += " The pod asks for " + own + "."
		f.Fact(diagnosis.FromAPI("Pod "+pod.Namespace+"/"+pod.Name, "spec", own))
	}
	f.Sayf("%s %s", why, perNode(fits))
	f.Unless("a node that meets the affinity of every volume and the pod's selectors and tolerations")
	f.Advise(
		remedy.Words("Where the volumes lie in different zones: use a StorageClass with volumeBindingMode WaitForFirstConsumer, and create or migrate one of the volumes again so that both lie in one zone."),
		remedy.Words("Where the pod's selector, affinity or a taint excludes the volume's zone: change that, or add a node there. Do not edit the nodeAffinity of a volume: the disk stays where it is."),
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
		out = append(out, f.node+": "+strings.Join(why, ", "))
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
