package attach

import (
	_ "embed"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed node_removed.md
var nodeRemovedDoc string

// NodeRemoved finds an attachment or a Longhorn object that refers to a Node
// object which is gone.
var NodeRemoved = &diagnosis.Rule{
	Name: "node-removed", Layer: diagnosis.Attach, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/nodes")},
	Explains: []string{"detach-stuck", "multi-attach-error", "pod-waiting-for-volume", "attach-failed", "volume-attach-loop"},
	LeadsTo:  []string{"longhorn-disk-unusable", "longhorn-volume-status-leftover", "longhorn-replica-unschedulable"},
	YieldsTo: []string{"volume-mapped-outside-cluster"}, // then the storage refuses, not the missing object
	Doc:      nodeRemovedDoc,
	Run:      nodeRemoved,
}

func nodeRemoved(p *diagnosis.Pass) {
	if !p.Collected("/nodes") {
		return // without nodes nothing shows that one is missing; node-down says what was not read
	}
	for _, v := range p.Volumes() {
		for _, va := range v.Attachments {
			if p.Node(va.Spec.NodeName) == nil && blockedByAttachment(v, va) {
				reportGoneAttachment(p, v, va)
			}
		}
		for _, ref := range longhornRefs(p, v) {
			reportGoneLonghorn(p, v, ref)
		}
	}
	if p.Question.Kind != "node" || p.Node(p.Question.Name) != nil {
		return
	}
	for _, v := range p.Index.Volumes { // asked about the missing node itself: who still names it
		for _, ref := range longhornRefs(p, v) {
			if ref.Node == p.Question.Name && !p.InScope(v) {
				reportGoneLonghorn(p, v, ref)
			}
		}
	}
}

// blockedByAttachment tells whether the leftover attachment is in somebody's way:
// it cannot go, or a pod waits elsewhere for a volume that only one node may have.
func blockedByAttachment(v *snapshot.Volume, va *storagev1.VolumeAttachment) bool {
	return va.DeletionTimestamp != nil || va.Status.DetachError != nil || va.Status.Attached && len(kept(v, va)) > 0
}

// kept are the pods that the attachment keeps from the volume.
func kept(v *snapshot.Volume, va *storagev1.VolumeAttachment) []*corev1.Pod {
	if !v.Exclusive() {
		return nil
	}
	return waitersAwayFrom(v, va.Spec.NodeName)
}

func reportGoneAttachment(p *diagnosis.Pass, v *snapshot.Volume, va *storagev1.VolumeAttachment) {
	node := va.Spec.NodeName
	f := p.Find(report.Certain, diagnosis.NodeSubject(node)).On(v).Located(node)
	f.Object("va", va.Name)
	f.Fact(attachedEvidence(va), diagnosis.FromAPI("Nodes", "", "collected; none is named "+node))
	state := "is still there"
	if va.DeletionTimestamp != nil {
		state = "has been waiting for its deletion for " + ago(p, va.DeletionTimestamp.Time)
		f.Fact(diagnosis.FromAPI("VolumeAttachment "+va.Name, "metadata.finalizers", strings.Join(va.Finalizers, " ")))
	}
	if e := va.Status.DetachError; e != nil {
		f.Fact(diagnosis.FromAPI("VolumeAttachment "+va.Name, "status.detachError.message", e.Message))
	}
	waits := ""
	for _, w := range kept(v, va) {
		f.Pod(w)
		f.Fact(diagnosis.FromAPI(podFact(w)))
		waits += fmt.Sprintf(" Pod %s waits for the volume on node %s.", podName(w), w.Spec.NodeName)
	}
	f.Sayf("Node %s does not exist any more, but VolumeAttachment %s still ties volume %s to it and %s; its finalizers (%s) stay because nobody can confirm the detach.%s "+
		"A missing Node object does not prove that the machine is off.",
		node, va.Name, volumeName(v), state, strings.Join(va.Finalizers, ", "), waits)
	f.Unless("a Node named " + node + " in the API")
	f.Advise(remedy.Words(fmt.Sprintf("If the machine of node %s still exists, let it join again under its name: the detach then finishes by itself.", node)))
	f.Advise(remedy.Words(fmt.Sprintf("Otherwise look in the storage backend or the hypervisor. Once you have made sure that volume %s is attached to no running machine, "+
		"take the attacher's finalizer off VolumeAttachment %s; deleting it again, also by force, changes nothing. Never while the old machine may run.", volumeName(v), va.Name)))
	p.Report(f)
}

// goneRef is a field of a Longhorn object that names a node which is gone.
type goneRef struct {
	Node, Object, Field string
	Essential           bool // the volume cannot proceed without that node: not a mere replica
}

// longhornRefs lists what of a Longhorn volume that is stuck points at missing nodes.
// A volume that is attached, or rests detached, is not held up by such a leftover.
func longhornRefs(p *diagnosis.Pass, v *snapshot.Volume) []goneRef {
	if v.Longhorn == nil || v.Longhorn.Volume == nil || !stuckLonghorn(p, v) {
		return nil
	}
	vol := v.Longhorn.Volume
	var out []goneRef
	note := func(node, object, field string, essential bool) {
		if node != "" && p.Node(node) == nil {
			out = append(out, goneRef{node, object, field, essential})
		}
	}
	note(vol.NodeID, "Volume "+vol.Name, "spec.nodeID", true)
	note(vol.Status.CurrentNodeID, "Volume "+vol.Name, "status.currentNodeID", true)
	if reads, known := readsPendingNode(p.LonghornVersion()); reads || !known {
		note(vol.Status.PendingNodeID, "Volume "+vol.Name, "status.pendingNodeID", known)
	}
	note(vol.Status.OwnerID, "Volume "+vol.Name, "status.ownerID", true)
	if a := v.Longhorn.Attachment; a != nil {
		for _, t := range a.Tickets {
			note(t.NodeID, "VolumeAttachment.longhorn.io "+a.Name, "spec.attachmentTickets["+t.ID+"].nodeID", true)
		}
	}
	for _, e := range v.Longhorn.Engines {
		note(e.NodeID, "Engine "+e.Name, "spec.nodeID", true)
	}
	for _, r := range v.Longhorn.Replicas {
		if r.FailedAt == "" { // a failed replica is not started, so its node is not needed
			note(r.NodeID, "Replica "+r.Name, "spec.nodeID", onlyReplicaMissing(p, v, r))
		}
	}
	return out
}

// readsPendingNode tells whether Longhorn of a version may wait for status.pendingNodeID
// itself. In 1.5.0 to 1.5.4 the field blocks whichever node it names, and later nobody
// reads it: there the missing node is not what holds the volume up.
func readsPendingNode(version string) (reads, known bool) {
	var major, minor int
	if n, _ := fmt.Sscanf(strings.TrimPrefix(version, "v"), "%d.%d", &major, &minor); n < 2 {
		return false, false
	}
	return major < 1 || major == 1 && minor < 5, true
}

// onlyReplicaMissing tells whether a replica is wanted and does not run, while every
// other usable one on an existing node runs: then nothing else holds the volume up.
func onlyReplicaMissing(p *diagnosis.Pass, v *snapshot.Volume, r *snapshot.LHReplica) bool {
	if r.DesireState != "running" || r.CurrentState == "running" {
		return false
	}
	for _, o := range v.Longhorn.Replicas {
		if o != r && o.FailedAt == "" && p.Node(o.NodeID) != nil && o.CurrentState != "running" {
			return false
		}
	}
	return true
}

// stuckLonghorn tells whether the volume is on its way and does not arrive.
func stuckLonghorn(p *diagnosis.Pass, v *snapshot.Volume) bool {
	switch v.Longhorn.Volume.Status.State {
	case "attaching", "detaching":
		return true
	case "attached":
		return p.Node(v.Longhorn.Volume.Status.CurrentNodeID) == nil && len(v.Waiting()) > 0
	}
	return p.Suffers(v, "attach-failed", "detach-stuck", "volume-attach-loop")
}

func reportGoneLonghorn(p *diagnosis.Pass, v *snapshot.Volume, ref goneRef) {
	vol := v.Longhorn.Volume
	f := p.Find(report.Certain, diagnosis.NodeSubject(ref.Node)).On(v).Located(ref.Node)
	f.Fact(
		diagnosis.FromAPI(ref.Object, ref.Field, ref.Node),
		diagnosis.FromAPI("Nodes", "", "collected; none is named "+ref.Node),
		diagnosis.FromAPI("Volume "+vol.Name, "status.state", vol.Status.State),
	)
	gone := false
	if n := p.LHNode(ref.Node); n != nil {
		if c, ok := n.Conditions.Get("Ready"); ok && c.Status != "True" {
			gone = c.Reason == "KubernetesNodeGone"
			f.Fact(diagnosis.FromAPI("Node.longhorn.io "+ref.Node, "status.conditions[Ready]", strings.TrimSpace(c.Status+" "+c.Reason+" "+c.Message)))
		}
	}
	if !ref.Essential {
		f.Missing("that Longhorn waits for " + ref.Object + " on the missing node")
	}
	waits := ""
	for _, c := range v.Waiting() {
		f.Pod(c.Pod)
		waits += fmt.Sprintf(" Pod %s waits for it.", podName(c.Pod))
	}
	known := "Longhorn has no node object of that name either."
	if p.LHNode(ref.Node) != nil {
		known = "Longhorn's own object of the node still exists"
		if gone {
			known += " and says KubernetesNodeGone"
		}
		known += "."
	}
	f.Sayf("Node %s does not exist any more, but %s of Longhorn volume %s still names it (%s), so Longhorn looks for an instance manager there that will never answer and the volume stays %s.%s %s",
		ref.Node, ref.Object, vol.Name, ref.Field, vol.Status.State, waits, known)
	f.Unless("a Node named " + ref.Node + " in the API, or the volume becoming attached")
	f.Advise(remedy.Words(fmt.Sprintf("If the machine of node %s still exists, let it join again under its name.", ref.Node)))
	f.Advise(remedy.Words(fmt.Sprintf("Otherwise restart the longhorn-manager pod on node %s, which reconciles this volume, so that it forgets the missing instance manager. "+
		"Remove Longhorn's object of node %s only when it holds no replica that is still needed.", vol.Status.OwnerID, ref.Node)))
	p.Report(f)
}
