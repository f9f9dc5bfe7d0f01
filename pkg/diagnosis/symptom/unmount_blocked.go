package symptom

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// unmountBlocked: a node that should let the volume go does not. Failures to
// unmount are in logs only, never events of current Kubernetes; state tells, too.
var unmountBlocked = &diagnosis.SymptomRule{Name: "unmount-blocked", Run: func(p *diagnosis.Pass) {
	still := func(v *snapshot.Volume, t diagnosis.Text) bool { return failsToUnmount(t) && !letGo(p, v, t) }
	toldOf(p, still, func(v *snapshot.Volume, t diagnosis.Text) string {
		return fmt.Sprintf("A node cannot unmount %s: %s", name(v), evidence.Brief(t.Desc))
	})
	for _, v := range p.Volumes() {
		for _, n := range slices.Concat(p.DeviceNodes(v), p.OtherNodes(v)) {
			keepsVolume(p, v, n)
		}
	}
}}

// letGo tells whether the node has finished with the volume since it said so: its kubelet
// and the attacher have struck it off, and a pod elsewhere got the disk that only one may have.
func letGo(p *diagnosis.Pass, v *snapshot.Volume, t diagnosis.Text) bool {
	node := p.Node(t.Node)
	return v.Exclusive() && volume.OneNode(p.Index, v) && node != nil && p.NodeReady(t.Node).Ready && !p.ReportedInUse(t.Node, v) &&
		p.Collected("storage.k8s.io/volumeattachments") && v.AttachmentOn(t.Node) == nil && len(v.LiveConsumersOn(t.Node)) == 0 &&
		slices.ContainsFunc(v.Live(), func(c *snapshot.Consumer) bool {
			return snapshot.PodServes(c.Pod) && snapshot.PodProvided(c.Pod).After(t.At)
		})
}

func failsToUnmount(t diagnosis.Text) bool {
	for _, op := range []string{"UnmountVolume.", "UnmountDevice", "UnmapVolume.", "UnmapDevice"} {
		if strings.HasPrefix(t.Op, op) {
			return true
		}
	}
	switch t.Reason {
	case "FailedUnMount", "FailedUnmapDevice", "FailedUnmount":
		return true
	}
	if is(t, message.UnmountFailed) && t.Op == "" && t.Source == "log" {
		return true
	}
	for _, op := range []string{"MountVolume.", "MapVolume.", "AttachVolume."} {
		if strings.HasPrefix(t.Op, op) {
			return false // the same tools complain when they mount or map
		}
	}
	return is(t, message.TargetBusy, message.StillReferenced, message.DeviceStillInUse, message.RBDBusy)
}

// keepsVolume finds a Ready node that no pod needs the volume on and that still
// mounts it or reports it in use. On a node that is not ready these entries are
// frozen and prove nothing.
func keepsVolume(p *diagnosis.Pass, v *snapshot.Volume, node string) {
	if wanted, _ := p.WantedReleased(v, node); !wanted || !p.NodeReady(node).Ready || !longReleased(p, v, node) || stillRuns(v, node) {
		return
	}
	mounts := p.VolumeMounts(v, node)
	inUse := p.ReportedInUse(node, v)
	if len(mounts) == 0 && (!inUse || mountsNowhere(p, v, node)) {
		return
	}
	s := onVolume(v, fmt.Sprintf("Node %s still has %s mounted or in use, and no pod there needs it.", node, name(v)))
	s.At(node)
	if inUse {
		s.Evidence = append(s.Evidence, evidence.FromAPI("Node "+node, "status.volumesInUse", v.UniqueName()))
	}
	for _, m := range mounts {
		s.Device(node, m.Mount.Dev)
		if len(s.Evidence) < 3 {
			s.Evidence = append(s.Evidence, evidence.FromNode(node, "proc/1/mountinfo", m.Mount.Point))
		}
	}
	p.AddSymptom(s)
}

// stillRuns tells whether a container of a pod that ends still runs there: the
// kubelet unmounts nothing before it has stopped.
func stillRuns(v *snapshot.Volume, node string) bool {
	for _, c := range v.LiveConsumersOn(node) {
		for _, cs := range c.Pod.Status.ContainerStatuses {
			if c.Terminating() && cs.State.Running != nil {
				return true
			}
		}
	}
	return false
}

// mountsNowhere tells whether the node was probed and mounts the volume in no
// namespace: what it still reports in use is then mapped or attached, not mounted.
func mountsNowhere(p *diagnosis.Pass, v *snapshot.Volume, node string) bool {
	view := p.View(node)
	d, ok := p.DeviceOn(v, node)
	if view == nil || view.Init == nil || !ok || !view.AllNamespacesRead() {
		return false
	}
	return !slices.ContainsFunc(d.Numbers(), func(n probes.Dev) bool { return len(view.Uses(n)) > 0 || view.Superblock(n) != nil })
}

// longReleased tells whether the node had the time to let go: two minutes since
// the attachment's or the pods' deletion, or since somebody else waits, and since the
// node reports again.
func longReleased(p *diagnosis.Pass, v *snapshot.Volume, node string) bool {
	if justBack(p, node) != "" {
		return false
	}
	if va := v.AttachmentOn(node); va != nil && va.DeletionTimestamp != nil {
		return p.Age(va.DeletionTimestamp.Time) > settle
	}
	for _, c := range v.Terminating() {
		if c.Node() == node {
			return p.Age(c.Pod.DeletionTimestamp.Time) > settle+grace(c.Pod)
		}
	}
	for _, w := range v.Waiting() {
		if p.Age(w.Pod.CreationTimestamp.Time) > settle {
			return true
		}
	}
	return len(v.Live()) == 0 && nobodyLong(p, v, node)
}

// nobodyLong tells whether the last pod of a volume that no pod uses went long
// ago: its object is gone, so only events can say that it was just now, and of a namespace
// that is deleted, whose events go, too, the end of the claim.
func nobodyLong(p *diagnosis.Pass, v *snapshot.Volume, node string) bool {
	va := v.AttachmentOn(node)
	if va == nil || p.Age(va.CreationTimestamp.Time) <= settle || !evidence.ConsumersOf(p.Index, v).Complete() || !p.Collected("/events") {
		return false
	}
	if c := v.Claim; c != nil && c.DeletionTimestamp != nil && p.Age(c.DeletionTimestamp.Time) < settle {
		return false
	}
	if pv := v.PV; pv != nil && pv.Status.Phase == corev1.VolumeReleased && pv.Status.LastPhaseTransitionTime != nil && p.Age(pv.Status.LastPhaseTransitionTime.Time) < settle {
		return false
	}
	ns, _ := v.ClaimRef()
	if killed := p.LastKilled(ns, node); !killed.IsZero() && p.Age(killed) < settle {
		return false
	}
	for _, c := range v.Finished() {
		for _, cs := range c.Pod.Status.ContainerStatuses {
			if t := cs.State.Terminated; t != nil && p.Age(t.FinishedAt.Time) < settle {
				return false
			}
		}
	}
	return true
}
