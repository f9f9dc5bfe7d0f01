package provision

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Misfit is a parameter, or a pair of them, that does not fit the use of the volume.
type Misfit struct {
	Key, Value string   // the parameter, as it stands in the class or the volume
	Because    string   // why that cannot work, in a sentence
	Instead    string   // what a class that works says
	InPlace    string   // what mends the volume itself, with its data; empty: nothing does
	Missing    string   // what would have made it certain; empty: certain
	Rests      []string // resources of which nothing may be unread
	Own        bool     // the volume has it, and no class gave it
	Facts      []report.Evidence
}

// misfits are looked for in this order: what the volume itself carries, then what a
// mount or the provisioner refused.
var misfits = []func(*evidence.Place, *snapshot.Volume) (Misfit, bool){
	migratableShare, frontendWithoutDevice, encryptedWithoutSecret, nfsOptionsRefused, localWithCopies,
	mountOptionRefused, filesystemUnknown, parameterRefused,
}

// ClassOf is the class that a volume was made from, or is asked from.
func ClassOf(v *snapshot.Volume) string {
	switch {
	case v.Class != nil:
		return v.Class.Name
	case v.PV != nil:
		return v.PV.Spec.StorageClassName
	}
	return ""
}

// failing are the consumers that have waited for longer than a start takes.
func failing(pl *evidence.Place, v *snapshot.Volume) []*corev1.Pod {
	var out []*corev1.Pod
	for _, w := range v.Waiting() {
		if w.Pod.DeletionTimestamp == nil && pl.X.Age(w.Pod.CreationTimestamp.Time) >= time.Minute {
			out = append(out, w.Pod)
		}
	}
	return out
}

// carried is a parameter as the volume itself has it; what the class says today is no
// proof, as it may have been made anew since.
func carried(v *snapshot.Volume, key string) (value string, ev report.Evidence) {
	if value = v.Attribute(key); value != "" {
		return value, evidence.FromAPI("PersistentVolume "+v.PVName(), "spec.csi.volumeAttributes["+key+"]", value)
	}
	return "", report.Evidence{}
}

// MisfitOf finds the parameter that makes the place's volume unusable in the way it is
// consumed.
func MisfitOf(pl *evidence.Place) (Misfit, bool) {
	if ClassOf(pl.Volume) == "" || pl.Volume.Claim == nil {
		return Misfit{}, false
	}
	for _, judge := range misfits {
		if m, ok := judge(pl, pl.Volume); ok {
			m.Own = m.Own || byHand(pl.X, pl.Volume)
			return m, true
		}
	}
	return Misfit{}, false
}

// byHand tells whether no provisioner made a PersistentVolume, and the class that it names is none that
// could: what it carries is from no class.
func byHand(x *snapshot.Index, v *snapshot.Volume) bool {
	if v.PV == nil || snapshot.MadeBy(v.PV) != "" {
		return false
	}
	if v.Class != nil {
		return v.Class.Provisioner == "kubernetes.io/no-provisioner"
	}
	return evidence.Resource(x, "storage.k8s.io/storageclasses").Complete()
}

// Sure asks whether a volume shows the misfit itself, and what it rests on was read.
func (m Misfit) Sure(x *snapshot.Index) evidence.Answer {
	whole := evidence.Resources(x, m.Rests...)
	if m.Missing != "" {
		whole = whole.And(evidence.Partial(evidence.Lack{Need: m.Missing, Why: "nothing shows it"}))
	}
	return whole.Nothing()
}

// Failing are the pods of a volume that have waited for longer than a start takes.
func Failing(pl *evidence.Place) []*corev1.Pod { return failing(pl, pl.Volume) }
