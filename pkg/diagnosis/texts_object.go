package diagnosis

import (
	"strings"
	"time"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// fromObjects takes the events and conditions of the claim and its PV.
func (t *texts) fromObjects(v *snapshot.Volume) {
	if ns, name := v.ClaimRef(); name != "" {
		for _, e := range t.x.Events("PersistentVolumeClaim", ns, name) {
			if v.Claim != nil && e.ObjUID != "" && e.ObjUID != string(v.Claim.UID) {
				continue
			}
			t.add(v, t.event(e, time.Time{}))
		}
	}
	if name := v.PVName(); name != "" {
		for _, e := range t.x.Events("PersistentVolume", "", name) {
			if v.PV != nil && e.ObjUID != "" && e.ObjUID != string(v.PV.UID) {
				continue
			}
			t.add(v, t.event(e, time.Time{}))
		}
	}
	if v.PV != nil && v.PV.Status.Message != "" {
		t.add(v, Text{Source: "api", Component: "persistentvolume-controller", Reason: v.PV.Status.Reason,
			Locator: "PersistentVolume " + v.PV.Name + " status.message", At: t.x.TakenAt, Fresh: true, Raw: v.PV.Status.Message})
	}
	if v.Claim == nil {
		return
	}
	object := "PersistentVolumeClaim " + v.Claim.Namespace + "/" + v.Claim.Name
	for _, k := range v.Claim.Status.Conditions {
		if k.Message != "" {
			t.add(v, Text{Source: "api", Component: "csi-resizer", Reason: k.Reason, Fresh: true,
				Locator: object + " status.conditions[" + string(k.Type) + "]", At: k.LastTransitionTime.Time, Raw: k.Message})
		}
	}
}

// fromAttachments takes the errors and events of the VolumeAttachments. An
// attachError beside attached: true is stale.
func (t *texts) fromAttachments(v *snapshot.Volume) {
	for _, va := range v.Attachments {
		t.attachError(v, va, va.Status.AttachError, "attachError", !va.Status.Attached)
		t.attachError(v, va, va.Status.DetachError, "detachError", true)
		for _, e := range t.x.Events("VolumeAttachment", "", va.Name) {
			x := t.event(e, va.CreationTimestamp.Time)
			x.Node = va.Spec.NodeName
			t.add(v, x)
		}
	}
}

func (t *texts) attachError(v *snapshot.Volume, va *storagev1.VolumeAttachment, e *storagev1.VolumeError, field string, current bool) {
	if e == nil {
		return
	}
	at := e.Time.Time
	x := Text{
		Source: "api", Component: "csi-attacher", Node: va.Spec.NodeName, Reason: field,
		Locator: "VolumeAttachment " + va.Name + " status." + field, At: at, Raw: e.Message,
		Fresh: current && (at.IsZero() || t.x.Age(at) < freshText),
	}
	if x.Fresh && t.renewed(va.Spec.Attacher, at) { // who begins anew asks for every attachment, and has not said so of this one
		x.Aged, x.Fresh = true, t.x.IsPatient()
		t.standing[spoken{x.Locator, x.Raw}] = at
	}
	t.add(v, x)
}

// fromLonghorn takes the events and conditions of Longhorn's objects of the volume.
func (t *texts) fromLonghorn(v *snapshot.Volume) {
	if v.Longhorn == nil {
		return
	}
	ns := t.x.LonghornNamespace()
	l := v.Longhorn
	if l.Volume != nil {
		t.longhornObject(v, ns, "Volume", l.Volume.Name, l.Volume.Status.CurrentNodeID, l.Volume.Status.Conditions)
	}
	for _, e := range l.Engines {
		t.longhornObject(v, ns, "Engine", e.Name, e.NodeID, e.Conditions)
	}
	for _, f := range l.Frontends {
		t.longhornObject(v, ns, "EngineFrontend", f.Name, f.NodeID, f.Conditions)
	}
	for _, r := range l.Replicas {
		t.longhornObject(v, ns, "Replica", r.Name, r.NodeID, r.Conditions)
	}
	if l.ShareManager != nil {
		t.longhornObject(v, ns, "ShareManager", l.ShareManager.Name, l.ShareManager.OwnerID, nil)
	}
	if a := l.Attachment; a != nil {
		for _, k := range a.Tickets {
			t.longhornConditions(v, "volumeattachments.longhorn.io "+a.Name+" ticket "+k.ID, k.NodeID, k.Conditions)
		}
	}
	if l.Volume == nil && v.Handle == "" {
		return
	}
	name := "share-manager-" + lhName(v)
	for _, e := range t.x.Events("Pod", ns, name) {
		t.add(v, t.event(e, time.Time{}))
	}
}

func lhName(v *snapshot.Volume) string {
	if lh := v.LH(); lh != nil {
		return lh.Name
	}
	return v.Handle
}

func (t *texts) longhornObject(v *snapshot.Volume, ns, kind, name, node string, conditions snapshot.Conditions) {
	for _, e := range t.x.Events(kind, ns, name) {
		x := t.event(e, time.Time{})
		if x.Node == "" {
			x.Node = node
		}
		t.add(v, x)
	}
	t.longhornConditions(v, kind+" "+name, node, conditions)
}

// longhornConditions takes the messages of conditions: which status means trouble
// differs from type to type, so an empty message is the only one left out.
func (t *texts) longhornConditions(v *snapshot.Volume, object, node string, list snapshot.Conditions) {
	for _, k := range list {
		if strings.TrimSpace(k.Message) == "" {
			continue
		}
		t.add(v, Text{Source: "api", Component: "longhorn-manager", Node: node, Reason: k.Reason, Fresh: true,
			Locator: object + " status.conditions[" + k.Type + "]", At: k.LastTransition, Raw: k.Message})
	}
}

// fromNodeEvents takes the events of nodes that name a volume of the question.
func (t *texts) fromNodeEvents(s scope) {
	names := t.namesOf(s.volumes)
	for _, n := range s.nodes {
		for _, e := range t.x.Events("Node", "", n) {
			for _, v := range names.find(e.Message) {
				x := t.event(e, time.Time{})
				x.Node = n
				t.add(v, x)
			}
		}
	}
}
