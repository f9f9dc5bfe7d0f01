package claim

import (
	_ "embed"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed storageclass_parameter_wrong.md
var storageclassParameterWrongDoc string

// StorageclassParameterWrong finds a parameter of a class that makes its volumes
// unusable in the way they are consumed.
var StorageclassParameterWrong = &diagnosis.Rule{
	Name: "storageclass-parameter-wrong", Layer: diagnosis.Claim, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/pods"), diagnosis.API("/persistentvolumes")},
	Explains: []string{"pod-waiting-for-volume", "attach-failed", "mount-failed", "multi-attach-error", "claim-pending"},
	LeadsTo:  []string{"provisioning-failed"},
	YieldsTo: []string{"driver-configuration-wrong", "encryption-key-wrong"},
	Doc:      storageclassParameterWrongDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if classOfVolume(v) == "" || v.Claim == nil {
				continue
			}
			for _, judge := range misfits {
				if m, ok := judge(p, v); ok {
					parameterWrong(p, v, m)
					break
				}
			}
		}
	},
}

// misfit is a parameter, or a pair of them, that does not fit the use of the volume.
type misfit struct {
	Key, Value string // the parameter, as it stands in the class or the volume
	Because    string // why that cannot work, in a sentence
	Instead    string // what a class that works says
	Missing    string // what would have made it certain; empty: certain
	Facts      []report.Evidence
}

// misfits are looked for in this order: what the volume itself carries, then what a
// mount or the provisioner refused.
var misfits = []func(*diagnosis.Pass, *snapshot.Volume) (misfit, bool){
	migratableShare, frontendWithoutDevice, encryptedWithoutSecret, nfsOptionsRefused, localWithCopies,
	mountOptionRefused, filesystemUnknown, parameterRefused,
}

// classOfVolume is the class that a volume was made from, or is asked from.
func classOfVolume(v *snapshot.Volume) string {
	switch {
	case v.Class != nil:
		return v.Class.Name
	case v.PV != nil:
		return v.PV.Spec.StorageClassName
	}
	return ""
}

// failing are the consumers that have waited for longer than a start takes.
func failing(p *diagnosis.Pass, v *snapshot.Volume) []*corev1.Pod {
	var out []*corev1.Pod
	for _, w := range v.Waiting() {
		if w.Pod.DeletionTimestamp == nil && p.Age(w.Pod.CreationTimestamp.Time) >= time.Minute {
			out = append(out, w.Pod)
		}
	}
	return out
}

func parameterWrong(p *diagnosis.Pass, v *snapshot.Volume, m misfit) {
	class := classOfVolume(v)
	certainty := report.Certain
	if m.Missing != "" {
		certainty = report.Likely
	}
	f := p.Find(certainty, diagnosis.ObjectSubject("StorageClass", "", class)).On(v).Fact(m.Facts...)
	if m.Missing != "" {
		f.NotConfirmed = append(f.NotConfirmed, m.Missing)
	}
	var pods []string
	for _, w := range failing(p, v) {
		f.Pod(w)
		pods = append(pods, w.Namespace+"/"+w.Name)
	}
	who := ""
	if len(pods) > 0 {
		who = " Waiting for it: " + strings.Join(pods, ", ") + "."
	}
	for _, va := range v.Attachments {
		f.Object("va", va.Name)
	}
	f.Sayf("StorageClass %s makes volumes with %s %q, and claim %s/%s cannot be used like that: %s.%s", class, m.Key, m.Value, v.Claim.Namespace, v.Claim.Name, m.Because, who)
	f.Unless(fmt.Sprintf("another value of %s on the volume itself, or a pod that uses the volume in the same way and runs", m.Key))
	if v.PV == nil {
		f.Advise(remedy.Words(fmt.Sprintf("Make a class %s, and the pending claim anew with it: a class cannot be edited, and the claim holds no data yet.", m.Instead)))
	} else {
		f.Advise(remedy.Words(fmt.Sprintf("Make a class %s, a new volume from it, and copy the data. A change of the class does not reach volumes that exist, and the field of an existing volume is not edited under a consumer.", m.Instead)))
	}
	p.Report(f)
}

// carried is a parameter as the volume itself has it; what the class says today is no
// proof, as it may have been made anew since.
func carried(v *snapshot.Volume, key string) (value string, ev report.Evidence) {
	if value = v.Attribute(key); value != "" {
		return value, diagnosis.FromAPI("PersistentVolume "+v.PVName(), "spec.csi.volumeAttributes["+key+"]", value)
	}
	return "", report.Evidence{}
}
