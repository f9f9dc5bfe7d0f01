package longhorn

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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

// progressOf reads both maps, by replica address.
func progressOf(e *snapshot.LHEngine) progress {
	out := progress{finished: true, lowest: 100}
	if e == nil || e.Raw == nil {
		return progress{}
	}
	var all []string
	for _, field := range []string{"restoreStatus", "cloneStatus"} {
		m, _, _ := unstructured.NestedMap(e.Raw.Object, "status", field)
		for _, address := range slices.Sorted(maps.Keys(m)) {
			one, ok := m[address].(map[string]any)
			if !ok {
				continue
			}
			out.known = true
			n, _ := nestedNumber(one, "progress")
			running := fmt.Sprint(one["isRestoring"]) == "true" || fmt.Sprint(one["isCloning"]) == "true"
			failure, _ := one["error"].(string)
			last, _ := one["lastRestored"].(string)
			done := n >= 100 || last != "" && !running
			if failure != "" && failure != "null" {
				out.failure = failure
			}
			out.finished = out.finished && done && !running && out.failure == ""
			out.lowest = min(out.lowest, n)
			all = append(all, fmt.Sprintf("%s %d %%", address, n))
		}
	}
	out.finished = out.finished && out.known
	out.text = strings.Join(all, ", ")
	return out
}
