package snapshot

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// lastWritten is the newest moment that the cluster itself put down: that much of its time
// has passed, whatever the clock says that dated the snapshot, which may be ahead of it.
func (x *Index) lastWritten() time.Time {
	return x.Memo("snapshot.lastWritten", func() any {
		var last time.Time
		note := func(times ...time.Time) {
			for _, t := range times {
				if t.After(last) && !t.After(x.TakenAt) {
					last = t
				}
			}
		}
		x.written(note)
		for _, n := range x.Nodes {
			if n != nil && n.Facts != nil {
				note(n.Facts.Identity.Clock)
			}
		}
		return last
	}).(time.Time)
}

// written tells the moments in the objects of the cluster that change while it works.
func (x *Index) written(note func(...time.Time)) {
	for _, l := range x.Cluster.Leases {
		if l != nil && l.Spec.RenewTime != nil {
			note(l.Spec.RenewTime.Time)
		}
	}
	for _, e := range x.Cluster.Events {
		if e != nil {
			note(e.Last)
		}
	}
	for _, n := range x.Cluster.Nodes {
		if n != nil {
			for _, c := range n.Status.Conditions {
				note(c.LastHeartbeatTime.Time, c.LastTransitionTime.Time)
			}
		}
	}
	object := func(m *metav1.ObjectMeta) {
		note(m.CreationTimestamp.Time)
		if m.DeletionTimestamp != nil { // it may lie ahead by the grace period
			note(m.DeletionTimestamp.Time)
		}
	}
	for _, p := range x.Cluster.Pods {
		if p != nil {
			object(&p.ObjectMeta)
			for _, c := range p.Status.Conditions {
				note(c.LastTransitionTime.Time)
			}
		}
	}
	for _, c := range x.Cluster.Claims {
		if c != nil {
			object(&c.ObjectMeta)
		}
	}
	for _, a := range x.Cluster.Attachments {
		if a != nil {
			object(&a.ObjectMeta)
		}
	}
}

// ControllerManager is the name of kube-controller-manager, of the lease in kube-system by which its
// instances elect a leader, and of the label component of its pods where kubeadm runs them.
const ControllerManager = "kube-controller-manager"

// LeaseAge is for how long the cluster went on without a renewal of a lease.
func (x *Index) LeaseAge(l *coordinationv1.Lease) time.Duration {
	return max(0, x.lastWritten().Sub(l.Spec.RenewTime.Time))
}
