package render

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// JUnit as test runners and CI servers read it: a suite for each question, a failed
// test for each cause and unexplained symptom, a skipped one for what was not checked.
type (
	suites struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		Suites  []suite  `xml:"testsuite"`
	}
	suite struct {
		Name      string `xml:"name,attr"`
		Tests     int    `xml:"tests,attr"`
		Failures  int    `xml:"failures,attr"`
		Errors    int    `xml:"errors,attr"`
		Skipped   int    `xml:"skipped,attr"`
		Timestamp string `xml:"timestamp,attr,omitempty"` // RFC 3339, when the evidence was taken
		Cases     []test `xml:"testcase"`
	}
	test struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Failure *outcome `xml:"failure,omitempty"`
		Error   *outcome `xml:"error,omitempty"`
		Skipped *outcome `xml:"skipped,omitempty"`
	}
	outcome struct {
		Type    string `xml:"type,attr,omitempty"`
		Message string `xml:"message,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// JUnit prints reports as one document.
func JUnit(w io.Writer, reports []*report.Report) error {
	doc := suites{Name: "mountdoctor"}
	for _, r := range reports {
		doc.Suites = append(doc.Suites, suiteOf(report.Visible(r)))
	}
	raw, err := xml.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	return write(w, xml.Header+string(raw)+"\n")
}

func suiteOf(r *report.Report) suite {
	s := suite{Name: Asked(r), Timestamp: r.TakenAt}
	for i := range r.RootCauses {
		c := &r.RootCauses[i]
		s.Cases = append(s.Cases, test{Class: "mountdoctor." + c.Layer, Name: c.Name + " " + c.Subject.String(), Failure: &outcome{
			Type: string(c.Severity) + " " + string(c.Certainty), Message: c.Message, Text: facts(c.Evidence),
		}})
	}
	for i := range r.Unexplained {
		u := &r.Unexplained[i]
		s.Cases = append(s.Cases, test{Class: "mountdoctor.unexplained", Name: u.Name + " " + u.Subject.String(), Failure: &outcome{
			Type: "unexplained", Message: u.Message, Text: facts(u.Evidence),
		}})
	}
	s.Failures = len(s.Cases)
	if r.Error != "" {
		s.Errors = 1
		s.Cases = append(s.Cases, test{Class: "mountdoctor", Name: s.Name, Error: &outcome{Message: r.Error}})
	} else if len(s.Cases) == 0 {
		s.Cases = append(s.Cases, test{Class: "mountdoctor", Name: s.Name + " is " + r.Verdict})
	}
	for _, n := range r.NotChecked {
		s.Skipped++
		s.Cases = append(s.Cases, test{Class: "mountdoctor.not-checked", Name: strings.TrimSpace(n.Need + " " + n.Node), Skipped: &outcome{Message: strings.TrimSpace(n.Reason + " " + n.Detail)}})
	}
	s.Tests = len(s.Cases)
	return s
}

func facts(list []report.Evidence) string {
	var out []string
	for _, e := range list {
		at := e.Locator
		if e.Node != "" {
			at = e.Node + " " + at
		}
		out = append(out, at+": "+e.Text)
	}
	return strings.Join(out, "\n")
}
