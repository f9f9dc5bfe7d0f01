package symptom

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/filesystem"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// expansionPending: a claim asks for more than its volume has.
var expansionPending = &diagnosis.SymptomRule{Name: "expansion-pending", Run: func(p *diagnosis.Pass) {
	for _, v := range p.Volumes() {
		if v.Claim != nil && v.Claim.Status.Phase == corev1.ClaimBound {
			grows(p, v)
		}
	}
}}

func grows(p *diagnosis.Pass, v *snapshot.Volume) {
	object := "PersistentVolumeClaim " + v.Claim.Namespace + "/" + v.Claim.Name
	want := v.Claim.Spec.Resources.Requests[corev1.ResourceStorage]
	have := v.Claim.Status.Capacity[corev1.ResourceStorage]
	s := onVolume(v, fmt.Sprintf("%s asks for %s and has %s.", capital(name(v)), want.String(), have.String()))
	if want.Cmp(have) <= 0 || have.IsZero() {
		s.Message = fmt.Sprintf("The expansion of %s is not finished.", name(v))
	}
	if refused, lowered := claims.Lowered(v.Claim); lowered {
		s.Message += fmt.Sprintf(" What its driver refused was %s, before the request was lowered.", refused.String())
	}
	for _, k := range v.Claim.Status.Conditions {
		switch k.Type {
		case corev1.PersistentVolumeClaimResizing, corev1.PersistentVolumeClaimFileSystemResizePending,
			"ControllerResizeError", "NodeResizeError":
			if k.Status == corev1.ConditionTrue {
				s.Evidence = append(s.Evidence, evidence.FromAPI(object, "status.conditions["+string(k.Type)+"]", string(k.Status)+" "+k.Message))
			}
		}
	}
	if !have.IsZero() && want.Cmp(have) > 0 {
		s.Evidence = append(s.Evidence, evidence.FromAPI(object, "status.capacity.storage", have.String()))
	}
	// The status stays behind in a claim that has got all that was allocated (kubernetes/kubernetes#131402).
	allocated, told := v.Claim.Status.AllocatedResources[corev1.ResourceStorage]
	if st := v.Claim.Status.AllocatedResourceStatuses[corev1.ResourceStorage]; st != "" && !(told && !have.IsZero() && allocated.Cmp(have) <= 0) {
		s.Evidence = append(s.Evidence, evidence.FromAPI(object, "status.allocatedResourceStatuses", string(st)))
	}
	before := len(s.Evidence)
	expandTexts(p, v, s)
	complained := len(s.Evidence) > before
	if lh := v.LH(); lh != nil && lh.Status.ExpansionRequired {
		s.Evidence = append(s.Evidence, evidence.FromAPI("Volume "+lh.Name, "status.expansionRequired", "true"))
		s.At(lh.Status.CurrentNodeID)
	}
	if len(s.Evidence) > 0 {
		s.Pending = underWay(p, v, complained)
		p.AddSymptom(s)
	}
}

// underWay says what an expansion waits for that goes as it should: it began a moment ago, or
// its last part is done when a pod mounts the volume (docs: Expanding Persistent Volumes
// Claims). What complained says otherwise.
func underWay(p *diagnosis.Pass, v *snapshot.Volume, complained bool) string {
	if lh := v.LH(); complained || !evidence.ResourceIn(p.Index, "/events", v.Claim.Namespace).Complete() || lh != nil && lh.Status.ExpansionRequired {
		return ""
	}
	for _, st := range v.Claim.Status.AllocatedResourceStatuses {
		if strings.HasSuffix(string(st), "Infeasible") || strings.HasSuffix(string(st), "Failed") {
			return ""
		}
	}
	out, grows, placed := "", "", false
	grown := slices.ContainsFunc(v.Claim.Status.Conditions, func(k corev1.PersistentVolumeClaimCondition) bool {
		return k.Type == corev1.PersistentVolumeClaimFileSystemResizePending && k.Status == corev1.ConditionTrue
	})
	for _, c := range v.Live() {
		placed = placed || c.Node() != ""
		if words, a := filesystem.AtWork(p.Index, v, c.Node()); a.Yes() {
			grows = fmt.Sprintf("The filesystem of %s grows: %s.", name(v), words)
		}
	}
	for _, k := range v.Claim.Status.Conditions {
		age := p.Age(k.LastTransitionTime.Time)
		switch {
		case k.Status != corev1.ConditionTrue, grown && (k.Type == corev1.PersistentVolumeClaimResizing || k.Type == "ControllerResizeError"): // which csi-resizer leaves there
		case k.Type == "ControllerResizeError" || k.Type == "NodeResizeError":
			return ""
		case k.Type == corev1.PersistentVolumeClaimFileSystemResizePending && !placed && evidence.ConsumersOf(p.Index, v).Complete():
			out = fmt.Sprintf("The disk of %s has grown; its filesystem grows when a pod mounts it, and no pod that uses it has a node now.", name(v))
		case k.Type == corev1.PersistentVolumeClaimFileSystemResizePending && grows != "":
			out = grows
		case k.Type == corev1.PersistentVolumeClaimFileSystemResizePending && placed && starting(p, v):
			out = fmt.Sprintf("The disk of %s has grown; its filesystem grows when the pod that starts now mounts it.", name(v))
		case k.LastTransitionTime.IsZero() || age > resizing:
			return ""
		default:
			out = fmt.Sprintf("The expansion of %s began %s ago, which is not long yet.", name(v), evidence.Duration(age))
		}
	}
	return out
}

// starting tells whether every pod of a volume that has a node is new and still waits for the volume there.
func starting(p *diagnosis.Pass, v *snapshot.Volume) bool {
	return !slices.ContainsFunc(v.Live(), func(c *snapshot.Consumer) bool {
		return c.Node() != "" && (!c.Waiting() || p.Age(c.Pod.CreationTimestamp.Time) >= settle)
	})
}

// resizing is how long each part of an expansion may take before somebody should ask why.
const resizing = 2 * time.Minute

// expandTexts takes what was said on the way. A claim that has its size is past what the
// resizer said; what a node says of the filesystem counts by itself, and of a share, which has
// none there, it is kubelet's mistake (kubernetes/kubernetes#131419, rook/rook#11344). It is past once
// the same node said that it has grown.
func expandTexts(p *diagnosis.Pass, v *snapshot.Volume, s *diagnosis.Symptom) {
	grown := map[string]bool{}
	for _, t := range p.Texts(v) { // newest first
		if t.Reason == "FileSystemResizeSuccessful" {
			grown[t.Node] = true
		}
		resize := t.ResizeEvent() || is(t, message.ResizeFailed)
		onNode := t.Fresh && !grown[t.Node] && !strings.HasPrefix(t.Component, "external-resizer") && volume.KindOf(p.Index, v)&volume.Disk != 0
		if resize && (onNode || len(s.Evidence) > 0) && len(s.Evidence) < 4 {
			s.Evidence = append(s.Evidence, t.Evidence())
			s.At(t.Node)
		}
	}
}
