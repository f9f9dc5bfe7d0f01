package attach

import (
	_ "embed"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/cloud"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/slots"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed attachment_stale_in_backend.md
var attachmentStaleInBackendDoc string

// AttachmentStaleInBackend finds disks that the storage backend holds attached, or
// still detaching, while Kubernetes has no attachment there.
var AttachmentStaleInBackend = &diagnosis.Rule{
	Name: "attachment-stale-in-backend", Layer: diagnosis.Attach, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("storage.k8s.io/volumeattachments")},
	Explains: []string{"attach-failed", "pod-waiting-for-volume", "multi-attach-error"},
	YieldsTo: []string{"volume-mapped-outside-cluster"},
	Doc:      attachmentStaleInBackendDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if len(v.Waiting()) == 0 || v.IsLonghorn() || v.PVName() == "" {
				continue
			}
			if t, machine, ok := backendRefusal(p, v); ok {
				staleInBackend(p, v, t, machine)
			}
		}
	},
}

// backendRefusal is the newest word of the backend about an attach of the volume.
func backendRefusal(p *diagnosis.Pass, v *snapshot.Volume) (diagnosis.Text, string, bool) {
	for _, t := range p.Texts(v) {
		attaching := t.Source == "api" || strings.Contains(t.Reason, "Attach") || strings.Contains(t.Op, "Attach") || strings.Contains(t.Raw, "AttachVolume") || strings.Contains(t.Raw, "ControllerPublish")
		if !t.Fresh || !attaching || t.Reason == "detachError" || multiAttach(t.Raw) || slots.SaysNone(t) || t.Is(message.Throttled) {
			continue // a limit and a rate name instances, too
		}
		if machine, ok := cloud.SaysElsewhere(p.Index, t.Raw); ok {
			return t, machine, true
		}
	}
	return diagnosis.Text{}, "", false
}

// heldElsewhere tells whether Kubernetes itself has the volume on another node: then
// the backend is right.
func heldElsewhere(v *snapshot.Volume, node string) bool {
	for _, va := range v.Attachments {
		if va.Spec.NodeName != node {
			return true
		}
	}
	for _, c := range v.Live() {
		if n := c.Node(); n != "" && n != node && !c.Waiting() {
			return true
		}
	}
	return false
}

func staleInBackend(p *diagnosis.Pass, v *snapshot.Volume, t diagnosis.Text, machine string) {
	w := v.Waiting()[0]
	for _, c := range v.Waiting() {
		if c.Node() != "" && (c.Node() == t.Node || w.Node() == "") {
			w = c
		}
	}
	var node *corev1.Node
	if machine != "" {
		node = cloud.MachineNode(p.Index, v.CSIName(), machine)
	}
	if node == nil && heldElsewhere(v, w.Node()) {
		return
	}
	if node != nil && (node.Name == w.Node() || v.AttachmentOn(node.Name) != nil || len(v.LiveConsumersOn(node.Name)) > 0 || sharedHandle(p, v, node.Name)) {
		return // Kubernetes has a reason to hold it there
	}
	f := p.Find(report.Likely, diagnosis.ObjectSubject("PersistentVolume", "", v.PVName())).On(v)
	text := whereItIs(p, f, v, machine, node)
	f.Located(w.Node()).Fact(t.Evidence())
	for _, c := range v.Waiting() {
		f.Pod(c.Pod)
	}
	for _, va := range v.Attachments {
		f.Object("va", va.Name)
	}
	f.Sayf("The storage backend refuses to attach volume %s to node %s for pod %s (said %s ago). %s No VolumeAttachment and no pod of this cluster holds the volume anywhere else. "+
		"Cluster and nodes cannot show the backend's own state.", volumeName(v), w.Node(), podName(w.Pod), diagnosis.Duration(p.Age(t.At)), text)
	f.Unless("an attachment, a pod or a disk of this volume on the machine that the backend names, or an outage of its API")
	f.Advise(staleBackendAdvice(machine, node))
	p.Report(f)
}

// whereItIs says what the backend's word means for the cluster, and how sure that is.
func whereItIs(p *diagnosis.Pass, f *diagnosis.Finding, v *snapshot.Volume, machine string, node *corev1.Node) string {
	text := ""
	switch {
	case machine == "":
		text = "It calls the disk still attached or being detached, and names no machine."
		f.NotConfirmed = append(f.NotConfirmed, "the state of the disk in the storage backend, which no object and no node shows")
	case node == nil && p.Collected("/nodes") && cloud.Tellable(p.Index, v.CSIName(), machine):
		f.Certainty, text = report.Certain, "It calls the disk attached to "+machine+", which is no node of this cluster."
	case node == nil:
		text = "It calls the disk attached to " + machine + "."
		f.NotConfirmed = append(f.NotConfirmed, "whether "+machine+" is a node of this cluster")
	default:
		text = "It calls the disk attached to node " + node.Name + ", where Kubernetes has no attachment of it."
		f.Located(node.Name)
		if d, ok := p.DeviceOn(v, node.Name); ok && d.Proven && d.Block != nil {
			f.Certainty = report.Certain
			text += " The disk is there (" + d.Block.Name + ")."
			f.Fact(diagnosis.FromNode(node.Name, d.Locator, d.How))
		} else if p.View(node.Name) == nil {
			p.Probed(node.Name)
			f.NotConfirmed = append(f.NotConfirmed, "the disks of node "+node.Name)
		} else {
			text += " The node does not show it."
		}
		if p.ReportedAttached(node.Name, v) {
			text += " The node's status.volumesAttached still lists it, so the disk may come back after a detach by hand."
			f.Fact(diagnosis.FromAPI("Node "+node.Name, "status.volumesAttached", v.UniqueName()))
		}
	}
	return text
}

// sharedHandle tells whether a pod on the node uses another PV of the same disk.
func sharedHandle(p *diagnosis.Pass, v *snapshot.Volume, node string) bool {
	for _, o := range p.Index.Volumes {
		if o != v && o.Driver == v.Driver && o.Handle == v.Handle && v.Handle != "" && len(o.LiveConsumersOn(node)) > 0 {
			return true
		}
	}
	return false
}

func staleBackendAdvice(machine string, node *corev1.Node) remedy.Step {
	where := "the backend's console or command line"
	if machine != "" {
		where += " (machine " + machine + ")"
	}
	text := fmt.Sprintf("Look at the disk in %s. If a machine really uses it, stop that first. Detach it there only when no machine mounts it, or bring the machine's model up to date where the backend keeps a failed detach in it; the attacher tries again by itself.", where)
	if node != nil {
		text += " If the disk comes back, drain node " + node.Name + " first."
	}
	return remedy.Words(text)
}
