package vm

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/agent"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kept"
)

// replay holds the recording against the machine: probes that read it must find
// what they found live. They may find more: a live machine is asked only for what
// matters, and of a recording everything does.
func replay(t *testing.T, r *Result) {
	t.Helper()
	recorded, err := host.ParseRecording(r.Recording)
	if err != nil {
		t.Fatal(err)
	}
	replayed := agent.Gather(t.Context(), recorded)
	lost := missing("", plain(t, withoutIdle(r.Facts)), plain(t, replayed))
	for i, l := range lost {
		if i == 20 {
			t.Errorf("… and %d more", len(lost)-i)
			break
		}
		t.Errorf("the recording does not tell %s", l)
	}
}

// withoutIdle leaves out what a recording does: threads of the kernel that do nothing for
// storage, and the namespaces in which only they live.
func withoutIdle(f *probes.Facts) *probes.Facts {
	c, choice := *f, kept.NewChoice(f)
	c.Processes = slices.DeleteFunc(slices.Clone(f.Processes), func(p probes.Process) bool { return choice.Idle(p.PID) })
	c.Namespaces = nil
	for _, ns := range f.Namespaces {
		if ns.PIDs = slices.DeleteFunc(slices.Clone(ns.PIDs), choice.Idle); len(ns.PIDs) > 0 {
			c.Namespaces = append(c.Namespaces, ns)
		}
	}
	return &c
}

// plain is the facts as maps and lists, without how the probes fared.
func plain(t *testing.T, f *probes.Facts) any {
	t.Helper()
	c := *f
	c.Status, c.Problems = nil, nil
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// missing lists what the machine told and the replay does not.
func missing(at string, machine, replay any) []string {
	switch m := machine.(type) {
	case nil:
		return nil
	case map[string]any:
		r, ok := replay.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s: %v, but %v", at, m, replay)}
		}
		var out []string
		for _, key := range slices.Sorted(maps.Keys(m)) {
			// Lists of modules are kept filtered live and whole when replayed.
			if !strings.Contains(key, "/modules.") {
				out = append(out, missing(at+"."+key, m[key], r[key])...)
			}
		}
		return out
	case []any:
		r, _ := replay.([]any)
		return missingOf(at, m, r)
	}
	if text, ok := machine.(string); ok { // the last newline is the archive's
		told, _ := replay.(string)
		machine, replay = strings.TrimSuffix(text, "\n"), strings.TrimSuffix(told, "\n")
	}
	if reflect.ValueOf(machine).IsZero() || reflect.DeepEqual(machine, replay) {
		return nil
	}
	return []string{fmt.Sprintf("%s: %v, but %v", at, machine, replay)}
}

// missingOf finds each element of a list in the replayed one, in order.
func missingOf(at string, machine, replay []any) []string {
	var out []string
	next := 0
	for i, m := range machine {
		found := slices.IndexFunc(replay[next:], func(r any) bool { return len(missing("", m, r)) == 0 })
		if found >= 0 {
			next += found + 1
			continue
		}
		name := fmt.Sprintf("%s[%d]", at, i)
		if len(machine) == len(replay) {
			out = append(out, missing(name, m, replay[i])...)
		} else {
			out = append(out, fmt.Sprintf("%s: %v", name, m))
		}
	}
	return out
}
