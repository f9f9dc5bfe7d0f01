package claim

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// noNodeHasRoom handles a pod that the scheduler places nowhere because the nodes
// which it could use hold as many volumes of the driver as they publish.
func noNodeHasRoom(p *diagnosis.Pass, v *snapshot.Volume, w *snapshot.Consumer) {
	text, said := volumeCountText(p, w.Pod)
	if !said {
		return
	}
	var full []string
	for _, n := range p.Cluster.Nodes {
		if podExcludes(w.Pod, n) != "" || affinity(v) != nil && !snapshot.NodeMatches(affinity(v), n) {
			continue
		}
		limit, published := limitOf(p.CSINode(n.Name), v.Driver)
		if !published || wantedOn(p, v, n.Name) < limit {
			return // a node has room, or does not say: the driver is not shown to be the limit
		}
		full = append(full, n.Name)
	}
	if len(full) == 0 {
		return
	}
	limit, _ := limitOf(p.CSINode(full[0]), v.Driver)
	f := p.Find(report.Certain, diagnosis.NodeSubject(full[0])).On(v).Located(full[0])
	f.Pod(w.Pod)
	f.Fact(text)
	others := ""
	for _, n := range full {
		f.Fact(diagnosis.FromAPI("CSINode "+n, "spec.drivers["+v.Driver+"].allocatable.count", fmt.Sprintf("%d; VolumeAttachments of the driver there: %d", limit, wantedOn(p, v, n))))
	}
	if len(full) > 1 {
		others = " So do the other nodes that the pod could use: " + strings.Join(full[1:], ", ") + "."
	}
	f.Sayf("Node %s holds %d volumes of driver %s and publishes a limit of %d, so pod %s/%s, which needs volume %s, is not scheduled there.%s",
		full[0], wantedOn(p, v, full[0]), v.Driver, limit, w.Pod.Namespace, w.Pod.Name, v.PVName(), others)
	f.Unless("a node that the pod may use and that holds fewer volumes of the driver than it publishes")
	f.Advise(remedy.Words("Move pods to other nodes or add nodes that the pod may use; look whether attachments there are left over. Attachments of mounted volumes are no place to make room."))
	p.Report(f)
}

// wantedOn counts the other volumes of the driver that a node has or is to get.
func wantedOn(p *diagnosis.Pass, v *snapshot.Volume, node string) int {
	var seen []string
	for _, va := range p.Cluster.Attachments {
		pv := va.Spec.Source.PersistentVolumeName
		if va.Spec.Attacher == v.Driver && va.Spec.NodeName == node && pv != nil && *pv != v.PVName() && !slices.Contains(seen, *pv) {
			seen = append(seen, *pv)
		}
	}
	return len(seen)
}

// volumeCountText is the scheduler's word that nodes have too many volumes (filter
// NodeVolumeLimits): the pod's present condition, or its newest event.
func volumeCountText(p *diagnosis.Pass, pod *corev1.Pod) (report.Evidence, bool) {
	const words = "exceed max volume count"
	name := "Pod " + pod.Namespace + "/" + pod.Name
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Message != "" {
			return diagnosis.FromAPI(name, "status.conditions[PodScheduled]", c.Message), strings.Contains(c.Message, words)
		}
	}
	events := p.Events("Pod", pod.Namespace, pod.Name)
	for i := len(events) - 1; i >= 0; i-- {
		if e := events[i]; e.Reason == "FailedScheduling" {
			return report.Evidence{Source: "event", Locator: "Event " + name + " FailedScheduling", Text: e.Message}, strings.Contains(e.Message, words)
		}
	}
	return report.Evidence{}, false
}
