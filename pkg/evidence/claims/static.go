package claims

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// NoProvisioner is the provisioner of classes whose volumes an administrator makes.
const NoProvisioner = "kubernetes.io/no-provisioner"

// Static asks whether only a volume that somebody made by hand can serve a claim now: it
// asks for no class, or for one that makes no volumes. One of those that binds late is
// not asked before a pod wants it.
func Static(pl *evidence.Place, c *corev1.PersistentVolumeClaim) evidence.Answer {
	name, set := ClassName(c)
	if !set {
		return evidence.No()
	}
	if name == "" {
		return evidence.Yes(evidence.FromAPI(Object(c), "spec.storageClassName", `""`))
	}
	class := pl.X.Class(name)
	if class == nil || class.Provisioner != NoProvisioner {
		return evidence.No()
	}
	if snapshot.BindsLate(class) && len(pl.Volume.Live()) == 0 {
		return evidence.No()
	}
	return evidence.Yes(evidence.FromAPI("StorageClass "+name, "provisioner", class.Provisioner))
}

// Nearest is the volume of a claim's class, reserved for nobody who is there, that lacks
// least of what the claim asks for, with what it lacks.
func Nearest(x *snapshot.Index, c *corev1.PersistentVolumeClaim) (nearest *corev1.PersistentVolume, why []string) {
	class, _ := ClassName(c)
	for _, pv := range x.Cluster.PVs {
		if ClassOf(pv) != class || pv.DeletionTimestamp != nil {
			continue
		}
		lacks := apart(pv, c)
		switch r := pv.Spec.ClaimRef; {
		case pv.Status.Phase == corev1.VolumeReleased && r != nil:
			lacks = append(lacks, fmt.Sprintf("it is Released and still reserved for claim %s/%s, which is gone", r.Namespace, r.Name))
		case r != nil || pv.Status.Phase != corev1.VolumeAvailable:
			continue
		}
		if nearest == nil || len(lacks) < len(why) || len(lacks) == len(why) && pv.Name < nearest.Name {
			nearest, why = pv, lacks
		}
	}
	return nearest, why
}
