package message

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// byteArray is a Go []byte printed with %v, as old kubelets and in-tree drivers
// put a tool's output into their errors. The message may be cut before the "]".
var byteArray = pattern.MustCompile(`\[(\d{1,3}(?:[ ,]+\d{1,3}){2,})[ ,]*\]?`)

// Decode replaces byte arrays by the text that they are.
func Decode(s string) string {
	if !strings.Contains(s, "[") {
		return s
	}
	return byteArray.ReplaceAllStringFunc(s, func(whole string) string {
		if text, ok := decodeBytes(whole); ok {
			return text
		}
		return whole
	})
}

func decodeBytes(whole string) (string, bool) {
	words := strings.FieldsFunc(strings.Trim(whole, "[]"), func(r rune) bool { return r == ' ' || r == ',' })
	if !strings.HasSuffix(whole, "]") && len(words) > 0 {
		words = words[:len(words)-1] // the last number may be cut
	}
	if len(words) < 4 {
		return "", false
	}
	raw := make([]byte, 0, len(words))
	printable := 0
	for _, w := range words {
		n, err := strconv.Atoi(w)
		if err != nil || n > 255 {
			return "", false
		}
		if n >= ' ' && n < 127 || n == '\t' || n == '\n' || n == '\r' {
			printable++
		}
		raw = append(raw, byte(n))
	}
	if printable*5 < len(raw)*4 || !utf8.Valid(raw) {
		return "", false
	}
	return string(raw), true
}
