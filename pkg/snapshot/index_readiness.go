package snapshot

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
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

// NodeReady tells whether a node's kubelet reports.
func (x *Index) NodeReady(name string) Readiness { return Readiness{LeaseAge: -1} }

// NodeLease returns the lease that the kubelet of a node renews, or nil.
func (x *Index) NodeLease(name string) *coordinationv1.Lease { return nil }
