package render

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// preflightBrief prints one line for each thing that a node lacks or that was not
// checked, or one line for a node that is ready:
//
//	FAILED node worker-1 iscsi-tools
//	READY node worker-2
func preflightBrief(w io.Writer, f *report.Preflight) error {
	var out strings.Builder
	for _, n := range f.Nodes {
		lines := 0
		for _, c := range n.Checks {
			if c.Outcome != report.Passed {
				lines++
				fmt.Fprintf(&out, "%s node %s %s\n", strings.ToUpper(c.Outcome), n.Name, c.Name)
			}
		}
		if lines == 0 {
			fmt.Fprintf(&out, "%s node %s\n", strings.ToUpper(n.Verdict), n.Name)
		}
	}
	for _, n := range f.NotChecked {
		fmt.Fprintf(&out, "%s cluster %s %s\n", strings.ToUpper(report.NotLookedAt), n.Need, n.Reason)
	}
	if f.Error != "" {
		fmt.Fprintf(&out, "UNKNOWN preflight error %s\n", report.Line(f.Error))
	}
	return write(w, out.String())
}

// preflightJUnit prints a suite for each node and a test for each check.
func preflightJUnit(w io.Writer, f *report.Preflight) error {
	doc := suites{Name: "mountdoctor preflight"}
	for _, n := range f.Nodes {
		s := suite{Name: "node " + n.Name, Timestamp: f.TakenAt, Tests: len(n.Checks)}
		for _, c := range n.Checks {
			t := test{Class: "mountdoctor.preflight." + n.Name, Name: c.Name}
			switch c.Outcome {
			case report.LacksIt, report.AtRisk:
				s.Failures++
				t.Failure = &outcome{Type: string(c.Severity), Message: c.Message, Text: facts(c.Evidence)}
			case report.NotLookedAt:
				s.Skipped++
				t.Skipped = &outcome{Message: c.Reason}
			}
			s.Cases = append(s.Cases, t)
		}
		doc.Suites = append(doc.Suites, s)
	}
	if f.Error != "" {
		doc.Suites = append(doc.Suites, suite{Name: "preflight", Tests: 1, Errors: 1, Cases: []test{{Class: "mountdoctor.preflight", Name: "preflight", Error: &outcome{Message: f.Error}}}})
	}
	raw, err := xml.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	return write(w, xml.Header+string(raw)+"\n")
}
