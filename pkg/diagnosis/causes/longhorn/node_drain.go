package longhorn

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// drain is what shows that a node is being emptied. A cordon alone is no drain.
type drain struct {
	cordoned bool
	blocked  bool // it was begun, and the instance-manager is still there
	evidence []report.Evidence
}

// drained looks for traces of a drain of a cordoned node: refused evictions, a taint or
// an annotation of whoever drains, or a node from which all ordinary pods have gone.
func drained(p *diagnosis.Pass, v *snapshot.Volume, node string) drain {
	n := p.Node(node)
	if n == nil || !n.Spec.Unschedulable {
		return drain{}
	}
	d := drain{cordoned: true, evidence: evictions(p, v, node)}
	for _, t := range n.Spec.Taints {
		if strings.Contains(t.Key+t.Value, "drain") {
			d.evidence = append(d.evidence, diagnosis.FromAPI("Node "+node, "spec.taints", t.Key+"="+t.Value+":"+string(t.Effect)))
		}
	}
	d.blocked = len(d.evidence) > 0 || emptied(p, node)
	return d
}

// evictions are events that say that the instance-manager of a node may not be
// evicted, or that Longhorn does not detach what was attached by hand for the cordon.
func evictions(p *diagnosis.Pass, v *snapshot.Volume, node string) []report.Evidence {
	var out []report.Evidence
	look := func(kind, namespace, name string, words ...string) {
		for _, e := range p.Events(kind, namespace, name) {
			for _, w := range words {
				if strings.Contains(e.Message, w) {
					out = append(out, report.Evidence{Source: "event", Locator: "Event " + kind + " " + name + " " + e.Reason, Text: e.Message})
					break
				}
			}
		}
	}
	for _, im := range p.InstanceManagersOn(node) {
		look("Pod", im.Namespace, im.Name, "disruption budget")
	}
	if lh := volumeOf(v); lh != nil {
		for _, kind := range []string{"VolumeAttachment", "Volume"} {
			look(kind, lh.Namespace, lh.Name, "Failed to detach manually attached volume")
		}
	}
	return out
}

// emptied tells whether nothing is left on a node but what a drain leaves: DaemonSet
// and static pods, and Longhorn's own.
func emptied(p *diagnosis.Pass, node string) bool {
	pods, daemons := p.PodsOn(node), 0
	for _, pod := range pods {
		owner := controller(pod)
		switch {
		case owner != nil && (owner.Kind == "DaemonSet" || owner.Kind == "Node"):
			daemons++
		case pod.Namespace == p.LonghornNamespace(), pod.Status.Phase == corev1.PodSucceeded, pod.Status.Phase == corev1.PodFailed:
		default:
			return false
		}
	}
	return daemons > 0
}
