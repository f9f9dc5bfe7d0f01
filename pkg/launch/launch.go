// Package launch looks at nodes: one short-lived privileged pod each, into which
// the static agent is uploaded. The agent reads and never writes; the pod has no
// volumes, no token and no image of ours, and it is deleted whatever happens.
//
// A node that could not be looked at is a gap with the words of whoever
// refused, never an error of the whole run.
package launch

import (
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/launch/agents"
)

// Options are what the user may decide about the probe.
type Options struct {
	Image      string        // --probe-image; empty: chosen for each node
	Namespace  string        // --probe-namespace; empty: where Longhorn runs, else kube-system
	PullSecret string        // --probe-pull-secret: the name of a Secret in that namespace, which is never read
	Timeout    time.Duration // --probe-timeout, for one node from creation to answer; 0: DefaultTimeout

	// Progress is told in one line what happens; it may be called by several
	// goroutines at once. It may be nil.
	Progress func(node, what string)
	// Warn is told what the user must know though the run goes on; nil: Progress.
	Warn func(what string)
	// Agent returns the gzipped agent for a GOARCH with the SHA-256 of the
	// unpacked program; nil: the embedded ones.
	Agent func(arch string) (packed []byte, sha256 string, ok bool)
}

// DefaultTimeout is how long one node may take, image pull included.
const DefaultTimeout = 90 * time.Second

// Bounds of one run.
const (
	parallel      = 8                // nodes at once
	createTimeout = 20 * time.Second // for each request that is no stream
	deleteTimeout = 15 * time.Second // for the clean-up, which has a context of its own
	pickupTimeout = 25 * time.Second // for the kubelet's first word about the pod
	answerReserve = 5 * time.Second  // of the timeout, kept for what follows the agent
	answerLimit   = 256 << 20        // bytes of one node's answer, packed and unpacked
	noiseLimit    = 32 << 10         // bytes of standard error that are kept
)

func (o Options) complete() Options {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Progress == nil {
		o.Progress = func(string, string) {}
	}
	if o.Warn == nil {
		progress := o.Progress
		o.Warn = func(what string) { progress("", what) }
	}
	if o.Agent == nil {
		o.Agent = agents.For
	}
	return o
}
