// Package snapshot holds the evidence: the objects of one cluster and the facts
// of its probed nodes at one moment, what could not be had, and an index that
// knows what belongs to what. It is frozen once loaded; rules only read it.
package snapshot

import (
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// Snapshot is one cluster at one moment.
type Snapshot struct {
	TakenAt time.Time // the clock of every rule
	Server  string    // version of the API server, "v1.31.2"; may be empty
	Gaps    []Gap
	Cluster Cluster
	Nodes   map[string]*NodeRecord // by Node name
	Logs    []Log
}

// Gap is something that was wanted and could not be had.
type Gap struct {
	Need   string `json:"need"`   // node/NAME | api/GROUP/RESOURCE[/NAMESPACE] | logs/NS/POD/CONTAINER | object/FILE…
	Reason string `json:"reason"` // one of those below, or NotInBundle
	Detail string `json:"detail,omitempty"`
}

// The reasons of gaps.
const (
	Forbidden    = "Forbidden"
	NotServed    = "NotServed"
	NodeNotReady = "NodeNotReady"
	PodRejected  = "PodRejected"
	ImagePull    = "ImagePull"
	Timeout      = "Timeout"
	Truncated    = "Truncated"
	Unsupported  = "Unsupported"
	NotRequested = "NotRequested"
	Malformed    = "Malformed" // an object or recording that could not be read whole
	Partial      = "Partial"   // a part of it could not be read
	Failed       = "Failed"    // a fault of this program kept it from being looked at
	Disputed     = "Disputed"  // more than one object claims to be it
	Moved        = "Moved"     // it changed while it was read
)

// NodeRecord is one probed node.
type NodeRecord struct {
	Name      string
	Comment   string // what the recording says of itself
	Facts     *probes.Facts
	Recording []byte // the txtar, when there is one
	// Image and Namespace are those of the probe pod that answered: what works there.
	// A capture does not keep them: whoever wrote it would choose the image of a
	// privileged pod.
	Image, Namespace string
}

// Log is the tail of one container's log.
type Log struct {
	Namespace, Pod, Container string
	Previous                  bool // of the last terminated container
	Lines                     []string
}
