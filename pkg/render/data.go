package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"

	"sigs.k8s.io/yaml"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// JSON prints the report as one document. Characters that a terminal would obey
// or hide are written as \uXXXX, which is the same JSON.
func JSON(w io.Writer, r *report.Report) error {
	return writeJSON(w, report.Visible(r))
}

// list is several reports as one document.
type list struct {
	APIVersion string           `json:"apiVersion"`
	Kind       string           `json:"kind"`
	Items      []*report.Report `json:"items"`
}

func listOf(reports []*report.Report) list {
	l := list{APIVersion: report.APIVersion, Kind: report.Kind + "List"}
	for _, r := range reports {
		l.Items = append(l.Items, report.Visible(r))
	}
	return l
}

// JSONList prints the answers to several questions as one document of kind ReportList.
func JSONList(w io.Writer, reports []*report.Report) error { return writeJSON(w, listOf(reports)) }

// YAMLList is JSONList in YAML.
func YAMLList(w io.Writer, reports []*report.Report) error { return writeYAML(w, listOf(reports)) }

func writeJSON(w io.Writer, document any) error {
	raw, err := encode(document, jsonEscape)
	if err != nil {
		return err
	}
	return write(w, string(raw))
}

// YAML prints the report as one document. A report with characters that do not show
// is printed in the JSON style of YAML, because only quoted strings can escape them,
// and YAML forbids some of them even there (YAML 1.2 section 5.1).
func YAML(w io.Writer, r *report.Report) error {
	return writeYAML(w, report.Visible(r))
}

func writeYAML(w io.Writer, document any) error {
	raw, err := encode(document, yamlEscape)
	if err != nil {
		return err
	}
	if block, err := yaml.JSONToYAML(raw); err == nil && report.Lines(string(block)) == string(block) {
		raw = block
	}
	return write(w, string(raw))
}

// encode writes JSON, in which what does not show can only stand inside a string.
func encode(document any, escape func(rune) string) ([]byte, error) {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(document); err != nil {
		return nil, fmt.Errorf("encode report: %w", err)
	}
	return []byte(report.Escape(buf.String(), "\n", escape)), nil
}

// jsonEscape writes characters beyond the basic plane as a surrogate pair,
// RFC 8259 section 7.
func jsonEscape(r rune) string {
	if a, b := utf16.EncodeRune(r); a != unicode.ReplacementChar {
		return fmt.Sprintf(`\u%04x\u%04x`, a, b)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// yamlEscape follows YAML 1.2 section 5.7, which knows no surrogates.
func yamlEscape(r rune) string {
	if r > 0xffff {
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// Data prints a document of another kind, as JSON or YAML.
func Data(w io.Writer, document any, format string) error {
	if format == "yaml" {
		return writeYAML(w, document)
	}
	return writeJSON(w, document)
}
