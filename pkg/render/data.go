package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// JSON prints the report as one document. Characters that a terminal would obey
// or hide are written as \uXXXX, which is the same JSON.
func JSON(w io.Writer, r *report.Report) error {
	raw, err := encode(r, jsonEscape)
	if err != nil {
		return err
	}
	_, err = w.Write(raw)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// YAML prints the report as one document. A report with invisible characters is
// printed in the JSON style of YAML, because only quoted strings can escape them.
func YAML(w io.Writer, r *report.Report) error {
	out, err := yaml.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	if hidden(out) {
		if out, err = encode(r, yamlEscape); err != nil {
			return err
		}
	}
	if _, err := w.Write(out); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func encode(r *report.Report, escape func(rune) string) ([]byte, error) {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return nil, fmt.Errorf("encode report: %w", err)
	}
	return escapeHidden(buf.Bytes(), escape), nil
}

func hidden(b []byte) bool {
	for _, r := range string(b) {
		if r != '\n' && !unicode.IsPrint(r) {
			return true
		}
	}
	return false
}

// escapeHidden works on encoded JSON, where such a character can only stand
// inside a string.
func escapeHidden(b []byte, escape func(rune) string) []byte {
	if !hidden(b) {
		return b
	}
	out := make([]byte, 0, len(b)+64)
	for _, r := range string(b) {
		if r == '\n' || unicode.IsPrint(r) {
			out = utf8.AppendRune(out, r)
		} else {
			out = append(out, escape(r)...)
		}
	}
	return out
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
