package attach

import (
	"strings"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// NodeRemoved finds an attachment or a Longhorn object that refers to a Node
// object which is gone.
var NodeRemoved = &diagnosis.Rule{
	Name: "node-removed", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Attaching, diagnosis.Detaching},
	LeadsTo:  []string{"longhorn-disk-unusable", "longhorn-volume-status-leftover", "longhorn-replica-unschedulable"},
	YieldsTo: []string{"volume-mapped-outside-cluster"}, // then the storage refuses, not the missing object
	Asks:     diagnosis.EachVolume | diagnosis.EachSweptNode,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Volume == nil && pl.X.Node(pl.Node) != nil {
			return nil
		}
		out := []*diagnosis.Proof{diagnosis.Rest(holder.Open(pl, "storage.k8s.io/volumeattachments"))}
		if pl.Volume != nil {
			for _, va := range pl.Volume.Attachments {
				out = append(out, goneAttachment(pl, va))
			}
		}
		for _, ref := range longhorn.GoneRefs(pl) {
			out = append(out, goneReference(pl, ref))
		}
		return out
	},
}

func goneAttachment(pl *evidence.Place, va *storagev1.VolumeAttachment) *diagnosis.Proof {
	gone := holder.NodeGone(pl.X, va)
	if gone.No() {
		return nil
	}
	node, name, kept := va.Spec.NodeName, volume.Name(pl.Volume), holder.KeptFrom(pl.X, pl.Volume, va)
	p := &diagnosis.Proof{Subject: diagnosis.NodeSubject(node), Says: "attachment",
		With:  words.Fields{"node": node, "va": va.Name, "volume": name, "age": pods.Deleting(pl.X, va), "finalizers": strings.Join(va.Finalizers, ", "), "waits": holder.Waits(kept)},
		State: []evidence.Answer{gone, holder.InTheWay(pl.X, pl.Volume, va)},
		Steps: remedy.DetachFromGone(node, name, va.Name)}
	if traceless := holder.Traceless(pl.X, va); gone.Unseen() && traceless.Yes() {
		p.State, p.Last = []evidence.Answer{traceless, holder.InTheWay(pl.X, pl.Volume, va)}, []evidence.Answer{gone}
	}
	if holder.UsedBeside(pl.X, pl.Volume, va) {
		p.Severity = report.Degraded // what remains to be cleared keeps nobody from it
	}
	if va.DeletionTimestamp == nil {
		p.Says = "unasked"
	}
	if holder.Leaving(pl.X, va) {
		p.Says, p.Waiting, p.Steps = "leaving", true, []remedy.Step{remedy.Words("Wait: the attacher detaches the volume from the machine by itself, and the attachment goes; when it stays for longer than two minutes, look at its detachError.")}
	}
	p.Attachment(va)
	p.At(node)
	p.Pods(kept...)
	return p
}

func goneReference(pl *evidence.Place, ref longhorn.GoneRef) *diagnosis.Proof {
	v := ref.Volume
	gone, listed := ref.Gone(pl.X)
	p := &diagnosis.Proof{Subject: diagnosis.NodeSubject(ref.Node), Says: "longhorn",
		With: words.Fields{"node": ref.Node, "object": ref.Object, "field": ref.Field, "volume": v.LH().Name, "state": v.LH().Status.State,
			"waits": holder.Waits(holder.Waiters(v)), "known": ref.Known(pl.X)},
		State: []evidence.Answer{gone}, Last: []evidence.Answer{listed, ref.Needed(pl.X)},
		Steps: remedy.ForgetNode(ref.Node, ref.Reconciler(pl.X))}
	p.Volume(v)
	p.At(ref.Node)
	p.Pods(holder.Waiters(v)...)
	return p
}
