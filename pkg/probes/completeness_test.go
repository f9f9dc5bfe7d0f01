package probes

import (
	"slices"
	"testing"
)

func TestCompleteness(t *testing.T) {
	t.Parallel()
	ok := ProbeState{State: "ok"}
	all := map[string]ProbeState{}
	for _, list := range filledBy {
		for _, p := range list {
			all[p] = ok
		}
	}
	with := func(probe string, s ProbeState) map[string]ProbeState {
		m := map[string]ProbeState{}
		for k, v := range all {
			m[k] = v
		}
		m[probe] = s
		return m
	}
	descriptor := Problem{Probe: "openfiles", Path: "proc/77/fd", Text: "EACCES", PID: 77}
	process := Problem{Probe: "process", Path: "proc/60/stat", Text: "EACCES", PID: 60}
	namespace := Problem{Probe: "mountns", Path: "proc/9/mountinfo", Text: "hang", PID: 9, Namespace: 4026532000}
	torn := Problem{Probe: "mountns", Path: "proc/1/mountinfo", Text: "line 3: no separator", Count: 2}
	tests := []struct {
		name  string
		facts *Facts
		table Table
		want  string
		count int
	}{
		{"all read", &Facts{Status: all}, Mounts, "", 0},
		{"no node", nil, Mounts, "the mounts could not be read whole (the node was not looked at)", 1},
		{"made by hand", &Facts{}, Descriptors, "", 0},
		{"descriptors", &Facts{Status: all, Problems: []Problem{descriptor}}, Descriptors, "the open files of process 77 could not be read whole (proc/77/fd: EACCES)", 1},
		{"descriptors are no mounts", &Facts{Status: all, Problems: []Problem{descriptor}}, Mounts, "", 0},
		{"a process may be anywhere", &Facts{Status: all, Problems: []Problem{process}}, Mounts, "process 60 could not be read whole (proc/60/stat: EACCES)", 1},
		{"and be any daemon", &Facts{Status: all, Problems: []Problem{process}}, Sessions, "process 60 could not be read whole (proc/60/stat: EACCES)", 1},
		{"several", &Facts{Status: all, Problems: []Problem{namespace, torn}}, Mounts, "the mounts of process 9 could not be read whole (proc/9/mountinfo: hang), and 2 more", 3},
		{"timeout", &Facts{Status: with("kmsg", ProbeState{State: "timeout", Detail: "no result within 10s"})}, KernelLog, "the kernel log could not be read whole (no result within 10s)", 1},
		{"not asked", &Facts{Status: with("kmsg", ProbeState{State: "not-asked"})}, KernelLog, "the kernel log could not be read whole (probe kmsg: not-asked)", 1},
		{"never ran", &Facts{Status: map[string]ProbeState{"identity": ok}}, Block, "the block devices could not be read whole (probe blockdev did not run)", 1},
		{"the list of processes was cut", &Facts{Status: with("process", ProbeState{State: "partial", Detail: "read processes, 9 so far: deadline"})}, Descriptors,
			"the open files could not be read whole (read processes, 9 so far: deadline)", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := tt.facts.Completeness(tt.table)
			if got := c.Why(); got != tt.want || c.Complete() != (tt.want == "") || c.Count() != tt.count {
				t.Errorf("got %q, complete %t, %d missing; want %q, %d", got, c.Complete(), c.Count(), tt.want, tt.count)
			}
		})
	}
}

func TestFinerQuestions(t *testing.T) {
	t.Parallel()
	f := &Facts{
		Namespaces: []MountNamespace{{ID: 1}, {ID: 2}},
		NSRefs:     []NamespaceRef{{ID: 2, HeldBy: "/run/a"}, {ID: 3, HeldBy: "/run/b"}, {ID: 3, HeldBy: "proc/7/fd/3"}},
		Problems: []Problem{
			{Probe: "openfiles", Path: "proc/77/fd", Text: "EACCES", PID: 77},
			{Probe: "mountns", Path: "proc/9/mountinfo", Text: "EACCES", PID: 9, Namespace: 2},
			{Probe: "process", Path: "proc/8/ns/mnt", Text: "EACCES", PID: 8, Table: Mounts},
		},
	}
	if f.DescriptorsOf(77).Complete() || !f.DescriptorsOf(78).Complete() {
		t.Error("the descriptors of process 77 alone are missing")
	}
	if f.MountsOf(2).Complete() || !f.MountsOf(1).Complete() {
		t.Error("the table of namespace 2 alone is missing")
	}
	c := f.Completeness(Mounts, Descriptors)
	if got := c.PIDs(); !slices.Equal(got, []int{8, 9, 77}) {
		t.Errorf("processes: %v", got)
	}
	if got := c.Namespaces(); !slices.Equal(got, []uint64{2}) {
		t.Errorf("namespaces: %v", got)
	}
	if got := f.UnseenNamespaces(); len(got) != 1 || got[0].ID != 3 || got[0].HeldBy != "/run/b" {
		t.Errorf("namespaces without a process: %v", got)
	}
	if both := f.DescriptorsOf(77).And(f.MountsOf(2)); both.Count() != 2 {
		t.Errorf("joined: %v", both.Gaps())
	}
}
