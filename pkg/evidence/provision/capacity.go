package provision

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// notEnough is how the scheduler says that no CSIStorageCapacity is large enough
// (ErrReasonNotEnoughSpace in pkg/scheduler/framework/plugins/volumebinding).
const notEnough = "did not have enough free storage"

// Shortage asks for the scheduler's present word that no segment of the class has the space
// that the claim asks for; rooms are the published capacities that are too small, silent that nobody publishes any. One that is
// large enough contradicts it.
func Shortage(pl *evidence.Place) (rooms []string, silent bool, a evidence.Answer) {
	v := pl.Volume
	if v.Class == nil || roomy(pl.X, v) {
		return nil, false, evidence.No()
	}
	silent = capacities(pl.X).Complete()
	looks := published(pl.X, v.Class.Provisioner)
	var facts []report.Evidence
	for _, w := range v.Waiting() {
		placing := pods.PlacingOf(pl, w.Pod)
		counted := placing.Short()
		if counted { // by the driver itself, for an extender of the scheduler
			looks, silent = evidence.Yes(), false
		}
		if (counted || strings.Contains(placing.Words, notEnough)) && facts == nil {
			facts = placing.Unplaced(w.Pod).Facts()
		}
	}
	if facts == nil {
		return nil, false, evidence.No()
	}
	for _, o := range pl.X.Cluster.Capacities {
		silent = silent && o.StorageClassName != v.Class.Name
		if o.StorageClassName == v.Class.Name && o.Capacity != nil {
			if !fits(v, o) { // it lies where the pod may not run
				rooms = append(rooms, o.Capacity.String())
			}
			facts = append(facts, evidence.FromAPI("CSIStorageCapacity "+o.Namespace+"/"+o.Name, "capacity", o.Capacity.String()))
		}
	}
	return rooms, silent, evidence.All(evidence.Yes(facts...), looks)
}

func capacities(x *snapshot.Index) evidence.Reading {
	return evidence.Resource(x, "storage.k8s.io/csistoragecapacities")
}

// RoomUnseen is that published capacities could not be read, or that they lag behind the storage.
func RoomUnseen(x *snapshot.Index) evidence.Answer {
	if unread := capacities(x).Nothing(); unread.Unseen() {
		return unread
	}
	return evidence.Unseen(evidence.Lack{Need: "the free space in the storage itself", Why: "published capacities lag behind"})
}

// published asks whether the scheduler looks at capacities of a driver: if it does not, it
// speaks of another claim of the pod.
func published(x *snapshot.Index, driver string) evidence.Answer {
	d := x.CSIDriver(driver)
	if d == nil {
		return evidence.Not(evidence.Resource(x, "storage.k8s.io/csidrivers").Nothing())
	}
	return evidence.When(d.Spec.StorageCapacity == nil || *d.Spec.StorageCapacity)
}

// roomy tells whether a published capacity of the class could hold the claim, on a node where a pod that waits for it may run.
func roomy(x *snapshot.Index, v *snapshot.Volume) bool {
	free, known := places(x, v)
	return slices.ContainsFunc(x.Cluster.Capacities, func(c *storagev1.CSIStorageCapacity) bool {
		return c.StorageClassName == v.Class.Name && c.Capacity != nil && fits(v, c) && (!known || reaches(c, free))
	})
}

// fits tells whether a capacity is as large as the claim asks for.
func fits(v *snapshot.Volume, c *storagev1.CSIStorageCapacity) bool {
	want := v.Claim.Spec.Resources.Requests[corev1.ResourceStorage]
	return c.Capacity.Cmp(want) >= 0 && (c.MaximumVolumeSize == nil || c.MaximumVolumeSize.Cmp(want) >= 0)
}

// places are the nodes that a pod which waits for the claim is not kept off; known tells whether all nodes were read.
func places(x *snapshot.Index, v *snapshot.Volume) (free []*corev1.Node, known bool) {
	waiting := v.Waiting()
	free = evidence.Keep(x.Cluster.Nodes, func(n *corev1.Node) bool {
		return n != nil && (len(waiting) == 0 || !n.Spec.Unschedulable && slices.ContainsFunc(waiting, func(w *snapshot.Consumer) bool {
			_, off := snapshot.WhyPodNotOn(&w.Pod.Spec, n)
			return !off
		}))
	})
	return free, len(x.Cluster.Nodes) > 0 && evidence.Resource(x, "/nodes").Complete()
}

// reaches tells whether a segment of the storage has one of some nodes.
func reaches(c *storagev1.CSIStorageCapacity, nodes []*corev1.Node) bool {
	segment, err := metav1.LabelSelectorAsSelector(c.NodeTopology)
	return err != nil || c.NodeTopology == nil || slices.ContainsFunc(nodes, func(n *corev1.Node) bool { return segment.Matches(labels.Set(n.Labels)) })
}

// Parameters prints the parameters of a class in the order of their keys.
func Parameters(m map[string]string) string {
	out := evidence.Each(slices.Sorted(maps.Keys(m)), func(k string) string { return k + "=" + m[k] })
	if out == nil {
		return "none"
	}
	return strings.Join(out, ", ")
}
