package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/client-go/util/jsonpath"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/render"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

const jsonPath = "jsonpath="

// formats are the values of -o.
var formats = append(slices.Clone(render.Formats), jsonPath+"EXPRESSION")

func (o *diagnoseOptions) validateOutput() error {
	if expression, ok := strings.CutPrefix(o.output, jsonPath); ok {
		_, err := pathOf(expression)
		return err
	}
	if !slices.Contains(render.Formats, o.output) {
		return usagef("unknown output format %q, want one of %s", o.output, strings.Join(formats, ", "))
	}
	return nil
}

// print writes the answers and leaves the exit code of the worst.
func (o *diagnoseOptions) print(reports []*report.Report) error {
	*o.code = ExitOK
	for _, r := range reports {
		*o.code = worse(*o.code, exitCode(r, o.failOn))
	}
	if o.metrics != "" {
		if err := writeMetrics(o.metrics, reports); err != nil {
			return err
		}
	}
	if err := o.write(reports); err != nil {
		return err
	}
	var failures []string
	for _, r := range reports {
		if r.Error != "" {
			failures = append(failures, printable(r.Error))
		}
	}
	if len(failures) > 0 {
		return fmt.Errorf("%s", strings.Join(failures, "; "))
	}
	return nil
}

func (o *diagnoseOptions) write(reports []*report.Report) error {
	path, byPath := strings.CutPrefix(o.output, jsonPath)
	switch {
	case byPath:
		return o.writePath(reports, path)
	case o.output == "junit":
		return render.JUnit(o.streams.Out, reports)
	case len(reports) > 1 && o.output == "json":
		return render.JSONList(o.streams.Out, reports)
	case len(reports) > 1 && o.output == "yaml":
		return render.YAMLList(o.streams.Out, reports)
	}
	first := true
	for _, r := range reports {
		forPeople := slices.Contains([]string{"text", "wide"}, o.output)
		if r.Error != "" && forPeople {
			continue // it is said on standard error
		}
		if !first && !slices.Contains([]string{"brief", "name"}, o.output) {
			fmt.Fprintln(o.streams.Out)
		}
		first = false
		if err := render.Write(o.streams.Out, r, o.output, o.page); err != nil {
			return err
		}
	}
	return nil
}

// pathOf parses an expression as kubectl does, with or without its braces.
func pathOf(expression string) (*jsonpath.JSONPath, error) {
	if !strings.HasPrefix(expression, "{") {
		expression = "{." + strings.TrimPrefix(expression, ".") + "}"
	}
	p := jsonpath.New("output").AllowMissingKeys(true)
	if err := p.Parse(expression); err != nil {
		return nil, usagef("-o jsonpath=%s: %v", expression, err)
	}
	return p, nil
}

func (o *diagnoseOptions) writePath(reports []*report.Report, expression string) error {
	p, err := pathOf(expression)
	if err != nil {
		return err
	}
	for _, r := range reports {
		raw, err := json.Marshal(report.Visible(r))
		if err != nil {
			return fmt.Errorf("encode report: %w", err)
		}
		var object any
		if err := json.Unmarshal(raw, &object); err != nil {
			return fmt.Errorf("encode report: %w", err)
		}
		var out bytes.Buffer
		if err := p.Execute(&out, object); err != nil {
			return fmt.Errorf("-o jsonpath: %w", err)
		}
		if _, err := fmt.Fprintln(o.streams.Out, strings.TrimSuffix(out.String(), "\n")); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
	}
	return nil
}

// worse orders exit codes: 1 failed, 2 found, 3 not checked, 0 nothing.
func worse(a, b int) int {
	rank := []int{ExitOK, ExitNotChecked, ExitFound, ExitFailed}
	if slices.Index(rank, a) > slices.Index(rank, b) {
		return a
	}
	return b
}

// writeMetrics replaces the file in one step: a collector never reads half of it.
func writeMetrics(path string, reports []*report.Report) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".mountdoctor-*")
	if err != nil {
		return fmt.Errorf("write metrics: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already when it was renamed
	err = render.Metrics(f, reports)
	if chmod := f.Chmod(0o644); err == nil {
		err = chmod
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write metrics: %w", err)
	}
	return nil
}
