package attach

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// AttachStateOutOfStep finds a VolumeAttachment and a node's volumesAttached that
// contradict each other.
var AttachStateOutOfStep = &diagnosis.Rule{
	Name: "attach-state-out-of-step", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Attaching, diagnosis.Publishing},
	Offers: []string{"delete-pod", "delete-volumeattachment"},
	Asks:   diagnosis.EachVolume,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		out := []*diagnosis.Proof{diagnosis.Rest(holder.Open(pl, "/nodes", "storage.k8s.io/volumeattachments"))}
		for _, s := range holder.Steps(pl) {
			p := &diagnosis.Proof{
				Subject: diagnosis.NodeSubject(s.Node.Name), Says: s.Says,
				With: words.Fields{"node": s.Node.Name, "va": s.Name, "volume": volume.Name(pl.Volume), "pod": pods.Name(s.Waiter), "where": s.Waiter.Spec.NodeName, "age": s.Age},
				// Attachments tell the rest: what could not be read of them is in Last.
				State: s.State, Last: s.Last,
				Steps: []remedy.Step{
					remedy.DeletePod(s.Waiter).Note("It waits and mounts nothing; when it is gone the controller forgets the volume on this node and starts again."),
					remedy.Words("If it stays: restart kube-controller-manager, which rebuilds its picture of attached volumes from the API. Give nodes no further permissions: none is missing."),
				},
			}
			if s.Tries {
				p.Waiting, p.AtMost = true, report.Possible
			}
			p.Object("va", s.Name)
			p.At(s.Node.Name)
			p.Pod(s.Waiter)
			out = append(out, p)
		}
		for _, u := range holder.UndersOf(pl) {
			p := &diagnosis.Proof{
				Subject: diagnosis.NodeSubject(u.Node), Says: u.Says, Severity: report.Degraded, State: u.State, Last: u.Last,
				With: words.Fields{"node": u.Node, "va": u.Name, "volume": volume.Name(pl.Volume), "pod": pods.Name(u.Pod), "where": u.Where},
				Steps: []remedy.Step{
					remedy.Check("See what the API says of the volume and of the node.", remedy.Kubectl("get", "volumeattachments"),
						remedy.Kubectl("get", "node", u.Node, "-o", "jsonpath={.status.volumesAttached}")),
					remedy.Words("Let the pod end in an orderly way at the next quiet moment: it is unmounted, and its next start attaches the volume anew. Do not start another pod with this volume before, do not remove the pod by force, and delete no VolumeAttachment of it by hand."),
				},
			}
			if u.Says == "leaving" { // it does not go as long as the pod writes
				p.Breaks = []diagnosis.Step{diagnosis.Detaching}
			}
			p.Object("va", u.Name)
			p.At(u.Node)
			p.Pod(u.Pod)
			out = append(out, p)
		}
		return out
	},
}
