package longhorn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// progress is how far the replicas of an engine have been filled: by a restore
// (status.restoreStatus) or a clone (status.cloneStatus).
type progress struct {
	known    bool
	finished bool // every replica is at 100 % without an error
	lowest   int64
	failure  string
	text     string
}

// progressOf sums up what the engine says of its replicas, by address.
func progressOf(e *snapshot.LHEngine) progress {
	if e == nil || len(e.Restores)+len(e.Clones) == 0 {
		return progress{}
	}
	out := progress{known: true, finished: true, lowest: 100}
	var all []string
	for _, r := range slices.Concat(e.Restores, e.Clones) {
		done := r.Progress >= 100 || r.LastRestored != "" && !r.Running
		if r.Error != "" {
			out.failure = r.Error
		}
		out.finished = out.finished && done && !r.Running && out.failure == ""
		out.lowest = min(out.lowest, r.Progress)
		all = append(all, fmt.Sprintf("%s %d %%", r.Address, r.Progress))
	}
	out.text = strings.Join(all, ", ")
	return out
}
