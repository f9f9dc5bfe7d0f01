package corpus

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Judged is a report that is compared with another one.
type Judged struct{ Report *report.Report }

// Well tells whether somebody would go back to sleep: healthy, or an exit code of 0.
func (j Judged) Well() bool {
	r := j.Report
	return r.Verdict == report.Healthy || r.Error == "" && len(r.NotChecked) == 0 && len(r.RootCauses) == 0 && len(r.Unexplained) == 0
}

// certainties are the ranks of all that was found, by cause and subject and by cause
// alone. What gave way to another cause was seen, too.
func (j Judged) certainties() (bySubject, byName map[string]int) {
	bySubject, byName = map[string]int{}, map[string]int{}
	for _, f := range slices.Concat(j.Report.RootCauses, j.Report.Findings) {
		rank := f.Certainty.Rank()
		bySubject[f.Name+" on "+f.Subject.String()] = max(rank, bySubject[f.Name+" on "+f.Subject.String()])
		byName[f.Name] = max(rank, byName[f.Name])
		for _, y := range f.Yielded {
			name, _, _ := strings.Cut(y, "@") // an id: "cause@Kind/name"
			byName[name] = report.Certain.Rank()
		}
	}
	return bySubject, byName
}

// Weaker compares a report with the one of less evidence and tells what became stronger
// or well by losing it.
func Weaker(whole, less Judged) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if less.Well() && !whole.Well() {
		add("the verdict is %s and nothing is not checked, with the evidence it was %s", less.Report.Verdict, whole.Report.Verdict)
	}
	known, names := whole.certainties()
	for _, f := range less.Report.RootCauses {
		if f.Severity == report.Risk || silent(f, whole.Report) {
			continue
		}
		old, same := known[f.Name+" on "+f.Subject.String()]
		// The same cause may be shown on the next of several objects that have it.
		old = max(old, names[f.Name])
		switch {
		case f.Certainty.Rank() <= old:
		case same || f.Certainty == report.Certain:
			add("%s on %s is %s, and was not before: %s", f.Name, f.Subject, f.Certainty, f.Message)
		}
	}
	return out
}

// silent tells whether the whole evidence saw the same silent node from inside:
// node-down is certain that a node does not report, which stays true when the recording
// that shows life there is taken away.
func silent(f report.Cause, whole *report.Report) bool {
	return f.Name == "node-down" && slices.ContainsFunc(whole.RootCauses, func(w report.Cause) bool {
		return w.Name == "node-kubelet-down-workload-alive" && w.Subject == f.Subject
	})
}
