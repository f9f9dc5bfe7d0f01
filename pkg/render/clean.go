package render

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// safe returns a copy of a report in which every string is clean, so that no
// part of the page has to think of it.
func safe(r *report.Report) *report.Report {
	out := reflect.New(reflect.TypeFor[report.Report]()).Elem()
	copyClean(out, reflect.ValueOf(*r))
	return out.Addr().Interface().(*report.Report)
}

func copyClean(to, from reflect.Value) {
	switch from.Kind() {
	case reflect.String:
		to.SetString(clean(from.String()))
	case reflect.Slice:
		if from.IsNil() {
			return
		}
		to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
		for i := range from.Len() {
			copyClean(to.Index(i), from.Index(i))
		}
	case reflect.Struct:
		for i := range from.NumField() {
			copyClean(to.Field(i), from.Field(i))
		}
	default:
		to.Set(from)
	}
}

// clean makes a string of the cluster safe for a terminal: control characters
// (an escape sequence could rewrite the screen), bidirectional overrides and
// other invisible characters (they could reorder or hide a command) and invalid
// UTF-8 are written as escapes. Newlines and tabs stay.
func clean(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n' || r == '\t' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += size
	}
	return b.String()
}

// line makes one line of a text: newlines and tabs become spaces.
func line(s string) string {
	return strings.Join(strings.Fields(s), " ")
}

func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < 0x20 && c != '\n' && c != '\t') || c >= 0x7f {
			return false
		}
	}
	return true
}
