package corpus

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/render"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// ShapeWidth is the page on which the shape of reports is measured.
const ShapeWidth = 80

// Shape is what a person has to scroll and search in the reports of a corpus.
type Shape struct {
	lines    []int // of reports with a fault
	commands []int // line of the first command, of those that have one
	Quiet    []int // lines of healthy and waiting reports
	causes   int   // reports with a cause
	helped   int   // of these with a command
	Flaws    []string
}

// Add measures one report.
func (s *Shape) Add(name string, r *report.Report) error {
	var text bytes.Buffer
	if err := render.Text(&text, r, render.Options{Width: ShapeWidth}); err != nil {
		return fmt.Errorf("render %s: %w", name, err)
	}
	lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
	for _, w := range sentences(r) {
		if strings.Contains(w, "  ") || emptyWords.MatchString(w) || oneThings.MatchString(w) {
			s.Flaws = append(s.Flaws, fmt.Sprintf("%s: a name that is not there or was masked, or a wrong plural: %q", name, w))
		}
	}
	if (r.Verdict == report.Healthy && len(r.RootCauses) == 0 || r.Verdict == report.Waiting) && r.Subject.Kind != "Node" {
		s.Quiet = append(s.Quiet, len(lines))
		return nil
	}
	if len(r.RootCauses) == 0 && len(r.Unexplained) == 0 {
		return nil
	}
	s.lines = append(s.lines, len(lines))
	at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), "$ ") })
	if len(r.RootCauses) > 0 {
		s.causes++
		if at >= 0 {
			s.helped++
		}
	}
	if at >= 0 {
		s.commands = append(s.commands, at+1)
	}
	return nil
}

var (
	emptyWords = regexp.MustCompile(`""|\(\)|\( | [,.]( |$)|\*{8}|\bone of 1\b`)
	oneThings  = regexp.MustCompile(`(^|[^s] |\()1 \w*[^s\W]s\b`)
)

// sentences are the words of a report that rules made of names.
func sentences(r *report.Report) []string {
	out := []string{r.Summary}
	for _, c := range slices.Concat(r.RootCauses, r.Findings) {
		out = append(out, c.Message, c.Refutation)
		for _, m := range c.Remedies {
			out = append(out, m.Title, m.Settle)
		}
	}
	for _, s := range r.Symptoms {
		out = append(out, opening(s.Message))
	}
	return out
}

// opening leaves out what a symptom quotes.
func opening(s string) string {
	ours, _, _ := strings.Cut(s, ": ")
	return ours
}

// quantiles returns the median and the 90th percentile of some numbers.
func quantiles(list []int) (median, p90 int) {
	if len(list) == 0 {
		return 0, 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2], sorted[len(sorted)*9/10]
}

// Lines are the median and 90th percentile of the length of a report with a fault.
func (s *Shape) Lines() (median, p90 int) { return quantiles(s.lines) }

// FirstCommand is the line of the first command in the median of those that have one.
func (s *Shape) FirstCommand() int {
	median, _ := quantiles(s.commands)
	return median
}

// String prints the figures.
func (s *Shape) String() string {
	median, p90 := s.Lines()
	longest := 0
	if len(s.Quiet) > 0 {
		longest = slices.Max(s.Quiet)
	}
	return fmt.Sprintf("%d reports with a fault at %d columns: %d lines in the median, %d at the 90th percentile, %d at most\n"+
		"first command: line %d in the median; %d of %d reports with a cause have a command (%d %%)\n"+
		"%d healthy or waiting reports: %d lines at most\n%d lines with a flaw\n",
		len(s.lines), ShapeWidth, median, p90, slices.Max(append(s.lines, 0)), s.FirstCommand(), s.helped, s.causes, 100*s.helped/max(s.causes, 1),
		len(s.Quiet), longest, len(s.Flaws))
}
