package corpus

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

const riskSeverity = report.Risk

var certainRank = report.Certain.Rank()

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
			bySubject[y] = certainRank
		}
	}
	return bySubject, byName
}
