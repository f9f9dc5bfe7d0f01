package corpus

import (
	"bytes"
	"fmt"
	"os"

	"sigs.k8s.io/yaml"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/render"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Result is one case, run.
type Result struct {
	*Case
	Report *report.Report
	Text   string
	Outcome
}

// Run loads a case, evaluates it and compares everything.
func Run(dir string, cat *diagnosis.Catalog) (*Result, error) {
	c, err := Read(dir)
	if err != nil {
		return nil, err
	}
	s, err := Shared(dir)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", c.Name, err)
	}
	return Evaluate(c, s, cat)
}

// Evaluate runs a case on a snapshot that may differ from the one on disk.
func Evaluate(c *Case, s *snapshot.Snapshot, cat *diagnosis.Catalog) (*Result, error) {
	r := cat.Evaluate(snapshot.NewIndex(s), c.Ask)
	var text bytes.Buffer
	if err := render.Text(&text, r, render.Options{Wide: true}); err != nil {
		return nil, fmt.Errorf("render %s: %w", c.Name, err)
	}
	return &Result{Case: c, Report: r, Text: text.String(), Outcome: Check(c.Want, cat, r, text.String())}, nil
}

// Dispute is an expectation that this project argues against.
type Dispute struct {
	Case     string `json:"case"`
	Argument string `json:"argument"`
}

// Disputes reads testdata/disputed.yaml; a missing file disputes nothing.
func Disputes(path string) (map[string]string, error) {
	raw, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list struct {
		Disputed []Dispute `json:"disputed"`
	}
	if err := yaml.UnmarshalStrict(raw, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	out := map[string]string{}
	for _, d := range list.Disputed {
		if d.Case == "" || d.Argument == "" {
			return nil, fmt.Errorf("%s: a dispute needs a case and an argument", path)
		}
		out[d.Case] = d.Argument
	}
	return out, nil
}
