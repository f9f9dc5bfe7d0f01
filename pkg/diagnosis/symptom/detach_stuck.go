package symptom

import (
	"fmt"
	"slices"
	"time"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// detachStuck: an attachment that should go stays.
var detachStuck = &diagnosis.SymptomRule{Name: "detach-stuck", Run: func(p *diagnosis.Pass) {
	told(p, func(t diagnosis.Text) bool {
		return t.Op == "DetachVolume.Detach" || is(t, message.StillInUsePerStatus, message.FailedToDetach)
	}, func(v *snapshot.Volume, t diagnosis.Text) string {
		return fmt.Sprintf("%s does not detach: %s", capital(name(v)), evidence.Brief(t.Desc))
	})
	owner := map[*storagev1.VolumeAttachment]*snapshot.Volume{}
	for _, v := range p.Volumes() {
		for _, va := range v.Attachments {
			owner[va] = v
		}
	}
	for _, va := range p.Cluster.Attachments {
		v := owner[va]
		if v == nil && !onAskedNode(p, va) {
			continue
		}
		if why := staysAttached(p, v, va); why != "" {
			addAttachment(p, v, va, why)
		}
	}
	for _, v := range p.Volumes() {
		longhornStays(p, v)
		if len(v.Attachments) == 0 && v.LH() == nil {
			for _, n := range p.OtherNodes(v) {
				listedOnNode(p, v, n)
			}
		}
	}
}}

// listedOnNode covers volumes without VolumeAttachments: of in-tree drivers only
// the node's status says who has them.
func listedOnNode(p *diagnosis.Pass, v *snapshot.Volume, node string) {
	wanted, _ := p.WantedReleased(v, node)
	if !wanted || !v.Exclusive() || !p.NodeReady(node).Ready || !longReleased(p, v, node) {
		return
	}
	field := ""
	switch {
	case p.ReportedAttached(node, v):
		field = "status.volumesAttached"
	case p.ReportedInUse(node, v):
		field = "status.volumesInUse"
	default:
		return
	}
	s := onVolume(v, fmt.Sprintf("%s stays with node %s, and no pod there needs it.", capital(name(v)), node))
	s.At(node)
	s.Evidence = append(s.Evidence, evidence.FromAPI("Node "+node, field, v.UniqueName()))
	p.AddSymptom(s)
}

// onAskedNode keeps attachments without a volume (its PV is gone) in a sweep.
func onAskedNode(p *diagnosis.Pass, va *storagev1.VolumeAttachment) bool {
	if pv := va.Spec.Source.PersistentVolumeName; pv != nil && p.PV(*pv) != nil {
		return false
	}
	return p.Question.Kind == "cluster" && p.Question.Namespace == "" || p.Question.Kind == "node" && p.Question.Name == va.Spec.NodeName
}

func staysAttached(p *diagnosis.Pass, v *snapshot.Volume, va *storagev1.VolumeAttachment) string {
	switch e := va.Status.DetachError; {
	case va.DeletionTimestamp != nil && p.Age(va.DeletionTimestamp.Time) > settle:
		return "is being deleted since " + evidence.Duration(p.Age(va.DeletionTimestamp.Time))
	case e != nil && (va.DeletionTimestamp != nil || p.Age(e.Time.Time) < 10*time.Minute):
		return "does not detach: " + evidence.Brief(e.Message)
	case v == nil || va.DeletionTimestamp != nil || !evidence.ConsumersOf(p.Index, v).Complete():
		return ""
	}
	node := va.Spec.NodeName
	if !p.NodeReady(node).Ready || len(v.LiveConsumersOn(node)) > 0 || !longReleased(p, v, node) {
		return ""
	}
	if wanted, _ := p.WantedReleased(v, node); wanted && v.Exclusive() && p.Age(va.CreationTimestamp.Time) > settle {
		return "stays although no pod on the node needs it"
	}
	return ""
}

func addAttachment(p *diagnosis.Pass, v *snapshot.Volume, va *storagev1.VolumeAttachment, why string) {
	s := &diagnosis.Symptom{Subject: diagnosis.ObjectSubject("VolumeAttachment", "", va.Name)}
	s.Message = fmt.Sprintf("VolumeAttachment %s on node %s %s.", va.Name, va.Spec.NodeName, why)
	s.Volume(v)
	s.Object("va", va.Name)
	s.At(va.Spec.NodeName)
	object := "VolumeAttachment " + va.Name
	if e := va.Status.DetachError; e != nil {
		s.Evidence = append(s.Evidence, evidence.FromAPI(object, "status.detachError", e.Message))
	}
	if t := va.DeletionTimestamp; t != nil {
		s.Evidence = append(s.Evidence, evidence.FromAPI(object, "metadata.deletionTimestamp", t.UTC().Format(time.RFC3339)))
	}
	if len(s.Evidence) == 0 {
		s.Evidence = append(s.Evidence, evidence.FromAPI(object, "status.attached", fmt.Sprint(va.Status.Attached)))
	}
	p.AddSymptom(s)
}

// longhornStays finds a Longhorn volume that detaches for too long, or stays
// attached although no attachment, no pod and no ticket that works wants it.
func longhornStays(p *diagnosis.Pass, v *snapshot.Volume) {
	lh := v.LH()
	if lh == nil {
		return
	}
	st := lh.Status
	node := st.CurrentNodeID
	why := ""
	switch {
	case st.State == "detaching" && !wantedAttached(v) && longIn(p, v, settle):
		why = "is detaching"
	case st.State == "detaching" && len(v.Running()) > 0 && longIn(p, v, 10*time.Minute):
		why = "is detaching under its pod, and does not come to an end" // not between two attempts: those leave events
	case st.State == "attached" && len(v.Attachments) == 0 && len(v.Live()) == 0 && !workingTicket(p, v) && !busyItself(lh) && longIn(p, v, 10*time.Minute):
		why = "stays attached to node " + node + " although no pod and no VolumeAttachment wants it"
	default:
		return
	}
	s := onVolume(v, fmt.Sprintf("Longhorn volume %s %s.", lh.Name, why))
	s.Subject = diagnosis.ObjectSubject("Volume", lh.Namespace, lh.Name)
	s.At(node)
	s.Evidence = append(s.Evidence, evidence.FromAPI("Volume "+lh.Name, "status.state", st.State))
	p.AddSymptom(s)
}

// wantedAttached tells whether Kubernetes wants the volume attached: then a
// detaching one is between two attempts to attach it.
func wantedAttached(v *snapshot.Volume) bool {
	return slices.ContainsFunc(v.Attachments, func(va *storagev1.VolumeAttachment) bool { return va.DeletionTimestamp == nil })
}

// longIn tells whether nothing shows that the volume is in its state for less
// than a while: no event of the volume, and nothing whose deletion ends it, that is younger.
func longIn(p *diagnosis.Pass, v *snapshot.Volume, least time.Duration) bool {
	young := func(d *metav1.Time) bool { return d != nil && p.Age(d.Time) < least }
	for _, e := range p.Events("Volume", p.LonghornNamespace(), v.LH().Name) {
		if (e.Reason == "Attached" || e.Reason == "Detached") && p.Age(e.Last) < least {
			return false
		}
	}
	return !slices.ContainsFunc(v.Consumers, func(c *snapshot.Consumer) bool { return young(c.Pod.DeletionTimestamp) }) &&
		!slices.ContainsFunc(v.Attachments, func(va *storagev1.VolumeAttachment) bool { return young(va.DeletionTimestamp) })
}

// busyItself tells whether Longhorn keeps a volume attached for work of its own that
// needs no ticket: a restore, a standby volume that follows its backups, a clone.
func busyItself(lh *snapshot.LHVolume) bool {
	clones := lh.Status.CloneState != "" && lh.Status.CloneState != "completed" && lh.Status.CloneState != "failed"
	return lh.Standby || lh.Status.RestoreRequired || clones
}

// workingTicket tells whether somebody wants the volume attached by a ticket: for work in progress
// (snapshot, backup, clone, rebuild, restore, expansion), or by hand and not as what nobody uses any more.
func workingTicket(p *diagnosis.Pass, v *snapshot.Volume) bool {
	return slices.ContainsFunc(longhorn.TicketsOf(&evidence.Place{X: p.Index, Volume: v}), func(t longhorn.Ticket) bool {
		return t.Type != "csi-attacher" && t.Type != "longhorn-upgrader" && (!t.ByHand || t.Unneeded.No())
	})
}
