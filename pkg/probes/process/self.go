package process

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// withoutSelf leaves the agent's own container out: its process, its children,
// and everything else in its mount namespace, unless that is the namespace of
// process 1 (the agent was started by hand on the machine itself) or that one is
// not known.
func withoutSelf(all []probes.Process, self int, initNS uint64) []probes.Process {
	own := map[int]bool{self: true}
	var ns uint64
	for _, p := range all {
		if p.PID == self && initNS != 0 && p.MntNS != initNS {
			ns = p.MntNS
		}
		// Ascending process ids put parents first, save after a wrap; a missed
		// grandchild is caught by the namespace.
		if own[p.PPID] {
			own[p.PID] = true
		}
	}
	return slices.DeleteFunc(all, func(p probes.Process) bool {
		return own[p.PID] || ns != 0 && p.MntNS == ns
	})
}
