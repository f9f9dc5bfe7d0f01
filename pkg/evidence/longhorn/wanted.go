package longhorn

import (
	"time"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// patience is how long Longhorn may take to attach or detach a volume before its state
// counts as stuck.
const patience = 3 * time.Minute

// WantedFor is how long somebody has wanted a volume attached without getting it: by
// the age of the pending VolumeAttachments, of tickets that are not satisfied, and when
// there are none of these, of the pods that wait. Zero: nobody wants it.
func WantedFor(x *snapshot.Index, v *snapshot.Volume) time.Duration {
	var longest time.Duration
	since := func(t time.Time) {
		if !t.IsZero() {
			longest = max(longest, x.Age(t), time.Second)
		}
	}
	for _, va := range v.Attachments {
		if !va.Status.Attached && va.DeletionTimestamp == nil {
			since(va.CreationTimestamp.Time)
		}
	}
	for _, t := range waitingTickets(v) {
		for _, c := range t.Conditions {
			since(c.LastTransition)
		}
	}
	if longest > 0 {
		return longest
	}
	for _, w := range v.Waiting() {
		since(w.Pod.CreationTimestamp.Time)
	}
	return longest
}

func waitingTickets(v *snapshot.Volume) []*snapshot.LHTicket {
	return evidence.Keep(v.Tickets(), func(t *snapshot.LHTicket) bool { return !t.Satisfied || !t.SatisfiedGeneration })
}

// Lost is how long Longhorn has not had a volume attached that Kubernetes has attached, with the facts; zero below
// patience. A shared volume is attached elsewhere, and a migration has it on two nodes.
func Lost(x *snapshot.Index, v *snapshot.Volume, va *storagev1.VolumeAttachment) (time.Duration, []report.Evidence) {
	lh := v.LH()
	if lh == nil || !va.Status.Attached || va.DeletionTimestamp != nil || lh.Status.State == "attached" || lh.Migratable || v.RegularRWX() {
		return 0, nil
	}
	for _, t := range waitingTickets(v) {
		if since := lastChange(t); t.ID == va.Name && !since.IsZero() && x.Age(since) >= patience {
			return x.Age(since), []report.Evidence{
				evidence.FromAPI("VolumeAttachment "+va.Name, "status.attached", "true"), evidence.FromAPI("Volume "+lh.Name, "status.state", lh.Status.State),
				evidence.FromAPI("VolumeAttachment.longhorn.io "+v.Longhorn.Attachment.Name, "status.attachmentTicketStatuses["+t.ID+"]", "not satisfied since "+since.UTC().Format(time.RFC3339)),
			}
		}
	}
	return 0, nil
}

// WantedNodes are the nodes to which a volume is to be attached, without repetition.
func WantedNodes(v *snapshot.Volume) []string {
	var out []string
	if lh := v.LH(); lh != nil {
		out = append(out, lh.NodeID)
	}
	for _, va := range v.Attachments {
		if !va.Status.Attached && va.DeletionTimestamp == nil {
			out = append(out, va.Spec.NodeName)
		}
	}
	for _, t := range waitingTickets(v) {
		out = append(out, t.NodeID)
	}
	if out = evidence.Names(out...); !v.RegularRWX() && len(out) == 0 {
		return evidence.Names(evidence.Each(v.Waiting(), (*snapshot.Consumer).Node)...)
	}
	return out
}

// NodesAt are the nodes on which Longhorn has something to do for a volume: where it is to be attached,
// and where it is.
func NodesAt(v *snapshot.Volume) []string {
	return evidence.Names(append(WantedNodes(v), v.LH().Status.CurrentNodeID)...)
}

// nodeWorks tells whether the kubelet of a node reports, as far as that is known.
func nodeWorks(x *snapshot.Index, node string) bool { return nodeDown(x, node) == "" }

// nodeDown says how a node does not serve what is on it, "" if it does or is not known. A node
// that left the cluster has no condition that could say so.
func nodeDown(x *snapshot.Index, node string) string {
	ready := x.NodeReady(node)
	switch {
	case node != "" && !ready.Exists && evidence.Resource(x, "/nodes").Complete():
		return "no such Node"
	case ready.Known && !ready.Ready:
		return "not True"
	}
	return ""
}
