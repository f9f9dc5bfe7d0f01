package snapshot

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
)

// Readiness is what the API knows of a node's kubelet.
type Readiness struct {
	Exists   bool // the Node object exists
	Known    bool // a Ready condition exists
	Ready    bool // the condition is True; False and Unknown are not ready
	Unknown  bool // the condition is Unknown: the kubelet stopped reporting
	Since    time.Time
	Reason   string
	Message  string
	LeaseAge time.Duration // age of the node's lease; negative when there is none
}

// LeaseStale is the age after which the lifecycle controller doubts a kubelet:
// the default of --node-monitor-grace-period before 1.32.
const LeaseStale = 40 * time.Second

// LeaseOld tells whether the kubelet let its lease run out.
func (r Readiness) LeaseOld() bool { return r.LeaseAge > LeaseStale }

// Status is the status of the condition Ready.
func (r Readiness) Status() string {
	switch {
	case r.Unknown:
		return "Unknown"
	case !r.Ready:
		return "False"
	}
	return "True"
}

// NodeReady tells whether a node's kubelet reports.
func (x *Index) NodeReady(name string) Readiness {
	r := Readiness{LeaseAge: -1}
	if l := x.NodeLease(name); l != nil && l.Spec.RenewTime != nil {
		r.LeaseAge = x.LeaseAge(l)
	}
	n := x.Node(name)
	if n == nil {
		return r
	}
	r.Exists = true
	for _, c := range n.Status.Conditions {
		if c.Type != corev1.NodeReady {
			continue
		}
		r.Known = true
		r.Ready = c.Status == corev1.ConditionTrue
		r.Unknown = c.Status == corev1.ConditionUnknown
		r.Since = c.LastTransitionTime.Time
		r.Reason, r.Message = c.Reason, c.Message
	}
	return r
}

// NodeLease returns the lease that the kubelet of a node renews, or nil.
func (x *Index) NodeLease(name string) *coordinationv1.Lease {
	return x.leases[key{corev1.NamespaceNodeLease, name}]
}
