package claim

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// noNodeHasRoom handles a pod that the scheduler places nowhere because nodes which it
// could use hold as many volumes of the driver as they publish.
func noNodeHasRoom(p *diagnosis.Pass, v *snapshot.Volume, w *snapshot.Consumer) {
	text, said := volumeCountText(p, w.Pod)
	driver := slotDriver(v)
	if !said {
		return
	}
	need := neededOf(p, w.Pod, driver)
	var full, other []string
	for _, n := range p.Cluster.Nodes {
		if podExcludes(w.Pod, n) != "" || affinity(v) != nil && !volumeAllows(affinity(v), n) {
			continue
		}
		if limit, published := limitOf(p.CSINode(n.Name), driver); published && len(wantedOn(p, n.Name, driver, need))+len(need) > limit {
			full = append(full, n.Name)
		} else {
			other = append(other, n.Name) // it has room, or does not say
		}
	}
	if len(full) > 0 && (len(other) == 0 || severalReasons(text.Text)) {
		reportFull(p, v, w, text, need, full, other)
	}
}

// severalReasons tells whether the scheduler turned nodes down for different reasons. If
// not, a node with room contradicts it: the node is newer than the message.
func severalReasons(message string) bool {
	message, _, _ = strings.Cut(message, "preemption:")
	return strings.Contains(message, ", ")
}

func reportFull(p *diagnosis.Pass, v *snapshot.Volume, w *snapshot.Consumer, text report.Evidence, need, full, other []string) {
	driver := slotDriver(v)
	f := p.Find(report.Certain, diagnosis.NodeSubject(full[0])).On(v).Located(full[0])
	f.Pod(w.Pod)
	f.Fact(text)
	for _, n := range full {
		limit, _ := limitOf(p.CSINode(n), driver)
		f.Fact(diagnosis.FromAPI("CSINode "+n, "spec.drivers["+driver+"].allocatable.count",
			fmt.Sprintf("%d; VolumeAttachments of the driver there: %d", limit, len(wantedOn(p, n, driver, need)))))
		f.Also = append(f.Also, unusedOn(p, driver, n)...)
	}
	others := ""
	if len(full) > 1 {
		others = " So do the other nodes that the pod could use: " + strings.Join(full[1:], ", ") + "."
	}
	if len(other) > 0 {
		f.Missing("why the scheduler does not take " + strings.Join(other, ", ") + ", which this limit does not exclude (read its message)")
	}
	limit, _ := limitOf(p.CSINode(full[0]), driver)
	what := "volume " + v.PVName()
	if v.PVName() == "" {
		_, claim := v.ClaimRef()
		what = "a volume for claim " + claim
	}
	if len(need) > 1 {
		what = fmt.Sprintf("%d volumes of it that are not there", len(need))
	}
	f.Sayf("Node %s holds %d volumes of driver %s and publishes a limit of %d, so pod %s/%s, which needs %s, is not scheduled there.%s",
		full[0], len(wantedOn(p, full[0], driver, need)), driver, limit, w.Pod.Namespace, w.Pod.Name, what, others)
	f.Unless("a node that the pod may use and that holds fewer volumes of the driver than it publishes")
	f.Advise(remedy.Words("Move pods to other nodes or add nodes that the pod may use; look whether attachments there are left over. Attachments of mounted volumes are no place to make room."))
	p.Report(f)
}

// neededOf names the volumes of a driver that a pod needs: by their PVs, those that are
// not provisioned yet by their claims.
func neededOf(p *diagnosis.Pass, pod *corev1.Pod, driver string) []string {
	var out []string
	for _, v := range p.VolumesOfPod(pod) {
		if slotDriver(v) != driver {
			continue
		}
		name := v.PVName()
		if name == "" {
			name = v.Key()
		}
		out = append(out, name)
	}
	return out
}

// wantedOn lists the volumes of a driver, besides those needed, that a node has or is
// to get.
func wantedOn(p *diagnosis.Pass, node, driver string, besides []string) []string {
	all := holdersOfSlots(p, driver, node, func(*storagev1.VolumeAttachment) bool { return true })
	return slices.DeleteFunc(all, func(name string) bool { return slices.Contains(besides, name) })
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
