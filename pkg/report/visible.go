package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mostMarks is how many combining marks may follow a letter: scripts need two,
// more of them paint over the lines above.
const mostMarks = 2

// Line makes one visible line of a string of somebody else: newlines and tabs,
// control characters (an escape sequence could rewrite the screen), bidirectional
// and zero-width characters (they reorder or hide words) and bytes that are no
// UTF-8 are written as escapes. Blanks at the ends go. A visible line stays as it is.
func Line(s string) string { return strings.TrimSpace(Escape(strings.TrimSpace(s), "", escaped)) }

// Lines is Line for what is quoted with its own lines: newlines and tabs stay.
func Lines(s string) string { return Escape(s, "\n\t", escaped) }

// Hidden tells whether a string has a character that Line would write as an escape.
func Hidden(s string) bool { return Escape(s, "", escaped) != s }

// Escape writes what does not show, except the control characters of keep, in a form
// of the caller's. It returns s itself when all of it shows.
func Escape(s, keep string, write func(rune) string) string {
	if plain(s, keep) {
		return s
	}
	var b strings.Builder
	marks := mostMarks // none may stand at the beginning: it would join what is printed before
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if unicode.In(r, unicode.M) {
			marks++
		} else {
			marks = 0
		}
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case strings.ContainsRune(keep, r), visible(r) && marks <= mostMarks:
			b.WriteRune(r)
		default:
			b.WriteString(write(r))
			marks = 0
		}
		i += size
	}
	return b.String()
}

// plain is the quick answer for printable ASCII.
func plain(s, keep string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < 0x20 && strings.IndexByte(keep, c) < 0) || c >= 0x7f {
			return false
		}
	}
	return true
}

// visible tells whether a character shows itself. Beside what Unicode calls not
// printable there are letters and marks that have no shape: fillers, variation
// selectors, the blank of braille.
func visible(r rune) bool {
	return unicode.IsPrint(r) && r != '\u2800' &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

func escaped(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r == '\r':
		return `\r`
	case r < 0x100:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}
