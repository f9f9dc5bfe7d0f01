package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/process"
)

// gaps turns what was refused to a probe into problems that name their table and
// their process.
func gaps(probe string, w *host.Witness) []probes.Problem {
	var list []probes.Problem
	refused, more := w.Refused()
	for _, r := range refused {
		p := probes.Problem{Probe: probe, Path: r.Path, Text: host.ErrnoName(r.Err)}
		if p.Table, p.PID = subject(probe, r.Path); p.Table == judged || p.PID != 0 && process.Ended(w.Host, p.PID) {
			continue
		}
		list = append(list, p)
	}
	if more > 0 {
		list = append(list, probes.Problem{Probe: probe, Text: fmt.Sprintf("%d more paths could not be read", more), Count: more})
	}
	return list
}

// judged is the table of paths about which the probe itself says what is missing:
// of a mount namespace any process's table will do.
const judged probes.Table = "-"

// subject tells which table a refused path makes a hole in, and whose it is. Paths
// outside of proc/PID belong to the table of the probe.
func subject(probe, path string) (table probes.Table, pid int) {
	rest, ok := strings.CutPrefix(path, "proc/")
	if strings.HasSuffix(path, "/longhorn-disk.cfg") { // looked for wherever a disk is mounted
		return probes.Details, 0
	}
	if !ok {
		return "", 0
	}
	number, rest, _ := strings.Cut(rest, "/")
	pid, err := strconv.Atoi(number)
	if err != nil {
		return "", 0
	}
	what, _, _ := strings.Cut(rest, "/")
	switch what {
	case "mountinfo":
		return judged, pid
	case "ns":
		return probes.Mounts, pid
	case "cmdline", "stack", "wchan", "attr", "task", "fdinfo", "comm":
		return probes.Details, pid
	}
	return "", pid
}

// told is what a recording tells of a probe that it cannot show by its entries:
// how it ended on the machine, and what it left out there.
type told interface {
	Told(probe string) (text string, ok bool)
}

// recall adds what the recording tells to how the replay ended.
func recall(h host.Host, p Probe, f *probes.Facts, s probes.ProbeState) probes.ProbeState {
	r, ok := h.(told)
	if !ok {
		return s
	}
	text, ok := r.Told(p.Name)
	if !ok {
		return s
	}
	first, rest, _ := strings.Cut(text, "\n")
	for line := range strings.Lines(rest) {
		var left probes.Problem
		if json.Unmarshal([]byte(line), &left) != nil || left.Text == "" {
			continue
		}
		if left.Probe = p.Name; !slices.Contains(f.Problems, left) {
			f.Problems = append(f.Problems, left)
		}
	}
	state, detail, _ := strings.Cut(first, " ")
	if s.State == stateOK && state != stateOK && state != "" {
		s.State, s.Detail = state, detail
	}
	return s
}

// tell is the inverse of recall; it is empty where the entries say everything. What
// was counted was left out, and is not in the recording either.
func tell(f *probes.Facts, probe string) string {
	s := f.Status[probe]
	var lines []string
	for _, p := range f.Problems {
		if p.Probe != probe || p.Count == 0 {
			continue
		}
		p.Probe = ""
		if b, err := json.Marshal(p); err == nil {
			lines = append(lines, string(b))
		}
	}
	if (s.State == stateOK || s.State == stateNotAsked) && len(lines) == 0 {
		return ""
	}
	first := strings.TrimSpace(s.State + " " + strings.Join(strings.Fields(s.Detail), " "))
	return strings.Join(append([]string{first}, lines...), "\n")
}
