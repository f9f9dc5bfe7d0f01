package claim

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// notEnough is how the scheduler says that no CSIStorageCapacity is large enough
// (ErrReasonNotEnoughSpace in pkg/scheduler/framework/plugins/volumebinding).
const notEnough = "did not have enough free storage"

// shortage is the scheduler's present word that no segment of the class has the space
// that the claim asks for. A published capacity that is large enough contradicts it.
func shortage(p *diagnosis.Pass, v *snapshot.Volume) (report.Evidence, bool) {
	if v.Class == nil || publishesNone(p, v.Class.Provisioner) || roomy(p, v) {
		return report.Evidence{}, false
	}
	for _, w := range v.Waiting() {
		for _, k := range w.Pod.Status.Conditions {
			if k.Type == corev1.PodScheduled && k.Status == corev1.ConditionFalse && strings.Contains(k.Message, notEnough) {
				return diagnosis.FromAPI("Pod "+w.Pod.Namespace+"/"+w.Pod.Name, "status.conditions[PodScheduled]", k.Message), true
			}
		}
	}
	return report.Evidence{}, false
}

// publishesNone tells whether the scheduler does not look at capacities of a driver: then
// it speaks of another claim of the pod.
func publishesNone(p *diagnosis.Pass, driver string) bool {
	d := p.CSIDriver(driver)
	return d == nil && p.Collected("storage.k8s.io/csidrivers") || d != nil && d.Spec.StorageCapacity != nil && !*d.Spec.StorageCapacity
}

// roomy tells whether a published capacity of the class could hold the claim.
func roomy(p *diagnosis.Pass, v *snapshot.Volume) bool {
	want := v.Claim.Spec.Resources.Requests[corev1.ResourceStorage]
	return slices.ContainsFunc(p.Cluster.Capacities, func(c *storagev1.CSIStorageCapacity) bool {
		if c.StorageClassName != v.Class.Name || c.Capacity == nil || c.Capacity.Cmp(want) < 0 {
			return false
		}
		return c.MaximumVolumeSize == nil || c.MaximumVolumeSize.Cmp(want) >= 0
	})
}

func short(p *diagnosis.Pass, v *snapshot.Volume, said report.Evidence) {
	c := v.Claim
	f := p.Find(report.Likely, diagnosis.ObjectSubject("PersistentVolumeClaim", c.Namespace, c.Name)).On(v).Fact(said)
	var rooms []string
	for _, o := range p.Cluster.Capacities {
		if o.StorageClassName == v.Class.Name && o.Capacity != nil {
			rooms = append(rooms, o.Capacity.String())
			f.Fact(diagnosis.FromAPI("CSIStorageCapacity "+o.Namespace+"/"+o.Name, "capacity", o.Capacity.String()))
		}
	}
	for _, w := range v.Waiting() {
		f.Pod(w.Pod)
	}
	want := c.Spec.Resources.Requests[corev1.ResourceStorage]
	text := "none is published for the class"
	if len(rooms) > 0 {
		text = "published are " + strings.Join(rooms, ", ")
	}
	f.Sayf("The scheduler finds no node where driver %s has room for the %s that claim %s/%s asks for; %s. So no node is chosen and no volume is made.", v.Class.Provisioner, want.String(), c.Namespace, c.Name, text)
	f.NotConfirmed = append(f.NotConfirmed, "the free space in the storage itself (published capacities lag behind)")
	f.Unless("a CSIStorageCapacity of the class that is large enough on a node where the pod may run")
	f.Advise(remedy.Words("Free or add space on a node where the pod may run, ask for less, or use a class with room. Check: kubectl get csistoragecapacities -A."))
	p.Report(f)
}

// parameters prints the parameters of a class in the order of their keys.
func parameters(m map[string]string) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, k+"="+m[k])
	}
	if out == nil {
		return "none"
	}
	return strings.Join(out, ", ")
}
